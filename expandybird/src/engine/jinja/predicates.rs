//! The tests of Jinja 3.1, which follow `is`.

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, Value};

use super::operators;
use super::signature::{Argument, Call, Row, table};
use super::values::{order, python};

pub const ROWS: &[Row] = &[
    ("odd", "value", |call| remainder(call, 1)),
    ("even", "value", |call| remainder(call, 0)),
    ("divisibleby", "value, num", divisibleby),
    ("defined", "value", |mut call| {
        Ok((!call.subject().is_undefined()).into())
    }),
    ("undefined", "value", |mut call| {
        Ok(call.subject().is_undefined().into())
    }),
    ("filter", "value", |mut call| {
        is_known(&call.subject(), super::filters::ROWS)
    }),
    ("test", "value", |mut call| is_known(&call.subject(), ROWS)),
    ("none", "value", |call| is_of(call, |value| value.is_none())),
    ("boolean", "value", |call| {
        is_of(call, |value| value.kind() == ValueKind::Bool)
    }),
    ("false", "value", |call| {
        is_of(call, |value| {
            value.kind() == ValueKind::Bool && !value.is_true()
        })
    }),
    ("true", "value", |call| {
        is_of(call, |value| {
            value.kind() == ValueKind::Bool && value.is_true()
        })
    }),
    ("integer", "value", |call| is_of(call, is_integer)),
    ("float", "value", |call| {
        is_of(call, |value| {
            value.kind() == ValueKind::Number && !value.is_integer()
        })
    }),
    ("lower", "value", lower),
    ("upper", "value", upper),
    ("string", "value", |call| {
        is_of(call, |value| value.kind() == ValueKind::String)
    }),
    ("mapping", "value", |call| is_of(call, python::is_map)),
    ("number", "value", |call| {
        is_of(call, |value| {
            matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
        })
    }),
    ("sequence", "value", |call| is_of(call, is_sequence)),
    ("iterable", "value", |call| {
        is_of(call, |value| {
            is_sequence(value) || value.kind() == ValueKind::Iterable
        })
    }),
    ("callable", "obj, /", |call| {
        // An undefined value can be called too: that is an error, but only then.
        is_of(call, |value| {
            matches!(value.kind(), ValueKind::Plain | ValueKind::Undefined)
        })
    }),
    ("sameas", "value, other", sameas),
    ("escaped", "value", |call| is_of(call, Value::is_safe)),
    ("in", "value, seq", within),
    ("==", "a, b, /", |call| compared(call, "==")),
    ("eq", "a, b, /", |call| compared(call, "==")),
    ("equalto", "a, b, /", |call| compared(call, "==")),
    ("!=", "a, b, /", |call| compared(call, "!=")),
    ("ne", "a, b, /", |call| compared(call, "!=")),
    (">", "a, b, /", |call| compared(call, ">")),
    ("gt", "a, b, /", |call| compared(call, ">")),
    ("greaterthan", "a, b, /", |call| compared(call, ">")),
    (">=", "a, b, /", |call| compared(call, ">=")),
    ("ge", "a, b, /", |call| compared(call, ">=")),
    ("<", "a, b, /", |call| compared(call, "<")),
    ("lt", "a, b, /", |call| compared(call, "<")),
    ("lessthan", "a, b, /", |call| compared(call, "<")),
    ("<=", "a, b, /", |call| compared(call, "<=")),
    ("le", "a, b, /", |call| compared(call, "<=")),
];

pub fn register(environment: &mut Environment<'_>) {
    for (name, function) in table(ROWS) {
        environment.add_test(name, function.into_test());
    }
}

fn is_of(mut call: Call<'_, '_, '_>, holds: fn(&Value) -> bool) -> Result<Value, Error> {
    Ok(Value::from(holds(&call.subject())))
}

fn is_integer(value: &Value) -> bool {
    value.kind() == ValueKind::Number && value.is_integer()
}

/// A value with a length and items. An undefined value has both, a namespace neither.
fn is_sequence(value: &Value) -> bool {
    let is_any = matches!(
        value.kind(),
        ValueKind::Seq | ValueKind::String | ValueKind::Undefined
    );
    is_any || python::is_map(value)
}

fn remainder(mut call: Call<'_, '_, '_>, wanted: i64) -> Result<Value, Error> {
    let rest = operators::modulo(&call.subject(), &Value::from(2))?;
    order::equal(&rest, &Value::from(wanted)).map(Value::from)
}

fn divisibleby(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, number] = call.arguments::<2>().map(Argument::value);
    let rest = operators::modulo(&value, &number)?;
    order::equal(&rest, &Value::from(0)).map(Value::from)
}

fn is_known(name: &Value, rows: &[Row]) -> Result<Value, Error> {
    super::values::dict::check_key(name)?;
    let is_known = rows.iter().any(|(known, ..)| name.as_str() == Some(known));
    Ok(Value::from(is_known))
}

fn lower(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = python::string(&call.subject())?;
    let is_lower = text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase);
    Ok(Value::from(is_lower))
}

fn upper(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let text = python::string(&call.subject())?;
    let is_upper = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    Ok(Value::from(is_upper))
}

/// The same object. For scalars, the same value of the same type. What is undefined is made anew by each look at it.
fn sameas(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, other] = call.arguments::<2>().map(Argument::value);
    let is_same = !value.is_undefined() && minijinja::tests::is_sameas(&value, &other);
    Ok(Value::from(is_same))
}

fn within(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, sequence] = call.arguments::<2>().map(Argument::value);
    order::contains(&sequence, &value).map(Value::from)
}

fn compared(mut call: Call<'_, '_, '_>, operator: &str) -> Result<Value, Error> {
    let [a, b] = call.arguments::<2>().map(Argument::value);
    order::holds(&a, operator, &b).map(Value::from)
}
