//! Fields of a document, read as Go reads them into a struct.

use expandybird_gotemplate::format;
use serde_json::{Map, Value};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::yaml::kind;

/// Fields, as Go's JSON reader fills a struct: null leaves a field as it is.
pub struct Fields<'v>(pub &'v Map<String, Value>);

impl<'v> Fields<'v> {
    fn get(&self, name: &str) -> Option<&'v Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str, field: &mut String) -> Result<(), String> {
        if let Some(value) = self.get(name) {
            *field = text(value)?;
        }
        Ok(())
    }

    pub fn texts(&self, name: &str, field: &mut Vec<String>) -> Result<(), String> {
        if let Some(values) = self.list(name)? {
            *field = values.iter().map(text).collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    pub fn truth(&self, name: &str, field: &mut bool) -> Result<(), String> {
        match self.get(name) {
            None => {}
            Some(Value::Bool(truth)) => *field = *truth,
            Some(other) => return Err(wrong(other, "bool")),
        }
        Ok(())
    }

    pub fn list(&self, name: &str) -> Result<Option<&'v Vec<Value>>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(wrong(other, "[]")),
        }
    }

    pub fn map(&self, name: &str) -> Result<Option<&'v Map<String, Value>>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(wrong(other, "map[string]string")),
        }
    }
}

/// A number or a boolean is the text of itself: `1.10` is `1.1`.
pub fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Number(number) if !number.is_f64() => Ok(number.to_string()),
        Value::Number(number) => Ok(number.as_f64().map(float).unwrap_or_default()),
        other => Err(wrong(other, "string")),
    }
}

fn float(number: f64) -> String {
    format::format_float(number, 'g', None)
}

pub fn wrong(value: &Value, wanted: &str) -> String {
    let kind = kind(value);
    format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {wanted}"
    )
}

/// The text with spaces for white space, and without characters that do not print.
pub fn cleaned(text: &str) -> String {
    let prints = |c: char| {
        use GeneralCategory as C;
        !matches!(
            get_general_category(c),
            C::Control
                | C::Format
                | C::Surrogate
                | C::PrivateUse
                | C::Unassigned
                | C::LineSeparator
                | C::ParagraphSeparator
                | C::SpaceSeparator
        ) || c == ' '
    };
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|&c| prints(c)).collect()
}
