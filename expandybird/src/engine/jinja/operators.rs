//! `%`, `*`, `+`, `~` and comparisons as Python has them, bounded; [`super::rewrite`] turns the operators into calls of these.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

use super::list::List;
use super::variadic::Variadic;
use super::{meter, order, repr, values};

pub const ADD: &str = "__add__";
pub const CONCAT: &str = "__concat__";
pub const MODULO: &str = "__mod__";
/// Around a literal, and around what is assigned: makes it a template's own.
pub const OWN: &str = "__own__";
/// Around what a loop goes through.
pub const EACH: &str = "__each__";
/// Around a macro that takes any arguments.
pub const VARIADIC: &str = "__variadic__";
/// In place of a default that is evaluated later: never defined.
pub const LATER: &str = "__later__";
pub const MULTIPLY: &str = "__mul__";
/// Values, and what stands between them.
pub const COMPARE: &str = "__compare__";

pub fn register(environment: &mut Environment<'_>) {
    environment.add_function(ADD, |a: &Value, b: &Value| add(a, b));
    environment.add_function(CONCAT, |parts: minijinja::value::Rest<Value>| {
        concat(&parts)
    });
    environment.add_function(MULTIPLY, |a: &Value, b: &Value| multiply(a, b));
    environment.add_function(COMPARE, |chain: minijinja::value::Rest<Value>| {
        order::holds(&chain)
    });
    environment.add_function(OWN, values::own);
    environment.add_function(EACH, values::each);
    environment.add_function(VARIADIC, Variadic::wrap);
    environment.add_function(MODULO, |a: &Value, b: &Value| modulo(a, b));
}

fn concat(parts: &[Value]) -> Result<Value, Error> {
    meter::text(|out| parts.iter().try_for_each(|part| repr::write_str(out, part))).map(Value::from)
}

fn add(a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        meter::check(left.len() + right.len())?;
        return Ok(Value::from([left, right].concat()));
    }
    if is_list(a) && is_list(b) && is_tuple(a) == is_tuple(b) {
        return join(a, b);
    }
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            a.checked_add(b).map(integer).ok_or_else(overflow)
        }
        (Some(a), Some(b)) => Ok(Value::from(a.float() + b.float())),
        _ => Err(unsupported("+", a, b)),
    }
}

fn join(a: &Value, b: &Value) -> Result<Value, Error> {
    let mut items = values::items(a)?;
    items.extend(values::items(b)?);
    match is_tuple(a) {
        true => Ok(Value::from(Tuple::new(items))),
        false => List::make(items.into_iter()),
    }
}

/// Numbers, or a text or a list so many times.
fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            a.checked_mul(b).map(integer).ok_or_else(overflow)
        }
        (Some(a), Some(b)) => Ok(Value::from(a.float() * b.float())),
        (None, Some(Number::Int(times))) => {
            repeat(a, times).unwrap_or_else(|| Err(unsupported("*", a, b)))
        }
        (Some(Number::Int(times)), None) => {
            repeat(b, times).unwrap_or_else(|| Err(unsupported("*", a, b)))
        }
        _ => Err(unsupported("*", a, b)),
    }
}

fn repeat(value: &Value, times: i128) -> Option<Result<Value, Error>> {
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    if let Some(text) = value.as_str() {
        let bytes = text.len().saturating_mul(times);
        return Some(meter::check(bytes).map(|()| Value::from(text.repeat(times))));
    }
    is_list(value).then(|| {
        let items = values::items(value)?;
        meter::charge(
            items
                .len()
                .saturating_mul(times)
                .saturating_mul(size_of::<Value>()),
        )?;
        let repeated = (0..times).flat_map(|_| items.iter().cloned());
        match is_tuple(value) {
            true => Ok(Value::from(Tuple::new(repeated.collect()))),
            false => List::make(repeated),
        }
    })
}

fn modulo(a: &Value, b: &Value) -> Result<Value, Error> {
    if let Some(text) = a.as_str() {
        return percent(text, b);
    }
    match (number(a), number(b)) {
        (Some(Number::Int(_)), Some(Number::Int(0))) => Err(invalid("integer modulo by zero")),
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            let rest = a.checked_rem(b).ok_or_else(overflow)?;
            Ok(integer(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            }))
        }
        (Some(a), Some(b)) if b.float() == 0.0 => Err(invalid(&format!(
            "float modulo by zero: {} % 0.0",
            a.float()
        ))),
        (Some(a), Some(b)) => {
            let (a, b) = (a.float(), b.float());
            let rest = a % b;
            Ok(Value::from(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            }))
        }
        _ => Err(unsupported("%", a, b)),
    }
}

/// `'%s-%d' % (a, b)`: a tuple gives its items, a map its names, anything else itself.
pub fn percent(text: &str, argument: &Value) -> Result<Value, Error> {
    check_widths(text)?;
    let arguments: Vec<Value> = match argument.downcast_object_ref::<Tuple>() {
        Some(tuple) => tuple.to_vec(),
        None => vec![argument.clone()],
    };
    let conversions = conversions(text);
    let is_tuple = argument.downcast_object_ref::<Tuple>().is_some();
    let has_letters = text.replace("%%", "").contains('%');
    if is_tuple && arguments.len() > conversions.len() && (!conversions.is_empty() || !has_letters)
    {
        return Err(invalid(
            "not all arguments converted during string formatting",
        ));
    }
    let shown = arguments.iter().enumerate().map(|(index, value)| {
        let conversion = conversions.get(index).map(|&at| text.as_bytes()[at]);
        printable(value, conversion)
    });
    let shown: Vec<Value> = shown.collect::<Result<_, _>>()?;
    let mut text = text.to_owned();
    for &at in conversions
        .iter()
        .filter(|&&at| matches!(text.as_bytes()[at], b'r' | b'a'))
        .collect::<Vec<_>>()
    {
        text.replace_range(at..=at, "s");
    }
    let formatted = format(FormatStyle::Printf, &text, &shown)?;
    meter::check(formatted.len())?;
    Ok(Value::from(formatted))
}

/// Where the letters of the conversions stand that take an argument each; none if they take named ones.
fn conversions(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(percent) = text[at..].find('%').map(|offset| at + offset) {
        let flags = bytes[percent + 1..]
            .iter()
            .take_while(|byte| b"#0- +.123456789".contains(byte))
            .count();
        let letter = percent + 1 + flags;
        match bytes.get(letter) {
            Some(b'%') => {}
            Some(letter_byte) if letter_byte.is_ascii_alphabetic() => found.push(letter),
            _ => return Vec::new(),
        }
        at = letter + 1;
    }
    found
}

/// Lists and maps as Python prints them, `%d` of a float without its fraction, `%r` and `%a` of anything
/// as its `repr`; a map of named arguments stays a map.
fn printable(value: &Value, conversion: Option<u8>) -> Result<Value, Error> {
    match (conversion, value.kind()) {
        (Some(b'r'), _) => meter::text(|out| repr::write_repr(out, value, 0)).map(Value::from),
        (Some(b'a'), _) => {
            let shown = meter::text(|out| repr::write_repr(out, value, 0))?;
            meter::text(|out| shown.chars().try_for_each(|c| write_ascii(out, c))).map(Value::from)
        }
        (Some(b'd' | b'i' | b'u'), ValueKind::Number) if !value.is_integer() => {
            let whole = f64::try_from(value.clone())?.trunc();
            i128::try_from(Value::from(whole)).map(integer)
        }
        (Some(b's'), ValueKind::Number)
        | (_, ValueKind::Seq | ValueKind::Iterable | ValueKind::None | ValueKind::Undefined) => {
            meter::text(|out| repr::write_str(out, value)).map(Value::from)
        }
        (Some(b's'), ValueKind::Map) => {
            meter::text(|out| repr::write_str(out, value)).map(Value::from)
        }
        _ => Ok(value.clone()),
    }
}

/// As Python's `ascii` writes what is none.
fn write_ascii(out: &mut dyn std::fmt::Write, character: char) -> std::fmt::Result {
    match u32::from(character) {
        0..=0x7f => out.write_char(character),
        code @ 0x80..=0xff => write!(out, "\\x{code:02x}"),
        code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
        code => write!(out, "\\U{code:08x}"),
    }
}

/// A width or precision of millions is an attack on memory.
pub fn check_widths(text: &str) -> Result<(), Error> {
    const DIGITS: usize = 5;
    let mut run = 0;
    for (index, byte) in text.bytes().enumerate() {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        if run > DIGITS
            && text[..index]
                .rfind(['%', '{'])
                .is_some_and(|at| index - at <= run + 4)
        {
            return Err(Error::new(
                ErrorKind::WriteFailure,
                "a width of more than 99999 characters",
            ));
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "as Python does it")]
    fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

/// Booleans are integers, in Python.
fn number(value: &Value) -> Option<Number> {
    match value.kind() {
        ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).ok().map(Number::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
        _ => None,
    }
}

fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

fn is_list(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn is_tuple(value: &Value) -> bool {
    value.downcast_object_ref::<Tuple>().is_some()
}

fn overflow() -> Error {
    invalid("an integer of more than 128 bits")
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.to_owned())
}

fn unsupported(operator: &str, a: &Value, b: &Value) -> Error {
    if a.is_undefined() || b.is_undefined() {
        return Error::new(
            ErrorKind::UndefinedError,
            format!("an operand of {operator} is undefined"),
        );
    }
    invalid(&format!(
        "unsupported operand types for {operator}: {} and {}",
        a.kind(),
        b.kind()
    ))
}
