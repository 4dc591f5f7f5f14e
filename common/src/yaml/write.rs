//! Writes values as YAML text that every reader reads as the same values.
//!
//! `serde_yaml` writes the text: blocks, literal texts, escapes. It quotes text that *it* would read as another type,
//! by YAML 1.2. A reader of YAML 1.1 would also read its `yes`, `0755` or `1e16` as another type, and there is no
//! option for that. So such scalars are marked before, and the marks are removed from the written text:
//!
//! - a text to be quoted begins with a BEL, whose only spelling is `"\a…"`;
//! - a float in exponent form is a text, plain because of its mark: `serde_yaml` would write a float without the dot
//!   and sign that YAML 1.1 requires.
//!
//! After the BEL, or alone, is a run of U+E000 that is longer than any in the values. No other text contains it, so
//! nothing else is ever removed.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

use super::scalar::{self, Meaning};

/// A value that could not be written, probably because of a lack of memory.
#[derive(Debug, thiserror::Error)]
#[error("write a value as YAML")]
pub struct WriteError(#[source] serde_yaml::Error);

/// A private-use character: rare in any text, and written unescaped.
const MARK: char = '\u{e000}';

/// Writes a value as a YAML document in block style, with a newline at its end.
pub fn write(value: &Value) -> Result<String, WriteError> {
    let plain: String = std::iter::repeat_n(MARK, longest_run(value) + 1).collect();
    let quoted = format!("\u{7}{plain}");
    let marked = Marked {
        value,
        plain: &plain,
        quoted: &quoted,
    };
    let text = serde_yaml::to_string(&marked).map_err(WriteError)?;
    // The longer mark is removed first, because it contains the other.
    Ok(text.replace(&format!("\\a{plain}"), "").replace(&plain, ""))
}

/// The longest run of marks in any text of the value.
fn longest_run(value: &Value) -> usize {
    match value {
        Value::String(text) => longest_run_in(text),
        Value::Array(items) => items.iter().map(longest_run).max().unwrap_or(0),
        Value::Object(map) => {
            let runs = map
                .iter()
                .map(|(k, v)| longest_run_in(k).max(longest_run(v)));
            runs.max().unwrap_or(0)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn longest_run_in(text: &str) -> usize {
    let runs = text.split(|c| c != MARK).map(|run| run.chars().count());
    runs.max().unwrap_or(0)
}

/// A value that `serde_yaml` serializes.
#[derive(Clone, Copy)]
struct Marked<'a> {
    value: &'a Value,
    plain: &'a str,
    quoted: &'a str,
}

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => match exponent_form(number) {
                Some(text) => serializer.serialize_str(&format!("{}{text}", self.plain)),
                None => number.serialize(serializer),
            },
            Value::String(text) => serializer.serialize_str(&self.text(text)),
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    seq.serialize_element(&Marked { value, ..*self })?;
                }
                seq.end()
            }
            Value::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(&*self.text(key), &Marked { value, ..*self })?;
                }
                map.end()
            }
        }
    }
}

impl Marked<'_> {
    fn text<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if must_be_quoted(text) {
            format!("{}{text}", self.quoted).into()
        } else {
            text.into()
        }
    }
}

/// `1.0e+16`, which both YAML 1.1 and 1.2 read as a float. `None` for floats without exponent.
fn exponent_form(number: &serde_json::Number) -> Option<String> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let text = scalar::float_text(float);
    let (mantissa, exponent) = text.split_once('e')?;
    let dot = if mantissa.contains('.') { "" } else { ".0" };
    Some(format!("{mantissa}{dot}e{exponent}"))
}

/// Whether a reader of YAML 1.1 or 1.2 could read the unquoted text as another type.
fn must_be_quoted(text: &str) -> bool {
    scalar::meaning(text) != Meaning::Text
        || is_word(text)
        || is_number_of_1_2(text)
        || is_fragile(text)
}

/// Words that some reader reads as a boolean or null, in any case.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~",
    ];
    text.len() <= 5 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The numbers of YAML 1.2's core schema, and more: `1e3`, `-.5`, `08`, `0o17`, `+.INF`.
fn is_number_of_1_2(text: &str) -> bool {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = body.to_ascii_lowercase();
    matches!(&*lower, ".inf" | ".nan")
        || lower.starts_with("0o")
        || lower.starts_with("0x")
        || lower.starts_with("0b")
        || lower.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && lower.parse::<f64>().is_ok()
}

/// Characters that readers of 1.1 and 1.2 treat differently, or reject.
fn is_fragile(text: &str) -> bool {
    let separator = |c| {
        matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    text.chars()
        .any(|c| c != '\n' && c.is_control() || separator(c))
}
