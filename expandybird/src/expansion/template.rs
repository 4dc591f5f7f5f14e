//! One instance of a template: its properties, its schema, its language, and its expansion.

use std::sync::Arc;

use common::api::error::{ErrorBody, Location};
use common::manifests::Object;
use common::model::language::{self, Form};
use common::model::{
    AppliedChart, GeneratedValue, Import, Language, LayoutPath, Origin, Output, ResourceName,
    SecretValue,
};
use serde_json::{Map, Value};

use super::error::{ExpansionError, Fault};
use super::exposed;
use super::reading::lines::Lines;
use super::reading::{self, Printed, Text};
use super::schema::{self, Refusal, Schema, SchemaFault};
use super::tree::{Body, Node};
use super::watch::{At, ExpansionStep};
use super::{Expander, Level};
use crate::engine::values::{UsedValue, Values};
use crate::engine::{EngineError, Instance, PlanInputs, Rendered};

/// The maximum number of warnings in an answer. A loop can cause thousands.
const WARNINGS: usize = 100;

impl Expander<'_> {
    /// The properties that the template sees: the given ones, with the defaults of its schema.
    pub(super) fn properties(
        &mut self,
        template: &Import,
        given: Option<&Value>,
        resource: &str,
        path: &LayoutPath,
    ) -> Result<Option<Value>, Fault> {
        let own = self.input.files.schema_of(template);
        let implied = match own {
            Some(_) => None,
            None => self.implied_schema(template)?,
        };
        let (file, text) = match (own, &implied) {
            (Some(file), _) => (file, file.content.as_str()),
            (None, Some(text)) => (template, &**text),
            (None, None) => return Ok(given.cloned()),
        };
        self.watch.before(ExpansionStep::Schema(At {
            file,
            resource,
            path,
        }))?;
        let schema = Schema::read(&file.name, text, self.schemas)?;
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

    /// The schema that a template without a schema file implies. Rendering reports a language that is unknown.
    fn implied_schema(&mut self, template: &Import) -> Result<Option<Arc<str>>, Fault> {
        match self.language(template) {
            Ok(row) => Ok(self.engine.schema(template, row.language)?),
            Err(_) => Ok(None),
        }
    }

    /// Renders an instance and expands its output. `chain` names the templates around it.
    pub(super) fn template(
        &mut self,
        template: &Import,
        name: &str,
        properties: Option<Value>,
        path: &LayoutPath,
        chain: &[String],
    ) -> Result<Body, Failed> {
        self.watch
            .before(ExpansionStep::Template(At {
                file: template,
                resource: name,
                path,
            }))
            .map_err(Failed::Here)?;
        let row = self.language(template).map_err(Failed::Here)?;
        self.around.push(name.to_owned());
        self.env.insert("name".to_owned(), Value::from(name));
        let type_name = Value::from(template.name.as_str());
        self.env.insert("type".to_owned(), type_name);
        let instance = Instance {
            template,
            language: row.language,
            tree: match row.form {
                Form::File => Vec::new(),
                Form::Folder => self.input.files.beside(template),
            },
            env: &self.env,
            properties: properties.as_ref(),
            values: Values::new(self.input.values, &self.around, self.input.seed),
            applied: self.applied(),
            outputs: None,
            plan: self.plan_inputs(path),
        };
        let bytes = instance.bytes();
        let rendered = self
            .engine
            .render(&instance)
            .map_err(|error| engine_failed(error, name, path))?;
        self.lookups.extend(rendered.lookups);
        self.warn(rendered.warnings, name, path);
        self.take_plan(rendered.plan, path);
        if let Some(text) = rendered.text {
            self.take_output(text.len())?;
            self.texts.get_or_insert_default().push_str(&text);
        }
        self.take_values(rendered.values, path)
            .map_err(Failed::Here)?;
        let mut level = self.level_of(rendered.result, bytes, (template, chain), name, path)?;
        if row.language == Language::TemplateObject {
            level.outputs = exposed::outputs(template, &level.nodes)
                .map_err(|error| engine_failed(error, name, path))?;
        }
        self.around.pop();
        let notes = match chain.is_empty() {
            true => self
                .notes(template, properties.as_ref(), &level.outputs, name, path)?
                .or_else(|| rendered.message.clone()),
            false => None,
        };
        Ok(Body::Template {
            properties,
            children: level.nodes,
            outputs: level.outputs,
            message: rendered.message,
            notes,
        })
    }

    /// How often the instance at hand was applied before.
    fn applied(&self) -> u64 {
        let is_it = |known: &&AppliedChart| {
            let names = known.chart.iter().map(ResourceName::as_str);
            names.eq(self.around.iter().map(String::as_str))
        };
        let known = self.input.charts.iter().find(is_it);
        known.map_or(0, |known| known.times)
    }

    /// The text of `info.notes` in the template's schema. It sees what a Jinja template sees, and the instance's outputs.
    fn notes(
        &mut self,
        template: &Import,
        properties: Option<&Value>,
        outputs: &[Output],
        name: &str,
        path: &LayoutPath,
    ) -> Result<Option<String>, Failed> {
        let Some(file) = self.input.files.schema_of(template) else {
            return Ok(None);
        };
        let schema = Schema::read(&file.name, &file.content, self.schemas);
        let schema = schema.map_err(|fault| Failed::Here(fault.into()))?;
        let Some(notes) = schema.notes.clone() else {
            return Ok(None);
        };
        let named = outputs.iter();
        let outputs: Map<String, Value> = named
            .map(|output| (output.name.clone(), output.value.clone()))
            .collect();
        self.env.insert("name".to_owned(), Value::from(name));
        let type_name = Value::from(template.name.as_str());
        self.env.insert("type".to_owned(), type_name);
        let text = Import {
            name: format!("info.notes of {}", file.name),
            path: Some(file.path().to_owned()),
            content: notes,
        };
        let instance = Instance {
            template: &text,
            language: Language::Jinja,
            tree: Vec::new(),
            env: &self.env,
            properties,
            outputs: Some(&outputs),
            values: Values::NONE,
            applied: 0,
            plan: PlanInputs::default(),
        };
        let rendered = self.engine.render(&instance);
        let rendered = rendered.map_err(|error| engine_failed(error, name, path))?;
        self.warn(rendered.warnings, name, path);
        let Rendered::Text(notes) = rendered.result else {
            return Ok(None);
        };
        self.take_output(notes.len())?;
        Ok(Some(notes.trim_end().to_owned()).filter(|notes| !notes.is_empty()))
    }

    /// The expansion of a template's output. The template comes with the ones around it, and with the size of its own
    /// text, which is the size of its objects.
    fn level_of(
        &mut self,
        result: Rendered,
        bytes: usize,
        (template, around): (&Import, &[String]),
        name: &str,
        path: &LayoutPath,
    ) -> Result<Level, Failed> {
        let text = Text::output(template.path(), &template.name);
        let mut lines = Vec::new();
        let fault = |fault: Fault| match fault {
            Fault::Engine(error) => engine_failed(*error, name, path),
            fault => Failed::within(text.named(fault, name, path)),
        };
        let configuration = match result {
            Rendered::Objects(objects) => {
                self.take_output(bytes)?;
                let nodes = self.objects(objects, path);
                return nodes.map(Level::from).map_err(|(_, found)| fault(found));
            }
            Rendered::Placed(placed) => {
                let bytes = placed.iter().map(|placed| placed.bytes);
                self.take_output(bytes.sum())?;
                let nodes = self.placed(placed, path);
                return nodes.map(Level::from).map_err(fault);
            }
            Rendered::Text(output) => {
                self.take_output(output.len())?;
                let read = match self.prints_objects(template) {
                    true => reading::objects_or_output,
                    false => reading::output,
                };
                let printed = read(&output, &template.name);
                match printed.map_err(|found| fault(in_file(found, template)))? {
                    Printed::Configuration(value, warnings) => {
                        self.warn(warnings, name, path);
                        lines = self.lines(template, &output, &value);
                        value
                    }
                    Printed::Objects(objects, warnings) => {
                        self.warn(warnings, name, path);
                        let nodes = self.printed(objects, template, path);
                        return nodes.map(Level::from).map_err(fault);
                    }
                }
            }
            Rendered::Data(value) => value,
        };
        if configuration.get("resources").is_none() {
            return Err(fault(Fault::NoResourcesField));
        }
        let mut chain = around.to_vec();
        chain.push(template.name.clone());
        self.level(&text.with_lines(lines), &configuration, path, &chain)
            .map_err(Failed::within)
    }

    /// Whether its output may be Kubernetes objects instead of a configuration, as the output of a chart's templates is.
    fn prints_objects(&mut self, template: &Import) -> bool {
        let row = self.language(template);
        row.is_ok_and(|row| row.language == Language::GoTemplate)
    }

    /// The nodes of the objects in an output. The lines of an output are not those of its template.
    fn printed(
        &mut self,
        objects: Vec<Object>,
        template: &Import,
        path: &LayoutPath,
    ) -> Result<Vec<Node>, Fault> {
        let nodes = self.objects(objects, path);
        let mut nodes = nodes.map_err(|(_, found)| in_file(found, template))?;
        for node in &mut nodes {
            node.origin = Origin {
                file: template.path().to_owned(),
                line: None,
            };
        }
        Ok(nodes)
    }

    /// The lines of the template that wrote the resources of its output, if it is a text with tags.
    fn lines(
        &mut self,
        template: &Import,
        output: &str,
        configuration: &Value,
    ) -> Vec<Option<u32>> {
        let is_text = self
            .language(template)
            .is_ok_and(|row| matches!(row.language, Language::Jinja | Language::GoTemplate));
        let resources = configuration.get("resources").and_then(Value::as_array);
        match (is_text, resources) {
            (true, Some(resources)) => {
                // The same template may be used a thousand times.
                let lines = self.lines.entry(template.name.clone());
                let lines = lines.or_insert_with(|| Lines::of(&template.content));
                lines.behind(output, resources.len())
            }
            _ => Vec::new(),
        }
    }

    /// Records the values that an instance used. The secret ones are hidden like secret properties.
    fn take_values(&mut self, used: Vec<UsedValue>, path: &LayoutPath) -> Result<(), Fault> {
        let kept = Values::new(self.input.values, &self.around, self.input.seed).kept();
        let is_new = |one: &UsedValue| !kept.contains_key(one.name.as_str());
        if self.input.seed.is_empty() && used.iter().any(is_new) {
            let warning = "values were made up without a seed, so they are not secret; give a seed";
            self.warnings.push(format!("{path}: {warning}"));
        }
        let names = self.around.iter();
        let instance: Vec<_> = names.map(ResourceName::parse).collect::<Result<_, _>>()?;
        for UsedValue {
            name,
            value,
            secret,
        } in used
        {
            if secret {
                self.secrets.push(SecretValue {
                    path: path.clone(),
                    pointer: format!("/{name}"),
                    value: value.clone(),
                });
            }
            self.values.push(GeneratedValue {
                instance: instance.clone(),
                path: path.clone(),
                name,
                value,
                secret,
            });
        }
        Ok(())
    }

    fn take_output(&mut self, bytes: usize) -> Result<(), Failed> {
        let taken = self.budget.take_output(bytes);
        taken.map_err(|error| Failed::Here(error.into()))
    }

    /// Found once per file. If only the content shows the language, the file is read.
    fn language(&mut self, template: &Import) -> Result<&'static language::Row, Fault> {
        let languages = &mut self.languages;
        let found = *languages.entry(template.name.clone()).or_insert_with(|| {
            language::of_file(template.path(), &template.content)
                .or_else(|| language::of_file(&template.name, &template.content))
        });
        found.ok_or_else(|| Fault::UnsupportedLanguage {
            name: template.name.clone(),
            path: template.path().to_owned(),
            supported: language::endings().to_string(),
        })
    }

    fn warn(&mut self, warnings: Vec<String>, name: &str, path: &LayoutPath) {
        let room = WARNINGS.saturating_sub(self.warnings.len());
        let located = warnings.into_iter().take(room);
        self.warnings
            .extend(located.map(|warning| format!("{path} ('{name}'): {warning}")));
    }
}

/// The location of a failed template instance: the resource that uses it, or a location in the template.
pub(super) enum Failed {
    Here(Fault),
    Within(Box<ExpansionError>),
}

impl Failed {
    fn within(error: ExpansionError) -> Self {
        Self::Within(Box::new(error))
    }
}

/// The engine knows the location in the file. The instance is known here.
/// The fault of an object that a template printed, in the template's file: the lines of an output are not its lines.
fn in_file(fault: Fault, template: &Import) -> Fault {
    match fault {
        Fault::Engine(error) => Fault::from(EngineError {
            file: Some(template.path().to_owned()),
            line: None,
            ..*error
        }),
        fault => fault,
    }
}

fn engine_failed(error: EngineError, name: &str, path: &LayoutPath) -> Failed {
    let location = Location {
        file: error.file.clone(),
        line: error.line,
        column: error.column,
        resource: Some(name.to_owned()),
        path: Some(path.to_string()),
    };
    let (excerpt, causes) = (error.excerpt.clone(), error.causes.clone());
    let mut failed = Fault::from(error).at(location).with_excerpt(excerpt);
    failed.causes = causes;
    Failed::within(failed)
}

/// Each fault becomes a cause with its own location.
pub(super) fn refused(
    fault: Fault,
    text: &Text<'_>,
    pointer: &str,
    path: &LayoutPath,
    name: &str,
) -> ExpansionError {
    let fault = match fault {
        Fault::Engine(error) => match engine_failed(*error, name, path) {
            Failed::Within(error) => return *error,
            Failed::Here(fault) => fault,
        },
        fault => fault,
    };
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
