//! From the events of a document to its value.

use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Tag};
use serde_json::{Map, Value};

use super::scalar::{self, Scalar};
use super::{MAX_DEPTH, MAX_NODES, YamlError};

/// A document that is being read. The stack is explicit.
#[derive(Default)]
pub struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Value>,
    nodes: usize,
}

/// A list or a map that is being read.
struct Open {
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Value>),
    Map {
        entries: Map<String, Value>,
        /// The key that waits for its value.
        key: Option<Key>,
    },
}

enum Key {
    Text(String),
    /// `<<`
    Merge,
}

impl Builder {
    /// Takes an event. The document, if this ended it.
    pub fn accept(&mut self, event: Event<'_>, line: usize) -> Result<Option<Value>, YamlError> {
        match event {
            Event::SequenceStart(anchor, _) => self.enter(anchor, Items::List(Vec::new()))?,
            Event::MappingStart(anchor, _) => {
                let entries = Map::new();
                self.enter(anchor, Items::Map { entries, key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => return self.leave(line),
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1)?;
                let scalar = read(&text, style, tag.as_deref(), line)?;
                if anchor != 0
                    && let Scalar::Value(value) = &scalar
                {
                    self.anchors.insert(anchor, value.clone());
                }
                return self.add(scalar, line);
            }
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let value = found.ok_or_else(|| YamlError::Syntax {
                    line,
                    reason: "anchor contains itself".to_owned(),
                })?;
                self.count(size(&value))?;
                return self.add(Scalar::Value(value), line);
            }
            Event::DocumentEnd => return Ok(Some(Value::Null)),
            _ => {}
        }
        Ok(None)
    }

    fn count(&mut self, nodes: usize) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(nodes);
        let (what, limit) = ("values", MAX_NODES);
        match self.nodes > limit {
            true => Err(YamlError::TooLarge { what, limit }),
            false => Ok(()),
        }
    }

    fn enter(&mut self, anchor: usize, items: Items) -> Result<(), YamlError> {
        self.count(1)?;
        if self.open.len() >= MAX_DEPTH {
            let (what, limit) = ("levels", MAX_DEPTH);
            return Err(YamlError::TooLarge { what, limit });
        }
        self.open.push(Open { anchor, items });
        Ok(())
    }

    fn leave(&mut self, line: usize) -> Result<Option<Value>, YamlError> {
        let Some(Open { anchor, items }) = self.open.pop() else {
            return Ok(None);
        };
        let value = match items {
            Items::List(items) => Value::Array(items),
            Items::Map { entries, .. } => Value::Object(entries),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        self.add(Scalar::Value(value), line)
    }

    /// Puts a value where it belongs. Outside of everything, it is the document.
    fn add(&mut self, scalar: Scalar, line: usize) -> Result<Option<Value>, YamlError> {
        let value = |scalar| match scalar {
            Scalar::Value(value) => value,
            Scalar::Merge => Value::from("<<"),
        };
        match self.open.last_mut().map(|open| &mut open.items) {
            None => return Ok(Some(value(scalar))),
            Some(Items::List(items)) => items.push(value(scalar)),
            Some(Items::Map { entries, key }) => match key.take() {
                None => *key = Some(as_key(scalar, line)?),
                Some(Key::Text(key)) => {
                    entries.insert(key, value(scalar));
                }
                Some(Key::Merge) => merge(entries, value(scalar), line)?,
            },
        }
        Ok(None)
    }
}

fn read(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    line: usize,
) -> Result<Scalar, YamlError> {
    let tag = tag.map(|tag| (tag.handle.as_str(), tag.suffix.as_str()));
    let is_plain = style == ScalarStyle::Plain;
    scalar::read(text, is_plain, tag).map_err(|reason| match reason {
        scalar::Refused::Tag(reason) => YamlError::Syntax { line, reason },
        scalar::Refused::Number(number) => {
            YamlError::NoJson(format!("json: unsupported value: {number}"))
        }
    })
}

fn as_key(scalar: Scalar, line: usize) -> Result<Key, YamlError> {
    let refused = |what: &str| YamlError::Syntax {
        line,
        reason: format!("invalid map key: {what}"),
    };
    match scalar {
        Scalar::Merge => Ok(Key::Merge),
        Scalar::Value(Value::String(text)) => Ok(Key::Text(text)),
        Scalar::Value(Value::Number(number)) => Ok(Key::Text(number.to_string())),
        Scalar::Value(Value::Bool(truth)) => Ok(Key::Text(truth.to_string())),
        Scalar::Value(Value::Null) => Err(refused("null")),
        Scalar::Value(Value::Array(_)) => Err(refused("a list")),
        Scalar::Value(Value::Object(_)) => Err(refused("a map")),
    }
}

/// `<<: *map` and `<<: [*first, *second]`: the first map wins.
fn merge(entries: &mut Map<String, Value>, value: Value, line: usize) -> Result<(), YamlError> {
    let refused = || YamlError::Syntax {
        line,
        reason: "map merge requires map or sequence of maps as the value".to_owned(),
    };
    match value {
        Value::Object(map) => entries.extend(map),
        Value::Array(maps) => {
            for map in maps.into_iter().rev() {
                let Value::Object(map) = map else {
                    return Err(refused());
                };
                entries.extend(map);
            }
        }
        _ => return Err(refused()),
    }
    Ok(())
}

/// The values in a value. It is no deeper than [`MAX_DEPTH`] levels of aliases, each of which is counted.
fn size(value: &Value) -> usize {
    let mut pending = vec![value];
    let mut count = 0;
    while let Some(value) = pending.pop() {
        count += 1;
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(entries) => pending.extend(entries.values()),
            _ => {}
        }
    }
    count
}
