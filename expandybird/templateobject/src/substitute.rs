//! Puts the values of parameters in the place of their references.
//!
//! One pass from left to right: a value that looks like a reference stays as it is.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::limits;
use crate::reference::{Piece, openshift, proposal};

/// A substitution, and how much it may still add.
#[derive(Debug)]
pub struct Substitution<'p> {
    dialect: Dialect,
    values: HashMap<&'p str, &'p str>,
    bytes_left: usize,
    exceeded: Option<Exceeded>,
}

/// The bound that a result met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    #[error("the values of parameters add more than {} MiB to the objects; make them shorter, or refer to them less often", limits::RESULT_BYTES >> 20)]
    Bytes,
    #[error("the result is nested deeper than {} levels", limits::DEPTH)]
    Depth,
}

impl<'p> Substitution<'p> {
    pub fn new(dialect: Dialect, values: HashMap<&'p str, &'p str>) -> Self {
        Self {
            dialect,
            values,
            bytes_left: limits::RESULT_BYTES,
            exceeded: None,
        }
    }

    /// The bound that was met, if one was. What was substituted after it is not complete.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded
    }

    /// A text whose result is text.
    pub fn text(&mut self, text: &str) -> String {
        self.replaced(text)
            .map_or_else(|| text.to_owned(), |found| found.text)
    }

    /// A text of the Template itself: its message, or a label. The value of `${{P}}` is text here.
    pub fn line(&mut self, text: &str) -> String {
        let whole = match self.dialect {
            Dialect::OpenShift => openshift::whole(text).and_then(|name| self.values.get(name)),
            Dialect::Proposal => None,
        };
        match whole.copied() {
            Some(value) if self.take(value.len()) => value.to_owned(),
            Some(_) => String::new(),
            None => self.text(text),
        }
    }

    /// Every text in a value: keys of maps become text, values may become anything.
    pub fn value(&mut self, value: &mut Value, depth: usize) {
        if depth > limits::DEPTH {
            self.exceeded = Some(Exceeded::Depth);
            return;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                if let Some(result) = self.scalar(text, depth) {
                    *value = result;
                }
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.value(item, depth + 1)),
            Value::Object(map) => self.map(map, depth + 1),
        }
    }

    fn map(&mut self, map: &mut Map<String, Value>, depth: usize) {
        if map.keys().any(|key| key.contains('$')) {
            let entries = std::mem::take(map).into_iter();
            *map = entries
                .map(|(key, value)| (self.text(&key), value))
                .collect();
        }
        map.values_mut().for_each(|value| self.value(value, depth));
    }

    /// None: the text has no reference.
    fn scalar(&mut self, text: &str, depth: usize) -> Option<Value> {
        if self.dialect == Dialect::OpenShift
            && let Some(chosen) = openshift::whole(text).and_then(|name| self.values.get(name))
        {
            return Some(self.decoded(chosen, depth));
        }
        let Replaced { text, unquoted } = self.replaced(text)?;
        Some(match unquoted {
            true => unquoted_scalar(text),
            false => Value::String(text),
        })
    }

    /// The JSON that a value is; text, if it is none.
    fn decoded(&mut self, text: &str, depth: usize) -> Value {
        if !self.take(text.len()) {
            return Value::Null;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if depth + levels(&value) > limits::DEPTH => {
                self.exceeded = Some(Exceeded::Depth);
                Value::Null
            }
            Ok(value) => value,
            Err(_) => Value::from(text),
        }
    }

    /// None: there is no reference in it.
    fn replaced(&mut self, text: &str) -> Option<Replaced> {
        if !text.contains('$') {
            return None;
        }
        let values = std::mem::take(&mut self.values);
        let is_declared = |name: &str| values.contains_key(name);
        let replaced = match self.dialect {
            Dialect::Proposal => self.joined(proposal::pieces(text, is_declared), &values),
            Dialect::OpenShift => self.joined(openshift::pieces(text, is_declared), &values),
        };
        self.values = values;
        replaced
    }

    fn joined<'t>(
        &mut self,
        pieces: impl Iterator<Item = Piece<'t>>,
        values: &HashMap<&str, &str>,
    ) -> Option<Replaced> {
        let mut text = String::new();
        let (mut references, mut quoted) = (0, 0);
        for piece in pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Reference { name, unquoted } => {
                    references += 1;
                    quoted += usize::from(!unquoted);
                    let value = values.get(name).copied().unwrap_or_default();
                    if self.take(value.len()) {
                        text.push_str(value);
                    }
                }
            }
        }
        let unquoted = quoted == 0;
        (references > 0).then_some(Replaced { text, unquoted })
    }

    fn take(&mut self, bytes: usize) -> bool {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                true
            }
            None => {
                self.exceeded = Some(Exceeded::Bytes);
                false
            }
        }
    }
}

struct Replaced {
    text: String,
    /// All references in it are.
    unquoted: bool,
}

/// One JSON scalar; an empty text is null, and everything else is text.
fn unquoted_scalar(text: String) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(_) | Value::Object(_)) | Err(_) => Value::String(text),
        Ok(scalar) => scalar,
    }
}

/// Maps and lists within each other.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}
