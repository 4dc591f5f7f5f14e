//! The texts of an expansion: the configuration, and the output of templates.
//!
//! Locates their faults: in the configuration by line and column, in the output of a template by the template only,
//! because its author does not see the output.

pub mod lines;

use std::cell::OnceCell;
use std::collections::HashSet;

use common::api::error::Location;
use common::manifests::{self, Object};
use common::model::{LayoutPath, Origin, Output};
use common::yaml::{self, Duplicates, Limits, Pointer, TextLocations, YamlError};
use serde_json::Value;

use crate::engine::EngineError;
use crate::expansion::error::{ExpansionError, Fault, kind};

/// A text, for the location of its faults.
pub struct Text<'a> {
    /// The file that the user knows.
    file: &'a str,
    /// The name of its list of resources in messages.
    pub list: &'a str,
    /// Present if the user knows its lines.
    content: Option<&'a str>,
    /// Of a text that was read; parsed again for the first fault of others.
    places: OnceCell<TextLocations<'a>>,
    /// The location of each object, for a text of Kubernetes objects.
    objects: Vec<Pointer>,
    /// The line of the template that wrote each resource, for an output, where it is known.
    lines: Vec<Option<u32>>,
}

/// The content of a configuration's text.
pub enum Content {
    /// A map with `resources`, and warnings of the reader.
    Configuration(Value, Vec<String>),
    /// Kubernetes objects.
    Objects(Vec<Object>),
    /// A Template object.
    Template,
}

/// The top-level keys of a configuration.
const KEYS: [&str; 3] = ["imports", "outputs", "resources"];
/// The prefix of keys that exist only for their anchors.
const ANCHORS: &str = "x-";
/// How many keys of a text an error lists.
const KEYS_SHOWN: usize = 10;

impl<'a> Text<'a> {
    pub fn configuration(name: &'a str, content: &'a str) -> Self {
        Self {
            file: name,
            list: name,
            content: Some(content),
            places: OnceCell::new(),
            objects: Vec::new(),
            lines: Vec::new(),
        }
    }

    pub fn output(file: &'a str, template: &'a str) -> Self {
        Self {
            file,
            list: template,
            content: None,
            places: OnceCell::new(),
            objects: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// With the lines of the template that wrote the resources.
    pub fn with_lines(self, lines: Vec<Option<u32>>) -> Self {
        Self { lines, ..self }
    }

    /// Where the resource at the pointer is written, which has this number in its list.
    pub fn origin(&self, pointer: &str, index: usize) -> Origin {
        let own = self.place(pointer).and_then(|place| number(place.line));
        Origin {
            file: self.file.to_owned(),
            line: own.or_else(|| self.lines.get(index).copied().flatten()),
        }
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The whole text, if its lines mean something to the user.
    pub fn content(&self) -> &'a str {
        self.content.unwrap_or_default()
    }

    /// The content of the configuration.
    pub fn read(&mut self) -> Result<Content, ExpansionError> {
        let content = self.content.unwrap_or_default();
        let read = yaml::read_with_locations(content, &Limits::DEFAULT, Duplicates::Error);
        let (documents, places) = read.map_err(|error| self.unreadable(&error))?;
        self.places = OnceCell::from(places);
        if matches!(&documents[..], [one] if manifests::is_template(&one.value)) {
            return Ok(Content::Template);
        }
        if manifests::recognises(&documents) {
            let objects = manifests::objects(self.file, documents)
                .map_err(|error| self.engine(error.into(), &LayoutPath::root()))?;
            self.objects = objects
                .iter()
                .map(|one| one.place.pointer.clone())
                .collect();
            return Ok(Content::Objects(objects));
        }
        let document = match documents.len() {
            0 | 1 => documents.into_iter().next(),
            // Rejects a duplicate key, with its location.
            _ => {
                let refused = yaml::read(content, &Limits::DEFAULT, Duplicates::Error);
                Some(refused.map_err(|error| self.unreadable(&error))?)
            }
        };
        let (value, warnings) = document.map_or((Value::Null, Vec::new()), |document| {
            (document.value, document.warnings)
        });
        self.check(&value)?;
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Ok(Content::Configuration(value, warnings))
    }

    fn unreadable(&self, error: &YamlError) -> ExpansionError {
        let location = self.point(Some(error.location));
        let (name, reason) = (self.file.to_owned(), error.to_string());
        let fault = match error.kind.is_limit() {
            true => Fault::YamlTooLarge {
                what: format!("'{name}'"),
                reason,
            },
            false => Fault::NotYaml { name, reason },
        };
        fault.at(location).with_excerpt(error.excerpt())
    }

    /// A configuration must have `resources`, even if the list is empty: a typing mistake in the key must not deploy
    /// nothing.
    fn check(&self, value: &Value) -> Result<(), ExpansionError> {
        let name = || self.file.to_owned();
        let none = |found: String| Fault::NoResources {
            name: name(),
            found,
        };
        let (fault, pointer) = match value {
            Value::Null => (none("is empty".to_owned()), String::new()),
            Value::Object(map) if map.is_empty() => (none("is empty".to_owned()), String::new()),
            Value::Object(map) if !map.contains_key("resources") => {
                let keys: Vec<_> = map
                    .keys()
                    .take(KEYS_SHOWN)
                    .map(|key| format!("'{key}'"))
                    .collect();
                let found = format!("has {}, but no 'resources:'", keys.join(", "));
                (none(found), String::new())
            }
            Value::Object(map) => {
                let unknown = map
                    .keys()
                    .find(|key| !KEYS.contains(&key.as_str()) && !key.starts_with(ANCHORS));
                let Some(key) = unknown.cloned() else {
                    return Ok(());
                };
                let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                (Fault::UnknownKey { name: name(), key }, pointer)
            }
            other => {
                let found = kind(other);
                (
                    Fault::NotAMap {
                        name: name(),
                        found,
                    },
                    String::new(),
                )
            }
        };
        Err(self.fault(fault, &pointer, &LayoutPath::root()))
    }

    /// The error of the engine, at its own location.
    pub fn engine(&self, error: EngineError, path: &LayoutPath) -> ExpansionError {
        let location = Location {
            file: error.file.clone(),
            line: error.line,
            column: error.column,
            path: Some(path.to_string()),
            ..Location::default()
        };
        let excerpt = error.excerpt.clone();
        Fault::from(error).at(location).with_excerpt(excerpt)
    }

    /// The fault at the location of the pointer.
    pub fn fault(&self, fault: Fault, pointer: &str, path: &LayoutPath) -> ExpansionError {
        let place = self.place(pointer);
        let excerpt = self
            .content
            .zip(place)
            .map(|(content, place)| yaml::excerpt(content, place));
        let mut location = self.point(place);
        location.path = Some(path.to_string());
        fault.at(location).with_excerpt(excerpt.unwrap_or_default())
    }

    /// A fault of the whole output of an instance.
    pub fn named(&self, fault: Fault, name: &str, path: &LayoutPath) -> ExpansionError {
        let mut error = self.fault(fault, "", path);
        error.location.resource = Some(name.to_owned());
        error
    }

    pub fn location(&self, pointer: &str, path: &LayoutPath) -> Location {
        let mut location = self.point(self.place(pointer));
        location.path = Some(path.to_string());
        location
    }

    fn place(&self, pointer: &str) -> Option<yaml::Location> {
        let content = self.content?;
        let places = self
            .places
            .get_or_init(|| TextLocations::new(content, &Limits::DEFAULT));
        places.find(&self.pointer(pointer))
    }

    /// Converts a pointer to a resource, or into its properties, to a pointer into its object.
    fn pointer(&self, pointer: &str) -> Pointer {
        let rest = pointer.strip_prefix("/resources/").unwrap_or_default();
        let (index, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let object = index
            .parse()
            .ok()
            .and_then(|index: usize| self.objects.get(index));
        match (object, rest.strip_prefix("properties")) {
            (Some(object), Some(within)) => {
                Pointer::new(object.document, format!("{}{within}", object.path))
            }
            (Some(object), None) => object.clone(),
            (None, _) => Pointer::new(0, pointer),
        }
    }

    fn point(&self, place: Option<yaml::Location>) -> Location {
        Location {
            file: Some(self.file.to_owned()),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
            ..Location::default()
        }
    }
}

fn number(value: usize) -> Option<u32> {
    u32::try_from(value).ok()
}

/// The content of a template's output, and warnings of the reader.
pub enum Printed {
    /// A map, which should have `resources`.
    Configuration(Value, Vec<String>),
    /// Kubernetes objects.
    Objects(Vec<Object>, Vec<String>),
}

/// The output of a template that may print objects too: a template that prints nothing prints none.
pub fn objects_or_output(text: &str, template: &str) -> Result<Printed, Fault> {
    // What is wrong is read again, for the error.
    let Ok(mut documents) = yaml::read_all(text, &Limits::DEFAULT, Duplicates::Warn) else {
        return output(text, template);
    };
    let warnings = documents.iter().flat_map(|one| &one.warnings);
    let warnings = warnings.map(in_output).collect();
    let is_empty = documents.iter().all(|one| one.value.is_null());
    if !is_empty && !manifests::recognises(&documents) {
        return match &mut documents[..] {
            [one] => Ok(Printed::Configuration(one.value.take(), warnings)),
            _ => output(text, template),
        };
    }
    let file = format!("the output of '{template}'");
    let objects = manifests::objects(&file, documents).map_err(EngineError::from)?;
    Ok(Printed::Objects(objects, warnings))
}

/// The output of a template as text.
pub fn output(text: &str, template: &str) -> Result<Printed, Fault> {
    let document = yaml::read(text, &Limits::DEFAULT, Duplicates::Warn).map_err(|error| {
        let reason = format!("{error}\n{}", error.excerpt());
        let reason = reason.trim_end().to_owned();
        match error.kind.is_limit() {
            true => Fault::YamlTooLarge {
                what: format!("the output of '{template}'"),
                reason,
            },
            false => Fault::OutputNotYaml {
                template: template.to_owned(),
                reason,
            },
        }
    })?;
    let warnings = document.warnings.iter().map(in_output).collect();
    Ok(Printed::Configuration(document.value, warnings))
}

fn in_output(warning: &impl std::fmt::Display) -> String {
    format!("in its output, {warning}")
}

/// A list of a configuration. Missing or null means empty.
pub fn list<'v>(
    configuration: &'v Value,
    field: &'static str,
    entries: &'static str,
) -> Result<&'v [Value], Fault> {
    match configuration.get(field) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(Fault::NotAList {
            field,
            found: kind(other),
            entries,
        }),
    }
}

/// The `outputs` of a configuration or a template.
pub fn outputs(
    configuration: &Value,
    text: &Text<'_>,
    path: &LayoutPath,
) -> Result<Vec<Output>, ExpansionError> {
    let entries = list(configuration, "outputs", "a name and a value")
        .map_err(|fault| text.fault(fault, "/outputs", path))?;
    let mut read: Vec<Output> = Vec::with_capacity(entries.len());
    let mut met = HashSet::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let at = |fault| text.fault(fault, &format!("/outputs/{index}"), path);
        let name = entry.get("name").and_then(Value::as_str);
        let (Some(name), Some(value)) = (name, entry.get("value")) else {
            return Err(at(Fault::IncompleteOutput));
        };
        if !met.insert(name) {
            return Err(at(Fault::DuplicateOutput {
                name: name.to_owned(),
                list: text.list.to_owned(),
            }));
        }
        read.push(Output {
            name: name.to_owned(),
            value: value.clone(),
        });
    }
    Ok(read)
}
