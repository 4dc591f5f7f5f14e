//! Expands a configuration to primitives: the recursion, and the rules of each level.
//!
//! Responsible for the meaning of a configuration: which types are templates, what templates see, and the rules of
//! names, schemas, outputs and references. It does not know how a template is run (the [`Engine`] port), the time or
//! the caller. It is pure and synchronous: the same input gives the same output.
//!
//! ```text
//! content ─ YAML ─► resources ─┬─ primitive, Kubernetes object ───────────────► leaf
//!                              └─ template ─ schema ─ engine ─ resources ─ … ─► node
//! tree of nodes ─ references (outputs in, unknown names and cycles out) ─► flat configuration + layout
//! ```

mod error;
mod exposed;
mod names;
mod objects;
mod plans;
mod reading;
mod references;
mod schema;
mod template;
mod tree;
mod watch;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use common::api::cluster::Lookup;
use common::api::expander::ExpandResponse;
use common::api::plan::{PlanAnswer, PlanRequest};
use common::kubernetes_secret;
use common::manifests::Object;
use common::model::object::metadata::MetadataError;
use common::model::{
    AppliedChart, Configuration, GeneratedValue, Import, InstanceOutputs, Language, Layout,
    LayoutPath, Output, ResourceMetadata, ResourceName, Scope, SecretValue, TypeName, language,
};
use common::redact::Redactor;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::input::{Budget, BudgetError, Files};
pub use error::{ExpansionError, Fault};
use reading::lines::Lines;
use reading::{Content, Text};
pub use schema::{SchemaCache, cache as schema_cache};
use template::{Failed, refused};
use tree::{Body, Node};
pub use watch::{At, ExpansionStep, Unwatched, Watch};

/// The input of an expansion.
#[derive(Debug)]
pub struct Input<'a> {
    /// The name of the configuration in errors.
    pub name: &'a str,
    pub content: &'a str,
    pub files: &'a Files,
    /// The environment of every template, apart from `name` and `type`.
    pub env: &'a Map<String, Value>,
    /// The scope of the short references in a template, by its name.
    pub scopes: &'a BTreeMap<String, Scope>,
    /// Values that earlier expansions made.
    pub values: &'a [GeneratedValue],
    /// The source of further values. Empty: they are no secrets.
    pub seed: &'a str,
    /// The charts that were applied before.
    pub charts: &'a [AppliedChart],
    /// What plans of the Inter-operator are asked.
    pub plans: &'a PlanRequest,
}

/// Expands a configuration until only primitives are left.
pub fn expand(
    input: &Input<'_>,
    engine: &mut dyn Engine,
    schemas: &SchemaCache,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<ExpandResponse, ExpansionError> {
    let mut text = Text::configuration(input.name, input.content);
    let content = text.read()?;
    let mut expander = Expander {
        input,
        engine,
        schemas,
        budget,
        watch,
        env: input.env.clone(),
        languages: HashMap::new(),
        lines: HashMap::new(),
        warnings: Vec::new(),
        secrets: Vec::new(),
        hidden: Vec::new(),
        around: Vec::new(),
        values: Vec::new(),
        lookups: Vec::new(),
        plans: Vec::new(),
        texts: None,
    };
    let expanded = expander.expand(&text, content);
    // With the answers, what is wrong now may be right.
    if !expander.lookups.is_empty() {
        return Ok(ExpandResponse {
            lookups: expander.lookups,
            ..ExpandResponse::default()
        });
    }
    let (secrets, mut warnings) = (expander.secrets, expander.warnings);
    let (values, plans, texts) = (expander.values, expander.plans, expander.texts);
    let marked = secrets.iter().map(|secret| &secret.value);
    let redactor = Redactor::new(marked.chain(&expander.hidden));
    let expanded = expanded.map_err(|error| error.without(redactor.clone()))?;
    for warning in &mut warnings {
        redactor.string(warning);
    }
    Ok(ExpandResponse {
        unresolved: distinct_types(&expanded.flat),
        lookups: Vec::new(),
        layout: expanded.layout,
        config: expanded.flat,
        instance_outputs: expanded.instance_outputs,
        notes: expanded.notes,
        warnings,
        secrets,
        values,
        plans,
        texts,
    })
}

fn distinct_types(configuration: &Configuration) -> Vec<String> {
    let mut met = HashSet::new();
    let types = configuration
        .resources
        .iter()
        .map(|resource| resource.type_name.as_str());
    types
        .filter(|name| met.insert(*name))
        .map(str::to_owned)
        .collect()
}

struct Expander<'a> {
    input: &'a Input<'a>,
    engine: &'a mut dyn Engine,
    schemas: &'a SchemaCache,
    budget: Budget,
    watch: &'a mut dyn Watch,
    /// The environment of a template, with the name and the type of its instance.
    env: Map<String, Value>,
    /// By the name of a template. `None` if the file is in no language.
    languages: HashMap<String, Option<&'static language::Row>>,
    /// The lines of the templates that were used so far, by their names.
    lines: HashMap<String, Lines>,
    warnings: Vec<String>,
    /// The values that schemas have marked so far.
    secrets: Vec<SecretValue>,
    /// The values of Kubernetes Secrets so far, because errors and warnings quote their lines.
    hidden: Vec<Value>,
    /// The names of the template instances around the one at hand, outermost first, with its own.
    around: Vec<String>,
    /// The values that templates made up, now or before.
    values: Vec<GeneratedValue>,
    /// What templates look up and nobody has answered.
    lookups: Vec<Lookup>,
    /// What the plans of the Inter-operator have to say.
    plans: Vec<PlanAnswer>,
    /// What the charts printed, if that is wanted.
    texts: Option<String>,
}

/// An expanded list of resources, with its outputs.
struct Level {
    nodes: Vec<Node>,
    outputs: Vec<Output>,
}

impl From<Vec<Node>> for Level {
    fn from(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            outputs: Vec::new(),
        }
    }
}

/// The expansion of a configuration.
struct Expanded {
    flat: Configuration,
    layout: Layout,
    instance_outputs: Vec<InstanceOutputs>,
    notes: Option<String>,
}

impl Expander<'_> {
    fn expand(&mut self, text: &Text<'_>, content: Content) -> Result<Expanded, ExpansionError> {
        match content {
            Content::Configuration(configuration, warnings) => {
                self.warnings.extend(warnings);
                let expanded = self
                    .level(text, &configuration, &LayoutPath::root(), &[])
                    .and_then(|level| {
                        let own = configuration.get("outputs").map(|_| level.outputs);
                        self.resolve(text, level.nodes, own)
                    });
                if expanded.is_err() {
                    self.mark_all(&configuration);
                }
                expanded
            }
            Content::Template => {
                let nodes = self.top_template(text)?;
                self.resolve(text, nodes, None)
            }
            Content::Objects(objects) => {
                let nodes = self.top_objects(text, objects)?;
                self.resolve(text, nodes, None)
            }
        }
    }

    /// The nodes of a configuration that is a file of Kubernetes objects.
    fn top_objects(
        &mut self,
        text: &Text<'_>,
        objects: Vec<Object>,
    ) -> Result<Vec<Node>, ExpansionError> {
        let root = LayoutPath::root();
        if objects.is_empty() {
            let fault = Fault::NoResources {
                name: text.file().to_owned(),
                found: "has Kubernetes lists without an item".to_owned(),
            };
            return Err(text.fault(fault, "", &root));
        }
        let nodes = self.objects(objects, &root);
        nodes.map_err(|(index, fault)| match (index, fault) {
            (_, Fault::Engine(error)) => text.engine(*error, &root),
            (Some(index), fault) => {
                text.fault(fault, &format!("/resources/{index}"), &root.child(index))
            }
            (None, fault) => text.fault(fault, "", &root),
        })
    }

    /// The node of a configuration that is a Template object: one instance of it, with the values that it has.
    fn top_template(&mut self, text: &Text<'_>) -> Result<Vec<Node>, ExpansionError> {
        let (root, path) = (LayoutPath::root(), LayoutPath::root().child(0));
        let template = Import {
            name: text.file().to_owned(),
            path: None,
            content: text.content().to_owned(),
        };
        // Its name need not say so.
        let row = language::row(Language::TemplateObject);
        self.languages.insert(template.name.clone(), row);
        let named = |fault: Fault| text.fault(fault, "", &root);
        let name = ResourceName::parse(text.file()).map_err(|error| named(error.into()))?;
        let type_name = TypeName::parse("Template").map_err(|error| named(error.into()))?;
        let properties = self
            .properties(&template, None, name.as_str(), &path)
            .map_err(|fault| refused(fault, text, "", &path, name.as_str()))?;
        let body = self.template(&template, name.as_str(), properties, &path, &[]);
        let body = body.map_err(|failure| match failure {
            Failed::Here(fault) => named(fault),
            Failed::Within(error) => *error,
        })?;
        let node = Node {
            name,
            type_name,
            metadata: None,
            body,
            origin: text.origin("", 0),
            path,
            source: None,
            hook: Vec::new(),
        };
        Ok(vec![node])
    }

    /// `outputs`: those that the configuration has itself.
    fn resolve(
        &mut self,
        text: &Text<'_>,
        nodes: Vec<Node>,
        outputs: Option<Vec<Output>>,
    ) -> Result<Expanded, ExpansionError> {
        self.watch
            .before(ExpansionStep::Whole)
            .map_err(|fault| text.fault(fault, "", &LayoutPath::root()))?;
        if self.is_partial() {
            return Ok(Expanded::partial(nodes));
        }
        let resolved = references::resolve(&nodes, outputs, text)?;
        let instance_outputs = nodes.iter().filter_map(Node::promised).collect();
        let resources = nodes.into_iter().map(Node::into_layout).collect();
        Ok(Expanded {
            flat: resolved.configuration,
            layout: Layout { resources },
            instance_outputs,
            notes: resolved.notes,
        })
    }

    /// One configuration: the user's, or one that a template returned. `chain` names the templates around it.
    fn level(
        &mut self,
        text: &Text<'_>,
        configuration: &Value,
        path: &LayoutPath,
        chain: &[String],
    ) -> Result<Level, ExpansionError> {
        let resources = reading::list(configuration, "resources", "a name and a type")
            .map_err(|fault| text.fault(fault, "/resources", path))?;
        self.hide_secrets(resources);
        names::check_unique(resources, text, path)?;
        let nodes = resources
            .iter()
            .enumerate()
            .map(|(index, resource)| self.resource(text, resource, path, index, chain))
            .collect::<Result<_, _>>()?;
        let outputs = reading::outputs(configuration, text, path)?;
        Ok(Level { nodes, outputs })
    }

    fn resource(
        &mut self,
        text: &Text<'_>,
        resource: &Value,
        parent: &LayoutPath,
        index: usize,
        chain: &[String],
    ) -> Result<Node, ExpansionError> {
        let path = parent.child(index);
        let pointer = format!("/resources/{index}");
        self.budget
            .take_resource()
            .map_err(|error| text.fault(error.into(), &pointer, &path))?;
        let mut read = names::identify(resource, text, &pointer, &path, &mut self.warnings)?;
        let scope = chain
            .last()
            .and_then(|template| self.input.scopes.get(template));
        if let Some(full) = scope.and_then(|scope| scope.qualify(read.type_name.as_str())) {
            read.type_name = full;
        }
        let at = |fault: Fault, field: &str| {
            let mut error = text.fault(fault, &format!("{pointer}{field}"), &path);
            error.location.resource = Some(read.name.to_string());
            error
        };
        let metadata = resource
            .get("metadata")
            .filter(|metadata| !metadata.is_null())
            .cloned();
        ResourceMetadata::parse(metadata.as_ref())
            .map_err(|error: MetadataError| at(error.into(), "/metadata"))?;
        let given = resource
            .get("properties")
            .filter(|properties| !properties.is_null());
        let body = match self.input.files.template(read.type_name.as_str()) {
            None => Body::Primitive(given.cloned()),
            Some(template) => {
                self.budget
                    .check_depth(chain, &template.name)
                    .map_err(|error: BudgetError| at(error.into(), "/type"))?;
                let properties = self
                    .properties(&template, given, read.name.as_str(), &path)
                    .map_err(|fault| refused(fault, text, &pointer, &path, read.name.as_str()))?;
                self.template(&template, read.name.as_str(), properties, &path, chain)
                    .map_err(|failure| match failure {
                        Failed::Here(fault) => at(fault, ""),
                        Failed::Within(error) => *error,
                    })?
            }
        };
        Ok(Node {
            name: read.name,
            type_name: read.type_name,
            metadata,
            body,
            origin: text.origin(&pointer, index),
            path,
            source: None,
            hook: Vec::new(),
        })
    }

    fn hide_secrets(&mut self, resources: &[Value]) {
        let values = resources.iter().flat_map(|resource| {
            let type_name = resource.get("type").and_then(Value::as_str);
            kubernetes_secret::values(type_name.unwrap_or_default(), resource.get("properties"))
        });
        self.hidden.extend(values.cloned());
    }

    /// Marks the values that a failed expansion did not reach. Errors show lines of the configuration, and a line may
    /// contain several resources.
    fn mark_all(&mut self, configuration: &Value) {
        let resources = configuration.get("resources").and_then(Value::as_array);
        for (index, resource) in resources.into_iter().flatten().enumerate() {
            let type_name = resource.get("type").and_then(Value::as_str);
            let template = type_name.and_then(|name| self.input.files.template(name));
            if let Some(template) = template.map(Cow::into_owned) {
                // The expansion has reported the faults of this schema, or will report them after the other faults are
                // corrected.
                let path = LayoutPath::root().child(index);
                let name = resource.get("name").and_then(Value::as_str);
                let name = name.unwrap_or_default();
                let _ = self.properties(&template, resource.get("properties"), name, &path);
            }
        }
    }
}
