//! The texts that are read: the configuration, and what templates return.
//!
//! Knows how a fault in one is located: in the configuration by line and column, in a template's
//! output by the template alone, for its author never sees the output.

use std::cell::OnceCell;
use std::collections::HashSet;

use common::api::error::Location;
use common::model::{LayoutPath, Output};
use common::yaml::{self, Duplicates, Limits, Places};
use serde_json::Value;

use super::error::{ExpansionError, Fault, kind};

/// A text, as far as faults in it are to be located.
pub struct Text<'a> {
    /// The file that the user knows.
    file: &'a str,
    /// What messages call the list of its resources.
    pub list: &'a str,
    /// Present if its lines mean something to the user.
    content: Option<&'a str>,
    /// Read again for the first fault, once for all of them.
    places: OnceCell<Places<'a>>,
}

impl<'a> Text<'a> {
    pub fn configuration(name: &'a str, content: &'a str) -> Self {
        Self {
            file: name,
            list: name,
            content: Some(content),
            places: OnceCell::new(),
        }
    }

    pub fn output(file: &'a str, template: &'a str) -> Self {
        Self {
            file,
            list: template,
            content: None,
            places: OnceCell::new(),
        }
    }

    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The configuration's value: a map; nothing at all is an empty one, and so is `false`. What
    /// else Python takes for false (`[]`, `0`, `''`) is a mistake of its author.
    pub fn read(&self) -> Result<(Value, Vec<String>), ExpansionError> {
        let content = self.content.unwrap_or_default();
        let document =
            yaml::read(content, &Limits::DEFAULT, Duplicates::Error).map_err(|error| {
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
            })?;
        let warnings = document.warnings.iter().map(ToString::to_string).collect();
        match document.value {
            Value::Object(map) => Ok((Value::Object(map), warnings)),
            Value::Null | Value::Bool(false) => {
                Ok((Value::Object(serde_json::Map::new()), warnings))
            }
            other => {
                let fault = Fault::NotAMap {
                    name: self.file.to_owned(),
                    found: kind(&other),
                };
                Err(self.fault(fault, "", &LayoutPath::root()))
            }
        }
    }

    /// The fault, where the pointer leads to.
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
            .get_or_init(|| Places::of(content, &Limits::DEFAULT));
        places.at(pointer)
    }

    fn point(&self, place: Option<yaml::Location>) -> Location {
        let number = |value: usize| u32::try_from(value).ok();
        Location {
            file: Some(self.file.to_owned()),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
            ..Location::default()
        }
    }
}

/// What a template returned as text.
pub fn output(text: &str, template: &str) -> Result<(Value, Vec<String>), Fault> {
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
    let warnings = document
        .warnings
        .iter()
        .map(|warning| format!("in its output, {warning}"));
    Ok((document.value, warnings.collect()))
}

/// A list of a configuration; none or null is empty.
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
