//! Finds, checks and replaces `$(ref.NAME.PATH)`.
//!
//! A string that is exactly one reference becomes the value with its type. In a longer string, the value becomes text.

pub(super) mod outputs;

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::path::Path;

const OPEN: &str = "$(ref.";

/// A reference to the live object of another resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The index of the resource.
    pub target: usize,
    pub path: Path,
    /// The text of the reference.
    pub text: String,
    /// Whether it leads to values of a Secret. Those may only be sent to the cluster.
    pub is_secret: bool,
}

/// Marks references to values of Secrets, once it is known which resources are Secrets.
pub fn mark_secret(references: &mut [Reference], is_secret: impl Fn(usize) -> bool) {
    for reference in references {
        reference.is_secret = is_secret(reference.target) && reference.path.meets_secret();
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    #[error("the reference in {0:?} has no end; write it like $(ref.NAME.PATH)")]
    Open(String),
    #[error(
        "the reference {0} has no valid path; write it like $(ref.NAME.metadata.name) or $(ref.NAME.spec.ports[0].port)"
    )]
    Malformed(String),
    #[error("the reference {text} names no resource of the deployment{}", hint(.known))]
    Unknown { text: String, known: Vec<String> },
    #[error(
        "the reference {text} may mean any of {count} resources of that name; give them different names"
    )]
    Ambiguous { text: String, count: usize },
}

/// How many names an error lists.
const LISTED: usize = 10;
/// How much of a reference an error shows, in characters.
const SHOWN: usize = 200;

/// The reference as people wrote it. The end of a long one is left out.
fn written(inner: &str) -> String {
    match inner.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{OPEN}{}…)", &inner[..end]),
        None => format!("{OPEN}{inner})"),
    }
}

fn hint(known: &[String]) -> String {
    if known.is_empty() {
        String::new()
    } else {
        format!("; there are {}", known.join(", "))
    }
}

/// The names for references, with their resources.
#[derive(Debug)]
pub struct Names<'a> {
    resources: HashMap<&'a str, Vec<usize>>,
    /// The lengths of the names, the longest first.
    lengths: Vec<usize>,
    listed: Vec<String>,
}

impl<'a> Names<'a> {
    pub fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let (mut resources, mut listed): (HashMap<&str, Vec<usize>>, _) =
            (HashMap::new(), Vec::new());
        for (index, name) in names.enumerate() {
            resources.entry(name).or_default().push(index);
            if listed.len() < LISTED {
                listed.push(name.to_owned());
            }
        }
        let lengths: BTreeSet<usize> = resources.keys().map(|name| name.len()).collect();
        Self {
            resources,
            lengths: lengths.into_iter().rev().collect(),
            listed,
        }
    }

    pub fn bearers(&self, name: &str) -> &[usize] {
        self.resources
            .get(name)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Splits `NAME.PATH`. A name may contain dots, so the longest existing name wins.
    fn split<'t>(&self, inner: &'t str) -> Option<(&[usize], &'t str)> {
        // There may be as many dots as bytes, so only positions where a name can end are checked.
        let is_end = |end: &&usize| matches!(inner.as_bytes().get(**end), Some(b'.' | b'['));
        let ends = self.lengths.iter().filter(is_end);
        ends.map(|&end| inner.split_at(end))
            .find_map(|(name, path)| Some((self.resources.get(name)?.as_slice(), path)))
    }

    fn reference(&self, inner: &str) -> Result<Reference, ReferenceError> {
        if !inner.contains(['.', '[']) {
            return Err(ReferenceError::Malformed(written(inner)));
        }
        let Some((bearers, path)) = self.split(inner) else {
            return Err(ReferenceError::Unknown {
                text: written(inner),
                known: self.listed.clone(),
            });
        };
        let Some(path) = Path::parse(path) else {
            return Err(ReferenceError::Malformed(written(inner)));
        };
        match bearers {
            [target] => Ok(Reference {
                target: *target,
                path,
                text: format!("{OPEN}{inner})"),
                is_secret: false,
            }),
            several => Err(ReferenceError::Ambiguous {
                text: written(inner),
                count: several.len(),
            }),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    /// The text between `$(ref.` and `)`.
    Inner(&'t str),
}

pub fn is_plain(text: &str) -> bool {
    !text.contains(OPEN)
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, ReferenceError> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find(OPEN) {
        let (before, after) = (&rest[..start], &rest[start + OPEN.len()..]);
        let end = closing(after)
            .ok_or_else(|| ReferenceError::Open(text.chars().take(SHOWN).collect()))?;
        pieces.extend((!before.is_empty()).then_some(Piece::Text(before)));
        pieces.push(Piece::Inner(&after[..end]));
        rest = &after[end + 1..];
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    Ok(pieces)
}

/// The closing parenthesis. One within a quoted key, `data['a)b']`, does not count.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (position, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == ')' => return Some(position),
            None if matches!(c, '\'' | '"') && before == '[' => quote = Some(c),
            None => {}
        }
        before = c;
    }
    None
}

/// Every reference in a value, in its order and checked.
pub fn collect(value: &Value, names: &Names<'_>) -> Result<Vec<Reference>, ReferenceError> {
    let mut found = Vec::new();
    visit(value, &mut |text| {
        for piece in pieces(text)? {
            if let Piece::Inner(inner) = piece {
                found.push(names.reference(inner)?);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

fn visit(
    value: &Value,
    each: &mut impl FnMut(&str) -> Result<(), ReferenceError>,
) -> Result<(), ReferenceError> {
    match value {
        Value::String(text) if !is_plain(text) => each(text),
        Value::Array(items) => items.iter().try_for_each(|item| visit(item, each)),
        Value::Object(map) => map.values().try_for_each(|item| visit(item, each)),
        _ => Ok(()),
    }
}

/// The value with its references replaced. `lookup` returns values by the text of the reference.
pub fn substitute(value: &Value, lookup: &impl Fn(&str) -> Option<Value>) -> Value {
    match value {
        Value::String(text) if !is_plain(text) => {
            replaced(text, lookup).unwrap_or_else(|| value.clone())
        }
        Value::Array(items) => items.iter().map(|item| substitute(item, lookup)).collect(),
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, item)| (key.clone(), substitute(item, lookup)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        plain => plain.clone(),
    }
}

fn replaced(text: &str, lookup: &impl Fn(&str) -> Option<Value>) -> Option<Value> {
    let pieces = pieces(text).ok()?;
    let value_of = |inner: &str| lookup(&format!("{OPEN}{inner})"));
    if let [Piece::Inner(inner)] = pieces[..] {
        return value_of(inner);
    }
    let texts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => Some(text.to_owned()),
        Piece::Inner(inner) => value_of(inner).map(|value| as_text(&value)),
    });
    texts.collect::<Option<String>>().map(Value::String)
}

fn as_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// One text with its references replaced. `None` if one of them is not known.
pub fn substitute_text(
    text: &str,
    names: &Names<'_>,
    lookup: &impl Fn(&Reference) -> Option<Value>,
) -> Option<Value> {
    if is_plain(text) {
        return Some(Value::String(text.to_owned()));
    }
    replaced(text, &|written| {
        let inner = written.strip_prefix(OPEN)?.strip_suffix(')')?;
        lookup(&names.reference(inner).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_values_of_a_secret_are_secret() {
        let names = Names::new(["key", "map"].into_iter());
        let leads_to_secret = |text: &str| {
            let mut references = collect(&json!(text), &names).unwrap();
            mark_secret(&mut references, |target| target == 0);
            references[0].is_secret
        };
        let applied = "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']";
        for path in [
            "data",
            "data.password",
            "stringData['a.b']",
            "metadata",
            applied,
        ] {
            assert!(leads_to_secret(&format!("$(ref.key.{path})")), "{path}");
        }
        for text in [
            "$(ref.key.metadata.name)",
            "$(ref.key.metadata.annotations.a)",
            "$(ref.map.data.password)",
        ] {
            assert!(!leads_to_secret(text), "{text}");
        }
    }
}
