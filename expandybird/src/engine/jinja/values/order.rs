//! The order of values in Python: numbers with numbers, texts with texts, lists item by item. Other comparisons are
//! errors.

use std::cmp::Ordering;

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

use super::{dict, python, repr};
use crate::engine::jinja::globals::range::Range;
use crate::engine::jinja::meter;
use crate::engine::jinja::values;

/// Sorts by a key. Equal items stay in their order.
pub fn sort(
    items: &mut Vec<Value>,
    reverse: bool,
    key: impl Fn(&Value) -> Result<Value, Error>,
) -> Result<(), Error> {
    let keyed = items.drain(..).map(|item| Ok((key(&item)?, item)));
    let mut keyed: Vec<(Value, Value)> = keyed.collect::<Result<_, Error>>()?;
    let mut failure = None;
    keyed.sort_by(|(a, _), (b, _)| {
        if failure.is_some() {
            return Ordering::Equal;
        }
        let (a, b) = if reverse { (b, a) } else { (a, b) };
        compare(a, b).unwrap_or_else(|error| {
            failure = Some(error);
            Ordering::Equal
        })
    });
    items.extend(keyed.into_iter().map(|(_, item)| item));
    failure.map_or(Ok(()), Err)
}

/// Whether `a < b`, `a in b` and similar hold.
pub fn holds(a: &Value, operator: &str, b: &Value) -> Result<bool, Error> {
    Ok(match operator {
        "==" => equal(a, b)?,
        "!=" => !equal(a, b)?,
        "in" => contains(b, a)?,
        "not in" => !contains(b, a)?,
        _ if is_nan(a) && is_number(b) || is_nan(b) && is_number(a) => false,
        "<" => compare(a, b)?.is_lt(),
        "<=" => compare(a, b)?.is_le(),
        ">" => compare(a, b)?.is_gt(),
        _ => compare(a, b)?.is_ge(),
    })
}

/// `a == b`: numbers by value, lists and maps by content, other values by identity.
pub fn equal(a: &Value, b: &Value) -> Result<bool, Error> {
    meter::look()?;
    if is_number(a) && is_number(b) {
        return Ok(number(a) == number(b) && !is_nan(a));
    }
    match (a.kind(), b.kind()) {
        (ValueKind::Seq, ValueKind::Seq) => equal_items(a, b),
        (ValueKind::Map, ValueKind::Map) => equal_maps(a, b),
        (a_kind, b_kind) if a_kind != b_kind => Ok(false),
        _ => Ok(a == b),
    }
}

fn equal_items(a: &Value, b: &Value) -> Result<bool, Error> {
    if python::is_tuple(a) != python::is_tuple(b)
        || is_range(a) != is_range(b)
        || a.len() != b.len()
    {
        return Ok(false);
    }
    for (a, b) in a.try_iter()?.zip(b.try_iter()?) {
        if !equal(&a, &b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(a: &Value, b: &Value) -> Result<bool, Error> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for key in a.try_iter()? {
        let (Some(a), Some(b)) = (found(a, &key), found(b, &key)) else {
            return Ok(false);
        };
        if !equal(&a, &b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn found(map: &Value, key: &Value) -> Option<Value> {
    map.get_item(key).ok().filter(|value| !value.is_undefined())
}

/// `item in container`: a part of a text, an item of a list, a key of a map.
pub fn contains(container: &Value, item: &Value) -> Result<bool, Error> {
    if let Some(text) = container.as_str() {
        let part = item.as_str().ok_or_else(|| {
            let kind = repr::type_name(item);
            invalid(format!(
                "'in <string>' requires string as left operand, not {kind}"
            ))
        })?;
        return Ok(text.contains(part));
    }
    if container.kind() == ValueKind::Map && python::is_map(container) {
        dict::check_key(item)?;
        return Ok(found(container, item).is_some());
    }
    for own in values::items(container)? {
        if equal(&own, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// A number without an order.
fn is_nan(value: &Value) -> bool {
    value.kind() == ValueKind::Number && f64::try_from(value.clone()).is_ok_and(f64::is_nan)
}

/// `a < b`, `a == b` or `a > b`.
pub fn compare(a: &Value, b: &Value) -> Result<Ordering, Error> {
    meter::look()?;
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a.cmp(b));
    }
    if is_number(a) && is_number(b) {
        return Ok(match a == b {
            true => Ordering::Equal,
            false => number(a).cmp(&number(b)),
        });
    }
    let is_list = |value: &Value| value.kind() == ValueKind::Seq && !is_range(value);
    if is_list(a) && is_list(b) && python::is_tuple(a) == python::is_tuple(b) {
        return compare_items(a, b);
    }
    if let Some(missing) = [a, b].into_iter().find(|value| value.is_undefined()) {
        return Err(python::undefined(missing, "has no order"));
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        format!(
            "'<' not supported between instances of '{}' and '{}'",
            repr::type_name(a),
            repr::type_name(b)
        ),
    ))
}

fn compare_items(a: &Value, b: &Value) -> Result<Ordering, Error> {
    let (mut a, mut b) = (a.try_iter()?, b.try_iter()?);
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ok(Ordering::Equal),
            (None, Some(_)) => return Ok(Ordering::Less),
            (Some(_), None) => return Ok(Ordering::Greater),
            (Some(a), Some(b)) if equal(&a, &b)? => {}
            (Some(a), Some(b)) => return compare(&a, &b),
        }
    }
}

fn is_range(value: &Value) -> bool {
    value.downcast_object_ref::<Range>().is_some()
}

fn is_number(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
}

/// Booleans are integers, in Python.
fn number(value: &Value) -> Value {
    match value.kind() {
        ValueKind::Bool => Value::from(i64::from(value.is_true())),
        _ => value.clone(),
    }
}
