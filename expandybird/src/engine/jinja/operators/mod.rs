//! Arithmetic, comparison, slices and literals like Python's, with limits. [`super::rewrite`] turns operators into
//! calls of these functions.

pub(super) mod chain;
pub(super) mod slice;

use minijinja::value::{Rest, Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

pub use super::formatting::percent;
use super::globals::range::Range;
use super::signature::variadic::Variadic;
use super::values::list::List;
use super::values::{order, python, repr};
use super::{meter, values};

pub const ADD: &str = "__add__";
pub const SUBTRACT: &str = "__sub__";
pub const CONCAT: &str = "__concat__";
pub const MODULO: &str = "__mod__";
pub const DIVIDE: &str = "__truediv__";
pub const FLOOR: &str = "__floordiv__";
pub const POWER: &str = "__pow__";
/// A power whose base is a constant and whose exponent is none: `-1 ** x` is `-(1 ** x)`. Jinja2 computes the base while
/// it compiles, and writes it without brackets.
pub const CONSTANT_POWER: &str = "__constpow__";
pub const NEGATIVE: &str = "__neg__";
pub const POSITIVE: &str = "__pos__";
/// Wraps a literal or an assigned value: makes a copy that the template can change.
pub const OWN: &str = "__own__";
/// Wraps the value that a loop iterates over.
pub const EACH: &str = "__each__";
/// The same where the loop unpacks its items and has a condition: Jinja2 packs them again, as tuples.
pub const EACH_TUPLE: &str = "__each_tuple__";
/// Wraps a macro that takes any arguments.
pub const VARIADIC: &str = "__variadic__";
/// Replaces a default that is evaluated later: never defined.
pub const LATER: &str = "__later__";
pub const MULTIPLY: &str = "__mul__";
/// A comparison. [`self::chain`] has those of a chain.
pub const COMPARE: &str = "__compare__";
/// Replaces the arguments of `loop.cycle()`, because minijinja divides by their number.
pub const NO_ITEMS: &str = "__no_items__";
/// A method of all values: `x[a:b:c]`.
pub const SLICE: &str = "__slice__";

/// An operator with two values.
pub type Binary = fn(&Value, &Value) -> Result<Value, Error>;

/// The calls that operators become, and the operators.
pub const BINARY: [(&str, &str, Binary); 7] = [
    (ADD, "+", add),
    (SUBTRACT, "-", subtract),
    (MULTIPLY, "*", multiply),
    (DIVIDE, "/", divide),
    (FLOOR, "//", floor),
    (MODULO, "%", modulo),
    (POWER, "**", power),
];

pub fn register(environment: &mut Environment<'_>) {
    for (name, _, operator) in BINARY {
        environment.add_function(name, move |a: &Value, b: &Value| operator(a, b));
    }
    environment.add_function(CONSTANT_POWER, constant_power);
    environment.add_function(CONCAT, |parts: Rest<Value>| concat(&parts));
    environment.add_function(NEGATIVE, |value: &Value| negative(value));
    environment.add_function(POSITIVE, |value: &Value| positive(value));
    environment.add_function(COMPARE, |a: &Value, operator: &str, b: &Value| {
        order::holds(a, operator, b)
    });
    environment.add_function(NO_ITEMS, || {
        Err::<Value, _>(invalid("no items for cycling given"))
    });
    environment.add_function(OWN, values::own);
    environment.add_function(EACH, values::each);
    environment.add_function(EACH_TUPLE, values::each_tuple);
    environment.add_function(VARIADIC, Variadic::wrap);
}

fn concat(parts: &[Value]) -> Result<Value, Error> {
    meter::text(|out| parts.iter().try_for_each(|part| repr::write_str(out, part))).map(Value::from)
}

pub fn add(a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        meter::check(left.len() + right.len())?;
        return Ok(Value::from([left, right].concat()));
    }
    if is_list(a) && is_list(b) && python::is_tuple(a) == python::is_tuple(b) {
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
    match python::is_tuple(a) {
        true => Ok(Value::from(Tuple::new(items))),
        false => List::make(items.into_iter()),
    }
}

/// The product of numbers, or a repeated text or list.
pub fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
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
    let is_repeated = value.as_str().is_some() || is_list(value);
    if is_repeated && i64::try_from(times).is_err() {
        return Some(Err(invalid("cannot fit 'int' into an index-sized integer")));
    }
    let times = usize::try_from(times.max(0)).unwrap_or(usize::MAX);
    if let Some(text) = value.as_str() {
        let bytes = text.len().saturating_mul(times);
        return Some(meter::check(bytes).map(|()| Value::from(text.repeat(times))));
    }
    is_list(value).then(|| {
        let items = values::items(value)?;
        let times = if items.is_empty() { 0 } else { times };
        meter::charge(
            items
                .len()
                .saturating_mul(times)
                .saturating_mul(size_of::<Value>()),
        )?;
        let repeated = (0..times).flat_map(|_| items.iter().cloned());
        match python::is_tuple(value) {
            true => Ok(Value::from(Tuple::new(repeated.collect()))),
            false => List::make(repeated),
        }
    })
}

pub fn modulo(a: &Value, b: &Value) -> Result<Value, Error> {
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
        (Some(_), Some(b)) if b.float() == 0.0 => Err(invalid("float modulo by zero")),
        (Some(a), Some(b)) => Ok(Value::from(float_parts(a.float(), b.float()).1)),
        _ => Err(unsupported("%", a, b)),
    }
}

/// The quotient without its fraction, and the remainder with the sign of the divisor: CPython's `float_divmod`.
fn float_parts(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(b);
    } else if (rest < 0.0) != (b < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(a / b), rest);
    }
    let whole = quotient.floor();
    (
        if quotient - whole > 0.5 {
            whole + 1.0
        } else {
            whole
        },
        rest,
    )
}

fn subtract(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            a.checked_sub(b).map(integer).ok_or_else(overflow)
        }
        (Some(a), Some(b)) => Ok(Value::from(a.float() - b.float())),
        _ => Err(unsupported("-", a, b)),
    }
}

/// A float for any operands.
fn divide(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(_), Some(b)) if b.float() == 0.0 => Err(invalid("division by zero")),
        (Some(Number::Int(a)), Some(Number::Int(b))) => Ok(Value::from(quotient(a, b))),
        (Some(a), Some(b)) => Ok(Value::from(a.float() / b.float())),
        _ => Err(unsupported("/", a, b)),
    }
}

/// The float nearest to the quotient of two integers, like Python's: large integers are not exact as floats.
#[expect(
    clippy::cast_precision_loss,
    reason = "the digits that are lost are rounded as Python rounds them"
)]
fn quotient(a: i128, b: i128) -> f64 {
    /// Integers up to this value are exact as floats.
    const EXACT: u128 = 1 << 53;
    /// Bits of a quotient that is rounded only once, with one bit for the remainder.
    const BITS: u32 = 62;
    let (top, bottom) = (a.unsigned_abs(), b.unsigned_abs());
    let sign = if (a < 0) == (b < 0) { 1.0 } else { -1.0 };
    if top <= EXACT && bottom <= EXACT {
        return sign * (top as f64 / bottom as f64);
    }
    let (mut whole, mut rest) = (top / bottom, top % bottom);
    let mut exponent = 0;
    while whole < 1 << BITS && rest != 0 && bottom <= u128::MAX / 2 {
        let (doubled, digit) = match rest >= bottom - rest {
            true => (rest - (bottom - rest), 1),
            false => (rest * 2, 0),
        };
        (whole, rest) = (whole * 2 + digit, doubled);
        exponent += 1;
    }
    let sticky = whole | u128::from(rest != 0);
    sign * (sticky as f64) * 2f64.powi(-exponent)
}

fn floor(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(Number::Int(_)), Some(Number::Int(0))) => {
            Err(invalid("integer division or modulo by zero"))
        }
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            let quotient = a.checked_div(b).ok_or_else(overflow)?;
            let is_inexact = a % b != 0 && (a < 0) != (b < 0);
            Ok(integer(quotient - i128::from(is_inexact)))
        }
        (Some(_), Some(b)) if b.float() == 0.0 => Err(invalid("float floor division by zero")),
        (Some(a), Some(b)) => Ok(Value::from(float_parts(a.float(), b.float()).0)),
        _ => Err(unsupported("//", a, b)),
    }
}

/// Integers stay integers unless the exponent is negative.
pub fn power(a: &Value, b: &Value) -> Result<Value, Error> {
    match (number(a), number(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) if b >= 0 => {
            let trivial = matches!(a, -1..=1);
            let exponent = if trivial { b.min(2 + b % 2) } else { b };
            let power = u32::try_from(exponent)
                .ok()
                .and_then(|exponent| a.checked_pow(exponent));
            power.map(integer).ok_or_else(overflow)
        }
        (Some(a), Some(b)) => {
            let (a, b) = (a.float(), b.float());
            let power = a.powf(b);
            match (
                a == 0.0 && b < 0.0,
                power.is_nan() && !a.is_nan() && !b.is_nan(),
            ) {
                (true, _) => Err(invalid("0.0 cannot be raised to a negative power")),
                (_, true) => Err(invalid("the power is a complex number")),
                _ if power.is_infinite() && a.is_finite() && b.is_finite() => {
                    Err(invalid("Numerical result out of range"))
                }
                _ => Ok(Value::from(power)),
            }
        }
        _ => Err(unsupported("**", a, b)),
    }
}

fn constant_power(a: &Value, b: &Value) -> Result<Value, Error> {
    match number(a).is_some_and(|base| base.float().is_sign_negative()) {
        true => negative(&power(&negative(a)?, b)?),
        false => power(a, b),
    }
}

fn negative(value: &Value) -> Result<Value, Error> {
    match number(value) {
        Some(Number::Int(number)) => number.checked_neg().map(integer).ok_or_else(overflow),
        Some(Number::Float(number)) => Ok(Value::from(-number)),
        None => Err(unsupported_sign("-", value)),
    }
}

fn positive(value: &Value) -> Result<Value, Error> {
    match number(value) {
        Some(Number::Int(number)) => Ok(integer(number)),
        Some(Number::Float(_)) => Ok(value.clone()),
        None => Err(unsupported_sign("+", value)),
    }
}

fn unsupported_sign(sign: &str, value: &Value) -> Error {
    match value.is_undefined() {
        true => python::undefined(value, "has no sign"),
        false => invalid(&format!(
            "bad operand type for unary {sign}: '{}'",
            repr::type_name(value)
        )),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "as Python does it")]
    pub fn float(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

/// Booleans are integers, in Python.
pub fn number(value: &Value) -> Option<Number> {
    match value.kind() {
        ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => {
            i128::try_from(value.clone()).ok().map(Number::Int)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
        _ => None,
    }
}

pub fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

/// A list or a tuple. A range can be neither added nor repeated.
fn is_list(value: &Value) -> bool {
    python::is_list(value) && value.downcast_object_ref::<Range>().is_none()
}

pub fn overflow() -> Error {
    invalid("an integer of more than 128 bits")
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.to_owned())
}

fn unsupported(operator: &str, a: &Value, b: &Value) -> Error {
    if let Some(missing) = [a, b].into_iter().find(|value| value.is_undefined()) {
        return python::undefined(missing, "cannot be computed with");
    }
    invalid(&format!(
        "unsupported operand types for {operator}: {} and {}",
        repr::type_name(a),
        repr::type_name(b)
    ))
}
