//! What a scalar is, by its text and its tag.

use std::sync::LazyLock;

use data_encoding::BASE64;
use regex::Regex;
use serde_json::{Number, Value};

/// The handle of YAML's own tags, short and long.
const OWN: [&str; 2] = ["!!", "tag:yaml.org,2002:"];

pub enum Scalar {
    Value(Value),
    /// `<<` without quotes.
    Merge,
}

/// Why a scalar has no value.
pub enum Refused {
    /// Its text is not what its tag says.
    Tag(String),
    /// Infinity, or not a number.
    Number(String),
}

/// Reads a scalar with the handle and the suffix of its tag.
pub fn read(text: &str, is_plain: bool, tag: Option<(&str, &str)>) -> Result<Scalar, Refused> {
    let own = tag.and_then(|(handle, suffix)| {
        let long = format!("{handle}{suffix}");
        let mut handles = OWN.iter();
        handles.find_map(|own| long.strip_prefix(own).map(str::to_owned))
    });
    match (own.as_deref(), tag) {
        (Some("str"), _) => Ok(string(text)),
        (Some("binary"), _) => binary(text),
        (Some(kind @ ("int" | "float" | "bool" | "null")), _) => tagged(text, kind),
        (Some(_), _) | (None, Some(_)) => Ok(string(text)),
        (None, None) if is_plain => plain(text),
        (None, None) => Ok(string(text)),
    }
}

fn string(text: &str) -> Scalar {
    Scalar::Value(Value::from(text))
}

fn binary(text: &str) -> Result<Scalar, Refused> {
    let digits: String = text.split_whitespace().collect();
    let bytes = BASE64.decode(digits.as_bytes());
    let bytes = bytes
        .map_err(|_| Refused::Tag("!!binary value contains invalid base64 data".to_owned()))?;
    Ok(string(&String::from_utf8_lossy(&bytes)))
}

/// The value of a text whose tag says what it is.
fn tagged(text: &str, kind: &str) -> Result<Scalar, Refused> {
    let scalar = plain(text)?;
    let fits = match &scalar {
        Scalar::Value(Value::Number(number)) => {
            kind == "float" || kind == "int" && !number.is_f64()
        }
        Scalar::Value(Value::Bool(_)) => kind == "bool",
        Scalar::Value(Value::Null) => kind == "null",
        _ => false,
    };
    match fits {
        true => Ok(scalar),
        false => Err(Refused::Tag(format!(
            "cannot decode `{text}` as a !!{kind}"
        ))),
    }
}

fn plain(text: &str) -> Result<Scalar, Refused> {
    let value = match text {
        "<<" => return Ok(Scalar::Merge),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => return Err(Refused::Number("NaN".to_owned())),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Err(Refused::Number("+Inf".to_owned()));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Err(Refused::Number("-Inf".to_owned())),
        other => number(other).map_or_else(|| Value::from(other), Value::Number),
    };
    Ok(Scalar::Value(value))
}

static FLOAT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").ok());

fn number(text: &str) -> Option<Number> {
    if !text.starts_with([
        '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
    ]) {
        return None;
    }
    let digits = match text.starts_with('.') {
        true => text.to_owned(),
        false => text.replace('_', ""),
    };
    integer(&digits).or_else(|| {
        let is_float = FLOAT.as_ref().is_some_and(|float| float.is_match(&digits));
        let number = is_float.then(|| digits.parse::<f64>().ok()).flatten()?;
        Number::from_f64(number)
    })
}

/// An integer of 64 bits in base 10, 16, 8 or 2. Larger ones are floats.
fn integer(digits: &str) -> Option<Number> {
    let (is_negative, magnitude) = match digits.strip_prefix(['+', '-']) {
        Some(magnitude) => (digits.starts_with('-'), magnitude),
        None => (false, digits),
    };
    let lower = magnitude.get(..2).unwrap_or_default().to_ascii_lowercase();
    let rest = magnitude.get(2..).unwrap_or_default();
    let (radix, magnitude) = match lower.as_str() {
        "0x" => (16, rest),
        "0o" => (8, rest),
        "0b" => (2, rest),
        _ => match magnitude.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => (8, octal),
            _ => (10, magnitude),
        },
    };
    if !magnitude.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from_str_radix(magnitude, radix).ok()?;
    match is_negative {
        true => i64::try_from(-magnitude).ok().map(Number::from),
        false => u64::try_from(magnitude).ok().map(Number::from),
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::read;
    use serde_json::json;

    #[test]
    fn scalars_are_what_go_takes_them_for() {
        let text = "[1, 0755, 0o17, 0x1F, 0b11, 1_000, 1e3, .5, -1, +1, 1.0, 18446744073709551615, 08,
            yes, Off, y, ~, null, '1', \"yes\", 22:30, 2001-01-01, 1.2.3, 1e999, !!str 1, !!float 1, !x 1, <<]";
        let expected = json!([
            1,
            493,
            15,
            31,
            3,
            1000,
            1000.0,
            0.5,
            -1,
            1,
            1.0,
            18_446_744_073_709_551_615_u64,
            8.0,
            true,
            false,
            true,
            null,
            null,
            "1",
            "yes",
            "22:30",
            "2001-01-01",
            "1.2.3",
            "1e999",
            "1",
            1,
            "1",
            "<<"
        ]);
        assert_eq!(read(text.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn keys_become_texts_and_maps_are_merged() {
        let text = "a: &a {x: 1, z: 2}\nb: {<<: *a, x: 3}\n1: one\ntrue: t\nd: 1\nd: 2\n--- {}\n";
        let expected =
            json!({"a": {"x": 1, "z": 2}, "b": {"x": 3, "z": 2}, "1": "one", "true": "t", "d": 2});
        assert_eq!(read(text.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn what_has_no_value_is_refused() {
        for text in [
            "a: [",
            "{[1]: 2}",
            "? ~\n: 1",
            "a: .inf",
            "a: &a [*a]",
            "!!int x",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        let deep = "[".repeat(200);
        assert!(read(deep.as_bytes()).is_err());
    }
}
