//! From a configuration to primitives: the recursion, and what each level must fulfil.
//!
//! Responsible for what a configuration means: which types are templates, what templates see, what
//! names, schemas, outputs and references must be. It refuses to know how a template is run (the
//! [`Engine`] port), what time it is and who asked: pure and synchronous, the same input gives the
//! same output.
//!
//! ```text
//! content ─ YAML ─► resources ─┬─ primitive ──────────────────────────────────► leaf
//!                              └─ template ─ schema ─ engine ─ resources ─ … ─► node
//! tree of nodes ─ references (outputs in, unknown names and cycles out) ─► flat configuration + layout
//! ```

mod error;
mod names;
mod reading;
mod references;
mod schema;
mod tree;
mod watch;

use std::collections::{BTreeMap, HashSet};

use common::api::error::{ErrorBody, Location};
use common::api::expander::ExpandResponse;
use common::kubernetes_secret;
use common::model::metadata::MetadataError;
use common::model::{
    Configuration, Import, InstanceOutputs, Layout, LayoutPath, Output, ResourceMetadata, Scope,
    SecretValue,
};
use common::redact::Redactor;
use serde_json::{Map, Value};

use crate::engine::{Engine, EngineError, Instance, Language, Rendered};
use crate::input::{Budget, BudgetError, Files};
pub use error::{ExpansionError, Fault};
use reading::Text;
use schema::{Refusal, Schema, SchemaFault};
pub use schema::{SchemaCache, cache as schema_cache};
use tree::{Body, Node};
pub use watch::{At, Step, Unwatched, Watch};

/// What is expanded.
#[derive(Debug)]
pub struct Input<'a> {
    /// What errors call the configuration.
    pub name: &'a str,
    pub content: &'a str,
    pub files: &'a Files,
    /// What every template sees, apart from `name` and `type`.
    pub env: &'a Map<String, Value>,
    /// Where the short references in a template lead, by its name.
    pub scopes: &'a BTreeMap<String, Scope>,
}

/// Expands a configuration until only primitives are left.
pub fn expand(
    input: &Input<'_>,
    engine: &mut dyn Engine,
    schemas: &SchemaCache,
    budget: Budget,
    watch: &mut dyn Watch,
) -> Result<ExpandResponse, ExpansionError> {
    let text = Text::configuration(input.name, input.content);
    let (configuration, warnings) = text.read()?;
    let mut expander = Expander {
        input,
        engine,
        schemas,
        budget,
        watch,
        env: input.env.clone(),
        warnings,
        secrets: Vec::new(),
        hidden: Vec::new(),
    };
    let expanded = expander.expand(&text, &configuration);
    if expanded.is_err() {
        expander.mark_all(&configuration);
    }
    let (secrets, mut warnings) = (expander.secrets, expander.warnings);
    let marked = secrets.iter().map(|secret| &secret.value);
    let redactor = Redactor::new(marked.chain(&expander.hidden));
    let expanded = expanded.map_err(|error| error.without(redactor.clone()))?;
    for warning in &mut warnings {
        redactor.string(warning);
    }
    Ok(ExpandResponse {
        unresolved: distinct_types(&expanded.flat),
        layout: expanded.layout,
        config: expanded.flat,
        instance_outputs: expanded.instance_outputs,
        warnings,
        secrets,
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

/// At most as many warnings go into an answer; a loop can cause thousands.
const WARNINGS: usize = 100;

struct Expander<'a> {
    input: &'a Input<'a>,
    engine: &'a mut dyn Engine,
    schemas: &'a SchemaCache,
    budget: Budget,
    watch: &'a mut dyn Watch,
    /// What every template sees, with the name and the type of the instance at hand.
    env: Map<String, Value>,
    warnings: Vec<String>,
    /// What schemas marked so far.
    secrets: Vec<SecretValue>,
    /// The values of Kubernetes Secrets so far: errors and warnings quote the lines that they stand in.
    hidden: Vec<Value>,
}

/// A list of resources, expanded, and the outputs beside it.
struct Level {
    nodes: Vec<Node>,
    outputs: Vec<Output>,
}

/// What a configuration comes to.
struct Expanded {
    flat: Configuration,
    layout: Layout,
    instance_outputs: Vec<InstanceOutputs>,
}

impl Expander<'_> {
    fn expand(
        &mut self,
        text: &Text<'_>,
        configuration: &Value,
    ) -> Result<Expanded, ExpansionError> {
        let level = self.level(text, configuration, &LayoutPath::root(), &[])?;
        self.watch
            .before(Step::Whole)
            .map_err(|fault| text.fault(fault, "", &LayoutPath::root()))?;
        let flat = references::resolve(&level.nodes, level.outputs, text)?;
        let instance_outputs = level.nodes.iter().filter_map(Node::promised).collect();
        let resources = level.nodes.into_iter().map(Node::into_layout).collect();
        Ok(Expanded {
            flat,
            layout: Layout { resources },
            instance_outputs,
        })
    }

    /// One configuration: the user's, or what a template returned. `chain` names the templates around it.
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
        let body = match self.input.files.named(read.type_name.as_str()) {
            None => Body::Primitive(given.cloned()),
            Some(template) => {
                self.budget
                    .check_depth(chain, &template.name)
                    .map_err(|error: BudgetError| at(error.into(), "/type"))?;
                let properties = self
                    .properties(template, given, read.name.as_str(), &path)
                    .map_err(|fault| refused(fault, text, &pointer, &path, read.name.as_str()))?;
                self.template(template, read.name.as_str(), properties, &path, chain)
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
            file: text.file().to_owned(),
            path,
        })
    }

    /// What the template sees: what was given, or what its schema makes of it.
    fn properties(
        &mut self,
        template: &Import,
        given: Option<&Value>,
        resource: &str,
        path: &LayoutPath,
    ) -> Result<Option<Value>, Fault> {
        let Some(file) = self.input.files.schema_of(template) else {
            return Ok(given.cloned());
        };
        self.watch.before(Step::Schema(At {
            file,
            resource,
            path,
        }))?;
        let schema = Schema::read(&file.name, &file.content, self.schemas)?;
        for wanted in &schema.imports {
            if self.input.files.required(wanted, template.path()).is_none() {
                return Err(Fault::Schema(SchemaFault::MissingImport {
                    file: wanted.clone(),
                    schema: file.name.clone(),
                }));
            }
        }
        let mut properties = given.cloned().unwrap_or_else(|| Value::Object(Map::new()));
        schema.fill(&file.name, &mut properties)?;
        let marked = schema.marked(&file.name, &properties)?;
        let secrets = marked.iter().filter_map(|pointer| {
            Some(SecretValue {
                path: path.clone(),
                pointer: pointer.clone(),
                value: properties.pointer(pointer)?.clone(),
            })
        });
        self.secrets.extend(secrets);
        schema.check(&template.name, &properties, &marked)?;
        Ok(Some(properties))
    }

    fn hide_secrets(&mut self, resources: &[Value]) {
        let values = resources.iter().flat_map(|resource| {
            let type_name = resource.get("type").and_then(Value::as_str);
            kubernetes_secret::values(type_name.unwrap_or_default(), resource.get("properties"))
        });
        self.hidden.extend(values.cloned());
    }

    /// Marks what an expansion that failed did not come to: errors show lines of the configuration, and a line may hold
    /// several resources.
    fn mark_all(&mut self, configuration: &Value) {
        let resources = configuration.get("resources").and_then(Value::as_array);
        for (index, resource) in resources.into_iter().flatten().enumerate() {
            let type_name = resource.get("type").and_then(Value::as_str);
            let template = type_name.and_then(|name| self.input.files.named(name));
            if let Some(template) = template.cloned() {
                // What is wrong with it, the expansion has told or will tell once the rest is right.
                let path = LayoutPath::root().child(index);
                let name = resource.get("name").and_then(Value::as_str);
                let name = name.unwrap_or_default();
                let _ = self.properties(&template, resource.get("properties"), name, &path);
            }
        }
    }

    fn template(
        &mut self,
        template: &Import,
        name: &str,
        properties: Option<Value>,
        path: &LayoutPath,
        chain: &[String],
    ) -> Result<Body, Failed> {
        let Some(language) = Language::of(template.path()).or_else(|| Language::of(&template.name))
        else {
            return Err(Failed::Here(Fault::UnsupportedLanguage {
                name: template.name.clone(),
                path: template.path().to_owned(),
                supported: Language::supported(),
            }));
        };
        self.env.insert("name".to_owned(), Value::from(name));
        let type_name = Value::from(template.name.as_str());
        self.env.insert("type".to_owned(), type_name);
        let instance = Instance {
            template,
            language,
            env: &self.env,
            properties: properties.as_ref(),
        };
        self.watch
            .before(Step::Template(At {
                file: template,
                resource: name,
                path,
            }))
            .map_err(Failed::Here)?;
        let rendered = self
            .engine
            .render(&instance)
            .map_err(|error| engine_failed(error, name, path))?;
        self.warn(rendered.warnings, name, path);
        let text = Text::output(template.path(), &template.name);
        let configuration = self.returned(rendered.result, template, &text, name, path)?;
        let mut chain = chain.to_vec();
        chain.push(template.name.clone());
        let level = self
            .level(&text, &configuration, path, &chain)
            .map_err(Failed::within)?;
        Ok(Body::Template {
            properties,
            children: level.nodes,
            outputs: level.outputs,
        })
    }

    /// What a template returned, as a map with `resources`.
    fn returned(
        &mut self,
        result: Rendered,
        template: &Import,
        text: &Text<'_>,
        name: &str,
        path: &LayoutPath,
    ) -> Result<Value, Failed> {
        let configuration = match result {
            Rendered::Data(value) => value,
            Rendered::Text(output) => {
                self.budget
                    .take_output(output.len())
                    .map_err(|error| Failed::Here(error.into()))?;
                let (value, warnings) = reading::output(&output, &template.name)
                    .map_err(|fault| Failed::within(text.named(fault, name, path)))?;
                self.warn(warnings, name, path);
                value
            }
        };
        match configuration.get("resources") {
            Some(_) => Ok(configuration),
            None => Err(Failed::within(text.named(
                Fault::NoResourcesField,
                name,
                path,
            ))),
        }
    }

    fn warn(&mut self, warnings: Vec<String>, name: &str, path: &LayoutPath) {
        let room = WARNINGS.saturating_sub(self.warnings.len());
        let located = warnings.into_iter().take(room);
        self.warnings
            .extend(located.map(|warning| format!("{path} ('{name}'): {warning}")));
    }
}

/// Where a template instance failed: at the resource that asks for it, or at a place of its own.
enum Failed {
    Here(Fault),
    Within(Box<ExpansionError>),
}

impl Failed {
    fn within(error: ExpansionError) -> Self {
        Self::Within(Box::new(error))
    }
}

/// An engine knows the place in the file; the instance is known here.
fn engine_failed(error: EngineError, name: &str, path: &LayoutPath) -> Failed {
    let location = Location {
        file: error.file.clone(),
        line: error.line,
        column: error.column,
        resource: Some(name.to_owned()),
        path: Some(path.to_string()),
    };
    let excerpt = error.excerpt.clone();
    Failed::within(Fault::Engine(error).at(location).with_excerpt(excerpt))
}

/// Each refusal becomes a cause with its own place.
fn refused(
    fault: Fault,
    text: &Text<'_>,
    pointer: &str,
    path: &LayoutPath,
    name: &str,
) -> ExpansionError {
    let causes = match &fault {
        Fault::Schema(SchemaFault::Refused { refusals, .. }) => refusals
            .iter()
            .map(|refusal| cause(refusal, text, pointer, path, name))
            .collect(),
        _ => Vec::new(),
    };
    let mut error = text.fault(fault, &format!("{pointer}/properties"), path);
    error.location.resource = Some(name.to_owned());
    error.causes = causes;
    error
}

fn cause(
    refusal: &Refusal,
    text: &Text<'_>,
    pointer: &str,
    path: &LayoutPath,
    name: &str,
) -> ErrorBody {
    let mut location = text.location(&format!("{pointer}/properties{}", refusal.pointer), path);
    location.resource = Some(name.to_owned());
    location.path = Some(format!(
        "{path}.properties{}",
        schema::json_path(&refusal.pointer)
    ));
    ErrorBody::new(refusal.code(), refusal.to_string()).at(location)
}
