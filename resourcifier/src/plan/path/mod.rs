//! A path into an object: `spec.ports[0].nodePort`, `data['a.b']`.

pub mod json_path;

use std::fmt;

use serde_json::{Value, json};

use super::marks::ACQUIRED;

/// The annotation in which kubectl keeps the whole object.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of a Secret that have its values.
const SECRET: [&[&str]; 4] = [
    &["data"],
    &["stringData"],
    &["metadata", "annotations", LAST_APPLIED],
    &["metadata", "annotations", ACQUIRED],
];

/// The maximum depth of a path into a Kubernetes object.
const STEPS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PathSegment {
    Key(String),
    Index(usize),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<PathSegment>);

impl Path {
    /// Reads the part after a resource's name: `.a.b[0]['c']`. `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut steps, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (step, after) = step(rest)?;
            steps.push(step);
            rest = after;
        }
        (!steps.is_empty() && steps.len() <= STEPS).then_some(Self(steps))
    }

    pub fn key(&self, key: &str) -> Self {
        self.step(PathSegment::Key(key.to_owned()))
    }

    pub fn index(&self, index: usize) -> Self {
        self.step(PathSegment::Index(index))
    }

    fn step(&self, step: PathSegment) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Whether the other path is equal to this one, or below it.
    pub fn holds(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Whether it begins with these keys.
    fn begins(&self, keys: &[&str]) -> bool {
        let mut steps = self.0.iter();
        keys.iter()
            .all(|key| matches!(steps.next(), Some(PathSegment::Key(step)) if step == key))
    }

    /// Whether this place of a Secret contains values of it.
    pub fn meets_secret(&self) -> bool {
        SECRET.iter().any(|keys| {
            let keys = &keys[..keys.len().min(self.0.len())];
            self.begins(keys)
        })
    }

    /// Whether it is the metadata, or a part of it.
    pub fn is_metadata(&self) -> bool {
        self.begins(&["metadata"])
    }

    /// Removes the value at the path from the object. Later items of a list move up.
    pub fn take(&self, object: &mut Value) -> Option<Value> {
        let (last, parents) = self.0.split_last()?;
        let parent = parents.iter().try_fold(object, |value, step| match step {
            PathSegment::Key(key) => value.as_object_mut()?.get_mut(key),
            PathSegment::Index(index) => value.as_array_mut()?.get_mut(*index),
        })?;
        match last {
            PathSegment::Key(key) => parent.as_object_mut()?.shift_remove(key),
            PathSegment::Index(index) => {
                let items = parent.as_array_mut()?;
                (*index < items.len()).then(|| items.remove(*index))
            }
        }
    }

    /// An object with nothing but this value at the path; lists have it as their only item.
    pub fn object(&self, value: Value) -> Value {
        self.0.iter().rev().fold(value, |value, step| match step {
            PathSegment::Key(key) => json!({key: value}),
            PathSegment::Index(_) => json!([value]),
        })
    }

    /// The value at the path. A null counts as no value.
    pub fn find<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let found = self.0.iter().try_fold(object, |value, step| match step {
            PathSegment::Key(key) => value.as_object()?.get(key),
            PathSegment::Index(index) => value.as_array()?.get(*index),
        });
        found.filter(|value| !value.is_null())
    }
}

fn step(text: &str) -> Option<(PathSegment, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, rest) = rest.split_at(end);
        let is_key = !key.is_empty() && !key.contains([']', '\'', '"', ' ']);
        return is_key.then(|| (PathSegment::Key(key.to_owned()), rest));
    }
    let rest = text.strip_prefix('[')?;
    if let Some(quote) = rest
        .chars()
        .next()
        .filter(|first| matches!(first, '\'' | '"'))
    {
        let (key, rest) = rest[1..].split_once(quote)?;
        return Some((PathSegment::Key(key.to_owned()), rest.strip_prefix(']')?));
    }
    let (index, rest) = rest.split_once(']')?;
    Some((PathSegment::Index(index.parse().ok()?), rest))
}

/// Text that needs no quotes within a path.
fn is_identifier(key: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    !key.is_empty() && key.chars().all(is_plain)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathSegment::Index(index) => write!(f, "[{index}]")?,
                PathSegment::Key(key) if !is_identifier(key) => write!(f, "['{key}']")?,
                PathSegment::Key(key) if position == 0 => f.write_str(key)?,
                PathSegment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}
