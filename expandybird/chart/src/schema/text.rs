//! What is wrong with a value, in Helm's words.

use std::sync::LazyLock;

use expandybird_gotemplate::format::format_float;
use expandybird_gotemplate::text;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use regex::{Captures, Regex};
use serde_json::Value;

/// The sentence about one error.
pub fn text(error: &ValidationError<'_>) -> String {
    let instance = error.instance();
    let bound =
        |keyword: &str, got: String, want: String| format!("{keyword}: got {got}, want {want}");
    let keyword = error.kind().keyword();
    match error.kind() {
        Kind::Type { kind } => format!("got {}, want {}", type_of(instance), wanted(kind)),
        Kind::Enum { options } => one_of(options),
        Kind::Constant { expected_value } => match &**expected_value {
            Value::Array(_) | Value::Object(_) => "'const' failed".to_owned(),
            value => format!("value must be {}", display(value)),
        },
        Kind::AdditionalProperties { unexpected } => {
            let names: Vec<_> = unexpected.iter().map(|name| quoted(name)).collect();
            format!("additional properties {} not allowed", names.join(", "))
        }
        Kind::AdditionalItems { limit } => {
            let count = instance
                .as_array()
                .map_or(0, |items| items.len().saturating_sub(*limit));
            format!("last {count} additionalItem(s) not allowed")
        }
        Kind::Minimum { limit }
        | Kind::Maximum { limit }
        | Kind::ExclusiveMinimum { limit }
        | Kind::ExclusiveMaximum { limit } => bound(keyword, number(instance), number(limit)),
        Kind::MultipleOf { multiple_of } => bound(
            keyword,
            number(instance),
            grouped(&format_float(*multiple_of, 'f', None)),
        ),
        Kind::MinItems { limit } | Kind::MaxItems { limit } => bound(
            keyword,
            count(instance.as_array().map(Vec::len)),
            grouped(&limit.to_string()),
        ),
        Kind::MinProperties { limit } | Kind::MaxProperties { limit } => bound(
            keyword,
            count(instance.as_object().map(serde_json::Map::len)),
            grouped(&limit.to_string()),
        ),
        Kind::MinLength { limit } | Kind::MaxLength { limit } => {
            let length = instance.as_str().map(|text| text.chars().count());
            bound(keyword, count(length), grouped(&limit.to_string()))
        }
        Kind::Pattern { pattern } => {
            let got = quoted(instance.as_str().unwrap_or_default());
            format!("{got} does not match pattern {}", quoted(pattern))
        }
        Kind::UniqueItems => unequal(instance),
        Kind::Contains => "no items match contains schema".to_owned(),
        Kind::Format { format } => format!("{} is not valid {format}", display(instance)),
        Kind::AnyOf { .. } => "'anyOf' failed".to_owned(),
        Kind::OneOfNotValid { .. } => "'oneOf' failed, none matched".to_owned(),
        Kind::OneOfMultipleValid { .. } => "'oneOf' failed, several subschemas matched".to_owned(),
        Kind::Not { .. } => "'not' failed".to_owned(),
        Kind::FalseSchema => "false schema".to_owned(),
        _ => error.to_string(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn wanted(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(types) => {
            let types: Vec<_> = types.iter().map(|one| one.to_string()).collect();
            types.join(" or ")
        }
    }
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_nested = |option: &Value| option.is_array() || option.is_object();
    if options.iter().any(is_nested) {
        return "'enum' failed".to_owned();
    }
    let shown: Vec<_> = options.iter().map(display).collect();
    match shown.as_slice() {
        [one] => format!("value must be {one}"),
        all => format!("value must be one of {}", all.join(", ")),
    }
}

fn display(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => "value".to_owned(),
        Value::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

fn unequal(instance: &Value) -> String {
    let items = instance.as_array().map(Vec::as_slice).unwrap_or_default();
    for (second, item) in items.iter().enumerate() {
        if let Some(first) = items.iter().take(second).position(|other| other == item) {
            return format!("items at {first} and {second} are equal");
        }
    }
    "items are equal".to_owned()
}

fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => grouped(&format_float(number, 'f', None)),
        None => value.to_string(),
    }
}

fn count(count: Option<usize>) -> String {
    grouped(&count.unwrap_or(0).to_string())
}

static THOUSANDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^-?\d+").ok());

/// The number with a comma before each group of three digits.
fn grouped(number: &str) -> String {
    let group = |found: &Captures<'_>| {
        let digits = found.get(0).map_or("", |whole| whole.as_str());
        let mut out = String::new();
        for (at, digit) in digits.chars().enumerate() {
            let rest = digits.len() - at;
            if out.ends_with(|last: char| last.is_ascii_digit()) && rest.is_multiple_of(3) {
                out.push(',');
            }
            out.push(digit);
        }
        out
    };
    match THOUSANDS.as_ref() {
        Some(digits) => digits.replace(number, group).into_owned(),
        None => number.to_owned(),
    }
}

/// Go's quotes, but single ones.
pub fn quoted(text: &str) -> String {
    let double = text::quoted(text);
    let inner = double.get(1..double.len() - 1).unwrap_or_default();
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}
