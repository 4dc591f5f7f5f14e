//! JSON, as Go's `encoding/json` writes and reads it.

mod complaint;

use data_encoding::BASE64;
use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::{Failure, Limit};
use expandybird_gotemplate::format::{MAX_VALUE_DEPTH, format_float};
use expandybird_gotemplate::text::{RUNE_ERROR, runes};
use expandybird_gotemplate::value::{Call, Function, GoString, Numbers, Object, Type, Value};

const ANY: &[Type] = &[Type::Any];

/// The functions of JSON that Helm does not replace.
pub const FUNCTIONS: &[Function] = &[
    Function::new("toJson", ANY, |call| or_empty(call, Style::COMPACT)),
    Function::new("mustToJson", ANY, |call| or_failure(call, Style::COMPACT)),
    Function::new("toPrettyJson", ANY, |call| or_empty(call, Style::PRETTY)),
    Function::new("mustToPrettyJson", ANY, |call| {
        or_failure(call, Style::PRETTY)
    }),
    Function::new("toRawJson", ANY, |call| or_failure(call, Style::RAW)),
    Function::new("mustToRawJson", ANY, |call| or_failure(call, Style::RAW)),
    Function::new("fromJson", &[Type::String], |call| {
        Ok(read(call)?.unwrap_or_default())
    }),
    Function::new("mustFromJson", &[Type::String], |call| {
        read(call)?.map_err(Failure::new)
    }),
];

/// How a document looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Spaces a level; none for one line.
    indent: usize,
    /// Whether `<`, `>` and `&` are written as escapes.
    escapes_html: bool,
}

impl Style {
    /// One line.
    pub const COMPACT: Self = Self {
        indent: 0,
        escapes_html: true,
    };
    /// Two spaces a level.
    pub const PRETTY: Self = Self {
        indent: 2,
        escapes_html: true,
    };
    /// One line, with `<`, `>` and `&` as they are.
    pub const RAW: Self = Self {
        indent: 0,
        escapes_html: false,
    };
}

/// Why a value has no JSON.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// Infinity or not a number.
    #[error("json: unsupported value: {0}")]
    Number(String),
    /// Maps that contain themselves, or deeper than any document.
    #[error("json: unsupported value: encountered a cycle")]
    Cycle,
    /// A function.
    #[error("json: unsupported type: {0}")]
    Type(String),
    /// The budget of the run ended.
    #[error(transparent)]
    Limit(#[from] Limit),
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::Limit(limit) => limit.into(),
            other => Self::new(other.to_string()),
        }
    }
}

fn or_failure(call: &mut Call<'_>, style: Style) -> Result<Value, Failure> {
    let value = call.argument(0)?;
    Ok(Value::string(encode(call.budget(), value, style)?))
}

/// Without a text where there is no JSON. A limit still ends the run.
fn or_empty(call: &mut Call<'_>, style: Style) -> Result<Value, Failure> {
    let value = call.argument(0)?;
    match encode(call.budget(), value, style) {
        Ok(json) => Ok(Value::string(json)),
        Err(EncodeError::Limit(limit)) => Err(limit.into()),
        Err(_) => Ok("".into()),
    }
}

fn read(call: &mut Call<'_>) -> Result<Result<Value, String>, Failure> {
    let text = call.string(0)?;
    call.budget().spend_string(text.len())?;
    Ok(decode(text))
}

/// The value of a document, with floats for all numbers, or Go's error text.
pub fn decode(text: &[u8]) -> Result<Value, String> {
    match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(json) => Ok(Value::from_json(&json, Numbers::Floats)),
        Err(_) => Err(complaint::about(text)),
    }
}

/// The document.
///
/// # Errors
/// The value has no JSON, or the budget ended.
pub fn encode(budget: &mut Budget, value: &Value, style: Style) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder {
        budget,
        style,
        out: Vec::new(),
        level: 0,
    };
    encoder.value(value)?;
    let Encoder { out, .. } = encoder;
    Ok(out)
}

/// Takes a step for a value, and holds what is written to the limit of a text.
///
/// # Errors
/// The budget ended.
pub fn check(budget: &mut Budget, bytes: usize) -> Result<(), Limit> {
    let most = budget.limits().string_bytes;
    if bytes > most {
        return Err(Limit::String(most));
    }
    budget.spend(1)
}

/// What JSON has for a struct that is not written with its fields.
pub fn plain(object: &dyn Object) -> Option<Value> {
    let written = crate::time::in_json(object);
    written.or_else(|| object.text().map(Value::String))
}

/// The fields of a struct with their values.
pub fn fields(object: &dyn Object) -> Vec<(GoString, Value)> {
    let field = |name: &&'static str| Some((GoString::from(*name), object.field(name)?));
    object.field_names().iter().filter_map(field).collect()
}

struct Encoder<'a> {
    budget: &'a mut Budget,
    style: Style,
    out: Vec<u8>,
    level: usize,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value) -> Result<(), EncodeError> {
        check(self.budget, self.out.len())?;
        match value {
            Value::Nil => self.write("null"),
            Value::Bool(truth) => self.write(if *truth { "true" } else { "false" }),
            Value::Int(_, number) => self.write(&number.to_string()),
            Value::Uint(_, number) => self.write(&number.to_string()),
            Value::Float(number) => self.write(&float(*number)?),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => self.string(BASE64.encode(bytes).as_bytes()),
            Value::List(list) if list.is_nil() => self.write("null"),
            Value::List(list) => return self.list(list.items()),
            Value::Map(map) if map.is_nil() => self.write("null"),
            Value::Map(map) => return self.entries(&map.entries()),
            Value::Object(object) => return self.object(&**object),
            Value::Function(_) => return Err(EncodeError::Type(value.type_text())),
        }
        Ok(())
    }

    fn write(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn list(&mut self, items: &[Value]) -> Result<(), EncodeError> {
        self.container(b"[]", items, |encoder, item| encoder.value(item))
    }

    fn entries(&mut self, entries: &[(GoString, Value)]) -> Result<(), EncodeError> {
        self.container(b"{}", entries, |encoder, (key, value)| {
            encoder.string(key);
            encoder.write(if encoder.style.indent == 0 { ":" } else { ": " });
            encoder.value(value)
        })
    }

    /// A struct with its fields, or what it prints as.
    fn object(&mut self, object: &dyn Object) -> Result<(), EncodeError> {
        match plain(object) {
            Some(value) => self.value(&value),
            None => self.entries(&fields(object)),
        }
    }

    fn container<T>(
        &mut self,
        brackets: &[u8; 2],
        items: &[T],
        write: impl Fn(&mut Self, &T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        if self.level >= MAX_VALUE_DEPTH {
            return Err(EncodeError::Cycle);
        }
        let [open, close] = *brackets;
        self.out.push(open);
        self.level += 1;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.break_line();
            write(self, item)?;
        }
        self.level -= 1;
        if !items.is_empty() {
            self.break_line();
        }
        self.out.push(close);
        Ok(())
    }

    fn break_line(&mut self) {
        if self.style.indent > 0 {
            let width = self.level.saturating_mul(self.style.indent);
            self.out.push(b'\n');
            self.out.resize(self.out.len() + width, b' ');
        }
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for rune in runes(text) {
            self.rune(rune);
        }
        self.out.push(b'"');
    }

    fn rune(&mut self, rune: char) {
        match rune {
            '"' => self.write("\\\""),
            '\\' => self.write("\\\\"),
            '\n' => self.write("\\n"),
            '\r' => self.write("\\r"),
            '\t' => self.write("\\t"),
            '\u{8}' => self.write("\\b"),
            '\u{c}' => self.write("\\f"),
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                self.write(&format!("\\u{:04x}", u32::from(rune)))
            }
            '<' | '>' | '&' if self.style.escapes_html => {
                self.write(&format!("\\u{:04x}", u32::from(rune)))
            }
            RUNE_ERROR => self.write("\u{fffd}"),
            _ => {
                let mut buffer = [0; 4];
                self.write(rune.encode_utf8(&mut buffer));
            }
        }
    }
}

/// Plain digits, or an exponent from 1e21 on and below 1e-6.
pub fn float(number: f64) -> Result<String, EncodeError> {
    if !number.is_finite() {
        return Err(EncodeError::Number(format_float(number, 'g', None)));
    }
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return Ok(format_float(number, 'f', None));
    }
    // Go's `e-09` becomes `e-9`.
    Ok(format_float(number, 'e', None).replace("e-0", "e-"))
}
