//! Checks an SFPlan, and makes the files of its type.

use std::collections::BTreeSet;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::model::{Import, TypeName};
use common::node::Node;
use serde_json::{Map, Value};

use super::super::{Document, Taken};
use crate::catalog::budget::Budget;
use crate::catalog::{Bind, Gives, Interoperator, Plan, Schema, Schemas, Template};

/// The actions of templates, and whether a plan needs one. What they mean, `expandybird-sfplan` knows.
const ACTIONS: [(&str, bool); 6] = [
    ("provision", true),
    ("status", true),
    ("bind", true),
    ("sources", true),
    ("unbind", false),
    ("clusterSelector", false),
];
const TYPES: [&str; 7] = [
    "gotemplate",
    "Gotemplate",
    "GoTemplate",
    "GOTEMPLATE",
    "helm",
    "Helm",
    "HELM",
];

/// The plan, and the files that it names.
pub fn read(
    document: &Document<'_>,
    root: &Node<'_>,
    spec: &Node<'_>,
    (taken, budget): (&mut Taken, &mut Budget),
) -> (Plan, BTreeSet<PathBuf>) {
    let id = taken.id(spec);
    for key in ["name", "description", "serviceId"] {
        spec.required(key);
    }
    spec.flag("free");
    let mut charts = Charts {
        document,
        budget,
        imports: Vec::new(),
        files: BTreeSet::new(),
    };
    let actions = templates(spec, &mut charts);
    let manager = spec.object("manager");
    let flag = |key: &str| manager.as_ref().and_then(|manager| manager.flag(key));
    let settings = manager
        .as_ref()
        .and_then(|manager| manager.object("settings"));
    let predecessors = settings.map(|settings| settings.texts("update_predecessors"));
    let name = root
        .object("metadata")
        .and_then(|metadata| metadata.text("name"));
    let template = |imports: Vec<Import>| Template {
        type_name: type_name(spec, &id),
        properties: Map::new(),
        imports,
    };
    let bindable = spec.flag("bindable").unwrap_or_default();
    let plan = Plan {
        updateable: spec.flag("planUpdatable").unwrap_or_default(),
        rotatable: false,
        maintenance_version: maintenance(spec),
        // They need not say which draft they are of.
        schemas: Schemas::of(spec, Schema::of_any_draft),
        template: template(charts.imports.clone()),
        parameter_map: Default::default(),
        namespace: None,
        is_async: flag("async").unwrap_or_default(),
        replaces_parameters: true,
        expands_first: false,
        bind: bindable.then(|| Bind {
            gives: Gives::Outputs(template(charts.imports)),
            is_async: flag("asyncBinding").unwrap_or_default(),
            requires_app: false,
        }),
        interoperator: Some(Interoperator {
            path: format!("{}.sfplan.json", name.as_deref().unwrap_or("plan")),
            predecessors: predecessors.unwrap_or_default(),
            has_unbind: actions.contains("unbind"),
            has_selector: actions.contains("clusterSelector"),
            is_deprecated: spec
                .object("metadata")
                .is_some_and(|metadata| metadata.map.get("state") == Some(&"deprecated".into())),
            requests: requests(spec),
        }),
        id,
    };
    (plan, charts.files)
}

impl Plan {
    /// What it has from its service, and the file of its type: both documents.
    ///
    /// # Errors
    /// The files of all plans are too large.
    pub(super) fn inherit(
        &mut self,
        service: &Value,
        plan: &Value,
        budget: &mut Budget,
    ) -> Result<(), String> {
        let said = &plan["spec"]["planUpdatable"];
        if said.is_null() {
            self.updateable = service["spec"]["planUpdatable"] == true;
        }
        let Some(interoperator) = &self.interoperator else {
            return Ok(());
        };
        let content = format!("{service}\n---\n{plan}\n");
        budget.spend(2 * content.len())?;
        let file = |type_name: &TypeName| Import {
            name: type_name.to_string(),
            path: Some(interoperator.path.clone()),
            content: content.clone(),
        };
        self.template.imports.push(file(&self.template.type_name));
        if let Some(Bind {
            gives: Gives::Outputs(template),
            ..
        }) = &mut self.bind
        {
            template.imports.push(file(&template.type_name));
        }
        Ok(())
    }
}

fn type_name(spec: &Node<'_>, id: &str) -> TypeName {
    let parsed = TypeName::parse(format!("sfplan:{id}"));
    parsed.unwrap_or_else(|error| {
        spec.fault("id", error.to_string());
        Template::placeholder()
    })
}

/// The actions that have a template.
fn templates(spec: &Node<'_>, charts: &mut Charts<'_>) -> BTreeSet<&'static str> {
    let mut actions = BTreeSet::new();
    for entry in spec.some_objects("templates") {
        let known = ACTIONS.map(|(name, _)| name);
        if entry.value("action").is_none() {
            entry.fault("action", "action is missing");
        }
        if let Some(action) = entry.one_of("action", &known)
            && !actions.insert(action)
        {
            entry.fault(
                "action",
                format!("another template has the action {action}"),
            );
        }
        template(&entry, charts);
    }
    for (action, _) in ACTIONS.iter().filter(|(_, required)| *required) {
        if !actions.contains(action) && spec.value("templates").is_some() {
            spec.fault(
                "templates",
                format!("there is no template for the action {action}"),
            );
        }
    }
    actions
}

fn template(entry: &Node<'_>, charts: &mut Charts<'_>) {
    let kind = entry.required("type");
    if !kind.is_empty() && !TYPES.contains(&kind.as_str()) {
        entry.fault(
            "type",
            format!("unable to create renderer for type {kind}. not implemented; write gotemplate or helm"),
        );
    }
    let is_chart = kind.eq_ignore_ascii_case("helm");
    let action = entry.map.get("action").and_then(Value::as_str);
    if is_chart && !matches!(action, Some("provision" | "bind")) {
        let action = action.unwrap_or_default();
        let message = format!("helm renderer type not supported for {action} action");
        entry.fault("type", message);
    }
    let written = |key: &str| {
        entry
            .map
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    for key in ["content", "contentEncoded", "url"] {
        if entry.value(key).is_some_and(|value| !value.is_string()) {
            entry.fault(key, format!("{key} must be a text"));
        }
    }
    let encoded: String = written("contentEncoded").split_whitespace().collect();
    let is_used = written("content").is_empty();
    if is_used && BASE64_STANDARD.decode(&encoded).is_err() {
        entry.fault("contentEncoded", "unable to decode base64 content");
    }
    let url = written("url");
    match (is_chart, url.is_empty()) {
        (true, true) => entry.fault(
            "url",
            "a template of the type helm needs the url of its chart",
        ),
        (false, true) if is_used && encoded.is_empty() => {
            entry.fault("content", "content & contentEncoded fields empty");
        }
        (_, false) => charts.take(entry, url),
        _ => {}
    }
}

/// The charts and templates beside the plan. Those elsewhere are fetched like every template.
struct Charts<'d> {
    document: &'d Document<'d>,
    budget: &'d mut Budget,
    imports: Vec<Import>,
    files: BTreeSet<PathBuf>,
}

impl Charts<'_> {
    fn take(&mut self, entry: &Node<'_>, url: &str) {
        let is_known = self.imports.iter().any(|import| import.name == url);
        if url.contains("://") || url.starts_with("helm:") || is_known {
            return;
        }
        let beside = &self.document.file.beside;
        let content = match url.ends_with(".tgz") {
            true => beside.bytes(url).map(|bytes| BASE64_STANDARD.encode(bytes)),
            false => beside.text(url),
        };
        // The plan has it, and its binding.
        let content = content.and_then(|content| {
            self.budget.spend(2 * content.len())?;
            Ok(content)
        });
        match content {
            Ok(content) => self.imports.push(Import {
                name: url.to_owned(),
                path: None,
                content,
            }),
            Err(reason) => entry.fault("url", reason),
        }
        self.files.extend(beside.place(url));
    }
}

fn maintenance(spec: &Node<'_>) -> Option<String> {
    let info = spec.object("maintenance_info")?;
    Some(info.required("version"))
}

/// What an instance needs of a cluster: `context.requests`.
fn requests(spec: &Node<'_>) -> Option<Map<String, Value>> {
    let context = spec.map.get("context")?;
    context.get("requests")?.as_object().cloned()
}
