//! Constraints of a schema that contain no other schema: types, enums, bounds, patterns.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

type Schema<'v> = Option<&'v Map<String, Value>>;
/// The difference, and whether it breaks properties that were valid.
type Difference = (String, bool);

/// The keywords that this module compares.
pub const COMPARED: [&str; 14] = [
    "type",
    "enum",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "uniqueItems",
];
/// Keywords that restrict values in ways that this module does not analyse. Only their removal cannot break.
pub const OPAQUE: [&str; 5] = ["pattern", "oneOf", "not", "dependencies", "$ref"];

/// Lower and upper bounds, with the keyword that excludes the bound itself.
const BOUNDS: [(&str, Option<&str>, Ordering); 8] = [
    ("minimum", Some("exclusiveMinimum"), Ordering::Less),
    ("maximum", Some("exclusiveMaximum"), Ordering::Greater),
    ("minLength", None, Ordering::Less),
    ("maxLength", None, Ordering::Greater),
    ("minItems", None, Ordering::Less),
    ("maxItems", None, Ordering::Greater),
    ("minProperties", None, Ordering::Less),
    ("maxProperties", None, Ordering::Greater),
];

pub fn differences(before: Schema<'_>, after: Schema<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    found.extend(types(before, after));
    enums(before, after, &mut found);
    for (keyword, exclusive, wider) in BOUNDS {
        let [old, new] =
            [before, after].map(|schema| Bound::from_schema(schema, keyword, exclusive));
        if old != new {
            let said =
                |bound: Option<Bound>| bound.map_or("none".to_owned(), |bound| bound.to_string());
            let what = format!("had the {keyword} {} and has {}", said(old), said(new));
            found.push((what, is_narrower(old, new, wider)));
        }
    }
    found.extend(multiples(before, after));
    found.extend(uniqueness(before, after));
    found
}

fn get<'v>(schema: Schema<'v>, keyword: &str) -> Option<&'v Value> {
    schema?.get(keyword)
}

/// A keyword with its value, clipped to fit a line.
pub fn keyword_text(keyword: &str, value: Option<&Value>) -> String {
    const CHARACTERS: usize = 60;
    let Some(value) = value else {
        return format!("no {keyword}");
    };
    let text = value.to_string();
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("the {keyword} {}…", &text[..end]),
        None => format!("the {keyword} {text}"),
    }
}

fn types(before: Schema<'_>, after: Schema<'_>) -> Option<Difference> {
    let [old, new] = [before, after].map(|schema| get(schema, "type"));
    let (before, after) = (names(old), names(new));
    if before == after {
        return None;
    }
    // Every integer is a number.
    let takes = |name: &&str| {
        after.contains(name) || (*name == "integer" && after.contains("number")) || new.is_none()
    };
    let breaks = old.is_none() || !before.iter().all(takes);
    let what = format!(
        "had {} and has {}",
        keyword_text("type", old),
        keyword_text("type", new)
    );
    Some((what, breaks))
}

fn names(of: Option<&Value>) -> BTreeSet<&str> {
    match of {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(name)) => BTreeSet::from([name.as_str()]),
        _ => BTreeSet::new(),
    }
}

fn enums(before: Schema<'_>, after: Schema<'_>, found: &mut Vec<Difference>) {
    let [before, after] =
        [before, after].map(|schema| get(schema, "enum").and_then(Value::as_array));
    match (before, after) {
        (None, None) => {}
        (None, Some(_)) => found.push(("now allows only certain values".to_owned(), true)),
        (Some(_), None) => found.push(("now allows all values".to_owned(), false)),
        (Some(before), Some(after)) => {
            let gone = before.iter().filter(|value| !after.contains(value));
            found.extend(gone.map(|value| (format!("no longer allows {value}"), true)));
            let new = after.iter().filter(|value| !before.contains(value));
            found.extend(new.map(|value| (format!("now also allows {value}"), false)));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    value: f64,
    excluded: bool,
}

impl Bound {
    fn from_schema(schema: Schema<'_>, keyword: &str, exclusive: Option<&str>) -> Option<Self> {
        let value = get(schema, keyword)?.as_f64()?;
        let excluded = exclusive.and_then(|keyword| get(schema, keyword)?.as_bool());
        // Lengths and counts are never below zero: such a bound means nothing.
        let is_void = keyword.starts_with("min") && exclusive.is_none() && value <= 0.0;
        (!is_void).then_some(Self {
            value,
            excluded: excluded.unwrap_or(false),
        })
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let excluded = if self.excluded { " (excluded)" } else { "" };
        write!(f, "{}{excluded}", self.value)
    }
}

/// `wider`: how a bound that allows more compares with one that allows less.
fn is_narrower(before: Option<Bound>, after: Option<Bound>, wider: Ordering) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return after.is_some();
    };
    match after.value.partial_cmp(&before.value) {
        Some(Ordering::Equal) => after.excluded && !before.excluded,
        ordering => ordering != Some(wider),
    }
}

fn multiples(before: Schema<'_>, after: Schema<'_>) -> Option<Difference> {
    let [old, new] = [before, after].map(|schema| get(schema, "multipleOf"));
    if old.and_then(Value::as_f64) == new.and_then(Value::as_f64) {
        return None;
    }
    let still = match (old.and_then(Value::as_f64), new.and_then(Value::as_f64)) {
        (_, None) => true,
        (Some(old), Some(new)) => (old / new).fract() == 0.0,
        (None, Some(_)) => false,
    };
    let [old, new] = [old, new].map(|value| keyword_text("multipleOf", value));
    Some((format!("had {old} and has {new}"), !still))
}

fn uniqueness(before: Schema<'_>, after: Schema<'_>) -> Option<Difference> {
    let unique = |schema| get(schema, "uniqueItems").and_then(Value::as_bool) == Some(true);
    match (unique(before), unique(after)) {
        (false, true) => Some(("no longer allows equal items".to_owned(), true)),
        (true, false) => Some(("now allows equal items".to_owned(), false)),
        _ => None,
    }
}
