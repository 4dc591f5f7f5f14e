//! The part of JSONPath that conditions need, in kubectl's notation: `{.status.conditions[?(@.type=="Ready")].status}`.
//!
//! Keys (`.a`, `['a.b']`, `.a\.b`), indices (`[0]`), all items (`[*]`) and filters for equality. No scripts, no slices,
//! no `..`.

use serde_json::Value;

use crate::plan::Path;

/// The maximum length of a path.
const LENGTH: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathSegment {
    Key(String),
    Index(usize),
    All,
    /// Items whose value at the path, as text, equals this text.
    Where(Path, String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(Vec<PathSegment>);

impl JsonPath {
    /// Reads `.a.b[0]`, without its braces. The error quotes the text at which it fails.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().strip_prefix('$').unwrap_or(text.trim());
        if text.len() > LENGTH {
            return Err(format!("it is longer than {LENGTH} characters"));
        }
        let dotted = match text.starts_with(['.', '[']) {
            true => text.to_owned(),
            false => format!(".{text}"),
        };
        let (mut steps, mut rest) = (Vec::new(), dotted.as_str());
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(|| format!("{rest:?} is not a step"))?;
            steps.push(step);
            rest = after;
        }
        Ok(Self(steps))
    }

    /// All values at the path, in their order. A null is not a value.
    pub fn find<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![object];
        for step in &self.0 {
            found = found.into_iter().flat_map(|value| step.of(value)).collect();
        }
        found.retain(|value| !value.is_null());
        found
    }
}

impl PathSegment {
    fn of<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(map)) => map.get(key).into_iter().collect(),
            (Self::Index(index), Value::Array(items)) => items.get(*index).into_iter().collect(),
            (Self::All, Value::Array(items)) => items.iter().collect(),
            (Self::All, Value::Object(map)) => map.values().collect(),
            (Self::Where(path, wanted), Value::Array(items)) => items
                .iter()
                .filter(|item| {
                    path.find(item)
                        .is_some_and(|value| text_of(value) == *wanted)
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// A scalar as text.
pub fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The first step, and the rest of the path.
fn step(text: &str) -> Option<(PathSegment, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        return match rest.strip_prefix('*') {
            Some(after) => Some((PathSegment::All, after)),
            None => key(rest),
        };
    }
    let rest = text.strip_prefix('[')?;
    if let Some(filter) = rest.strip_prefix("?(@") {
        let (condition, after) = filter.split_once(")]")?;
        let (path, wanted) = condition.split_once("==")?;
        let path = Path::parse(path.trim())?;
        return Some((PathSegment::Where(path, unquoted(wanted).to_owned()), after));
    }
    let (inner, after) = rest.split_once(']')?;
    let step = match inner {
        "*" => PathSegment::All,
        quoted if quoted.starts_with(['\'', '"']) => PathSegment::Key(unquoted(quoted).to_owned()),
        index => PathSegment::Index(index.parse().ok()?),
    };
    Some((step, after))
}

/// A key up to the next step. `\.` is a dot in the key.
fn key(text: &str) -> Option<(PathSegment, &str)> {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next().filter(|c| !matches!(c, '.' | '[')) {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' if rest.starts_with('.') => {
                name.push('.');
                rest = &rest[1..];
            }
            '=' | '{' | '}' | ']' | '\'' | '"' | ' ' => return None,
            c => name.push(c),
        }
    }
    (!name.is_empty()).then_some((PathSegment::Key(name), rest))
}

/// A text without its quotes, if it has any.
pub fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['\'', '"']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}
