//! A plan with its service, as files have them.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use crate::action::Action;
use crate::error::PlanError;

const GROUP: &str = "osb.servicefabrik.io/";
const PLAN: &str = "SFPlan";
const SERVICE: &str = "SFService";
/// What the Inter-operator calls its two engines.
const GO_TEMPLATE: [&str; 4] = ["gotemplate", "Gotemplate", "GoTemplate", "GOTEMPLATE"];
const HELM: [&str; 3] = ["helm", "Helm", "HELM"];

/// What renders a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Go's `text/template`.
    GoTemplate,
    /// A Helm chart. The text makes its values.
    Helm,
}

/// A template of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionTemplate {
    /// What renders it.
    pub engine: Engine,
    /// Its text, or that of the values of a chart. Empty if there is none.
    pub text: String,
    /// Where the chart is, or the text if there is none.
    pub url: Option<String>,
}

/// A plan with its service.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The SFPlan.
    pub plan: Value,
    /// The SFService. A plan alone has an empty one.
    pub service: Value,
    templates: BTreeMap<Action, ActionTemplate>,
}

impl Plan {
    /// Whether a document is a plan or a service of the Inter-operator.
    #[must_use]
    pub fn recognises(document: &Value) -> bool {
        is(document, PLAN) || is(document, SERVICE)
    }

    /// Whether a document is a plan.
    #[must_use]
    pub fn is_plan(document: &Value) -> bool {
        is(document, PLAN)
    }

    /// Whether a document is a service.
    #[must_use]
    pub fn is_service(document: &Value) -> bool {
        is(document, SERVICE)
    }

    /// The plan of an id among some documents, or the only one, with its service.
    ///
    /// # Errors
    /// There is none, or more than one, or a template of it cannot be used.
    pub fn of_documents(documents: &[Value], id: Option<&str>) -> Result<Self, PlanError> {
        let is_meant = |plan: &&Value| id.is_none_or(|id| plan["spec"]["id"] == id);
        let mut plans = documents
            .iter()
            .filter(|one| is(one, PLAN))
            .filter(is_meant);
        let plan = match (plans.next(), plans.next()) {
            (Some(plan), None) => plan,
            (None, _) => return Err(PlanError::invalid("", absent(documents, id))),
            (Some(_), Some(_)) => {
                let ids: Vec<_> = ids(documents).collect();
                let message = format!(
                    "the file has several SFPlans: {}; write sfplan:ID as the type, and give each an id of its own",
                    ids.join(", ")
                );
                return Err(PlanError::invalid("", message));
            }
        };
        let wanted = &plan["spec"]["serviceId"];
        let mut services = documents.iter().filter(|one| is(one, SERVICE));
        let service = services.find(|one| one["spec"]["id"] == *wanted);
        Self::new(plan.clone(), service.cloned())
    }

    /// A plan with its service.
    ///
    /// # Errors
    /// A template of it cannot be used.
    pub fn new(plan: Value, service: Option<Value>) -> Result<Self, PlanError> {
        let empty = || json!({"kind": SERVICE, "metadata": {}, "spec": {}});
        Ok(Self {
            templates: templates(&plan)?,
            service: service.unwrap_or_else(empty),
            plan,
        })
    }

    /// The template of an action.
    ///
    /// # Errors
    /// There is none.
    pub fn template(&self, action: Action) -> Result<&ActionTemplate, PlanError> {
        self.templates
            .get(&action)
            .ok_or(PlanError::Missing(action))
    }

    /// Whether there is a template for an action.
    #[must_use]
    pub fn has(&self, action: Action) -> bool {
        self.templates.contains_key(&action)
    }

    /// The same with the text of a template that was fetched.
    #[must_use]
    pub fn with_text(mut self, action: Action, text: &str) -> Self {
        if let Some(template) = self.templates.get_mut(&action) {
            text.clone_into(&mut template.text);
        }
        self
    }
}

/// The ids of the plans in a file.
pub fn ids(documents: &[Value]) -> impl Iterator<Item = &str> {
    let plans = documents.iter().filter(|one| is(one, PLAN));
    plans.filter_map(|plan| plan["spec"]["id"].as_str())
}

/// Why there is no plan.
fn absent(documents: &[Value], id: Option<&str>) -> String {
    let ids: Vec<_> = ids(documents).collect();
    match id {
        Some(id) if !ids.is_empty() => {
            format!("the file has no SFPlan {id}; it has {}", ids.join(", "))
        }
        _ => "the file has no SFPlan".to_owned(),
    }
}

fn is(document: &Value, kind: &str) -> bool {
    let version = document["apiVersion"].as_str().unwrap_or_default();
    document["kind"] == kind && version.starts_with(GROUP)
}

fn templates(plan: &Value) -> Result<BTreeMap<Action, ActionTemplate>, PlanError> {
    let pointer = "/spec/templates";
    let list = plan.pointer(pointer).and_then(Value::as_array);
    let list = list.ok_or_else(|| PlanError::invalid(pointer, "it must be a list of templates"))?;
    let mut found = BTreeMap::new();
    for (index, entry) in list.iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        let entry = entry.as_object();
        let entry = entry.ok_or_else(|| PlanError::invalid(&pointer, "it must be a map"))?;
        let (action, template) = template(entry, &pointer)?;
        if found.insert(action, template).is_some() {
            let message = format!("there are two templates for the action {}", action.name());
            return Err(PlanError::invalid(pointer, message));
        }
    }
    let mut required = Action::ALL.into_iter().filter(|one| one.is_required());
    match required.find(|action| !found.contains_key(action)) {
        Some(action) => {
            let message = format!("there is no template for the action {}", action.name());
            Err(PlanError::invalid(pointer, message))
        }
        None => Ok(found),
    }
}

fn template(
    entry: &Map<String, Value>,
    pointer: &str,
) -> Result<(Action, ActionTemplate), PlanError> {
    let text = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(PlanError::invalid(
            format!("{pointer}/{key}"),
            format!("{key} must be a text"),
        )),
    };
    let fault =
        |key: &str, message: String| PlanError::invalid(format!("{pointer}/{key}"), message);
    let name = text("action")?;
    let action = Action::parse(name).ok_or_else(|| {
        let known = Action::ALL.map(Action::name).join(", ");
        fault("action", format!("action {name:?} is none of {known}"))
    })?;
    let engine = engine(text("type")?).map_err(|message| fault("type", message))?;
    let url = Some(text("url")?).filter(|url| !url.is_empty());
    if engine == Engine::Helm && !action.takes_charts() {
        let message = format!(
            "helm renderer type not supported for {} action",
            action.name()
        );
        return Err(fault("type", message));
    }
    if engine == Engine::Helm && url.is_none() {
        let message = "a template of the type helm needs the url of its chart".to_owned();
        return Err(fault("url", message));
    }
    let text = match (text("content")?, text("contentEncoded")?) {
        ("", encoded) => decoded(encoded).map_err(|message| fault("contentEncoded", message))?,
        (content, _) => content.to_owned(),
    };
    if engine == Engine::GoTemplate && text.is_empty() && url.is_none() {
        let message = format!(
            "content & contentEncoded fields empty for {} template",
            action.name()
        );
        return Err(fault("content", message));
    }
    let url = url.map(str::to_owned);
    Ok((action, ActionTemplate { engine, text, url }))
}

fn engine(name: &str) -> Result<Engine, String> {
    match name {
        name if GO_TEMPLATE.contains(&name) => Ok(Engine::GoTemplate),
        name if HELM.contains(&name) => Ok(Engine::Helm),
        name => Err(format!(
            "unable to create renderer for type {name}. not implemented; write gotemplate or helm"
        )),
    }
}

fn decoded(encoded: &str) -> Result<String, String> {
    let text: String = encoded.split_whitespace().collect();
    let bytes = BASE64.decode(text.as_bytes());
    let bytes = bytes.map_err(|error| format!("unable to decode base64 content: {error}"))?;
    String::from_utf8(bytes)
        .map_err(|_| "unable to decode base64 content: it is not UTF-8".to_owned())
}
