//! Template objects: Kubernetes objects with parameters, which are the properties of an instance.
//!
//! Responsible for reading one and for where its faults stand in its text. What it means,
//! `expandybird-templateobject` knows; what the objects are called as resources is decided by the expansion.

use std::sync::Arc;

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::manifests::{self, ManifestError, Object, ObjectLocation};
use common::model::{Import, Language};
use common::yaml::{self, Limits, Pointer, TextLocations};
use expandybird_templateobject::{Fault, Faults, Inputs, Processed, Template, process, schema};
use serde_json::{Map, Value};

use super::values::UsedValue;
use super::{Engine, EngineError, Instance, Output, Rendered};
use crate::cache::{Cache, Key};

/// Templates kept read. A request has a handful.
const KEPT: usize = 256;

/// Templates that were read, by their texts.
pub type TemplateObjectCache = Cache<Parsed>;

pub fn cache() -> TemplateObjectCache {
    Cache::new(KEPT)
}

/// A Template that was read.
#[derive(Debug)]
pub struct Parsed {
    template: Template,
    /// The line of each object, from 1.
    lines: Vec<usize>,
    /// The schema of its parameters.
    schema: Arc<str>,
}

#[derive(Debug, Clone, Copy)]
pub struct TemplateObjects<'c> {
    cache: &'c TemplateObjectCache,
}

impl<'c> TemplateObjects<'c> {
    pub fn new(cache: &'c TemplateObjectCache) -> Self {
        Self { cache }
    }

    fn parsed(&self, file: &Import) -> Result<Arc<Parsed>, EngineError> {
        let key = Key::of([file.content.as_str()]);
        self.cache.get_or_make(key, || parse(file))
    }
}

impl Engine for TemplateObjects<'_> {
    fn schema(&mut self, template: &Import, _: Language) -> Result<Option<Arc<str>>, EngineError> {
        Ok(Some(Arc::clone(&self.parsed(template)?.schema)))
    }

    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let file = instance.template;
        let parsed = self.parsed(file)?;
        let inputs = Inputs {
            parameters: parameters(instance)?,
            ..Inputs::default()
        };
        let mut values = instance.values.seeded();
        let processed = process(parsed.template.clone(), &inputs, &mut values)
            .map_err(|faults| refused(file, &faults))?;
        let used = used(&processed);
        let objects = objects(file, processed.objects, &parsed.lines)?;
        Ok(Output {
            warnings: processed.warnings,
            message: processed.message,
            values: used,
            ..Output::new(Rendered::Objects(objects))
        })
    }
}

fn parse(file: &Import) -> Result<Parsed, EngineError> {
    let name = file.path();
    let document = manifests::read_template_object(&file.content).map_err(|source| {
        EngineError::from(ManifestError::Yaml {
            file: name.to_owned(),
            source: Box::new(source),
        })
    })?;
    let template = Template::read(document).map_err(|faults| refused(file, &faults))?;
    let places = TextLocations::new(&file.content, &Limits::DEFAULT);
    let line = |index: usize| {
        places
            .at(&format!("/objects/{index}"))
            .map(|place| place.line)
    };
    let lines = (0..template.objects.len()).map(|index| line(index).unwrap_or(1));
    Ok(Parsed {
        lines: lines.collect(),
        schema: schema(&template).to_string().into(),
        template,
    })
}

fn parameters(instance: &Instance<'_>) -> Result<Map<String, Value>, EngineError> {
    match instance.properties {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map.clone()),
        Some(_) => Err(EngineError {
            file: Some(instance.template.path().to_owned()),
            ..EngineError::new(
                ErrorCode::InvalidProperties,
                "the properties of a Template are a map: each is the value of a parameter",
            )
        }),
    }
}

fn used(processed: &Processed) -> Vec<UsedValue> {
    let generated = processed.generated.iter();
    let used = generated.map(|(name, value)| UsedValue {
        name: name.clone(),
        value: Value::from(value.as_str()),
        secret: true,
    });
    used.collect()
}

fn objects(file: &Import, values: Vec<Value>, lines: &[usize]) -> Result<Vec<Object>, EngineError> {
    let mut objects = Vec::with_capacity(values.len());
    for (index, (value, line)) in values.into_iter().zip(lines).enumerate() {
        let place = ObjectLocation {
            file: file.path().to_owned(),
            line: *line,
            pointer: Pointer::new(0, format!("/objects/{index}")),
        };
        manifests::unfold(value, place, &mut objects)?;
    }
    Ok(objects)
}

/// All faults, each at its place in the text.
fn refused(file: &Import, faults: &Faults) -> EngineError {
    let places = TextLocations::new(&file.content, &Limits::DEFAULT);
    let at = |fault: &Fault| places.at(fault.field.pointer());
    let number = |value: usize| u32::try_from(value).ok();
    let causes = faults.0.iter().map(|fault| {
        let place = at(fault);
        ErrorBody::new(code(fault), fault.to_string()).at(Location {
            file: Some(file.path().to_owned()),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
            ..Location::default()
        })
    });
    let first = faults.0.first();
    let place = first.and_then(at);
    let message = format!("'{}' is not valid: {faults}", file.path());
    EngineError {
        file: Some(file.path().to_owned()),
        line: place.and_then(|place| number(place.line)),
        column: place.and_then(|place| number(place.column)),
        excerpt: place.map_or_else(String::new, |place| yaml::excerpt(&file.content, place)),
        causes: causes.collect(),
        ..EngineError::new(first.map_or(ErrorCode::InvalidConfiguration, code), message)
    }
}

/// A value that a caller can change is a property.
fn code(fault: &Fault) -> ErrorCode {
    let pointer = fault.field.pointer();
    let is_value = pointer == "/parameters"
        || pointer.starts_with("/parameters/") && !pointer.ends_with("/name");
    match is_value {
        true => ErrorCode::InvalidProperties,
        false => ErrorCode::InvalidConfiguration,
    }
}
