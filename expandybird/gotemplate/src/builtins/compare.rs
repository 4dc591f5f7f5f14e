//! Comparison.

use std::cmp::Ordering;

use crate::error::Failure;
use crate::format;
use crate::value::{Slot, Value};

/// The kinds that Go compares by value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    String,
}

fn kind(value: &Value) -> Option<Kind> {
    Some(match value {
        Value::Bool(_) => Kind::Bool,
        Value::Int(..) => Kind::Int,
        Value::Uint(..) => Kind::Uint,
        Value::Float(_) => Kind::Float,
        Value::String(_) => Kind::String,
        _ => return None,
    })
}

fn incompatible(left: &Value, right: &Value) -> Failure {
    let (left, right) = (left.type_text(), right.type_text());
    Failure::new(format!(
        "incompatible types for comparison: {left} and {right}"
    ))
}

/// Whether the first equals one of the others.
pub fn eq(first: &Slot, others: &[Slot]) -> Result<bool, Failure> {
    if others.is_empty() {
        return Err(Failure::new("missing argument for comparison"));
    }
    for other in others {
        if is_equal(&first.value, &other.value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_equal(left: &Value, right: &Value) -> Result<bool, Failure> {
    Ok(match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(_, left), Value::Int(_, right)) => left == right,
        (Value::Uint(_, left), Value::Uint(_, right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Int(_, int), Value::Uint(_, uint)) | (Value::Uint(_, uint), Value::Int(_, int)) => {
            u64::try_from(*int) == Ok(*uint)
        }
        _ if kind(left) != kind(right) => {
            if !matches!(left, Value::Nil) && !matches!(right, Value::Nil) {
                return Err(incompatible(left, right));
            }
            false
        }
        _ => return is_same(left, right),
    })
}

/// Compares nils, lists, maps, functions and objects.
fn is_same(left: &Value, right: &Value) -> Result<bool, Failure> {
    let is_untyped = matches!(left, Value::Nil) || matches!(right, Value::Nil);
    if left.kind_text() != right.kind_text() && !is_untyped {
        return Err(Failure::new(format!(
            "non-comparable types {}: {}, {}: {}",
            format::excerpt(left, 's'),
            left.type_text(),
            right.type_text(),
            format::excerpt(right, 'v'),
        )));
    }
    if left.is_nil() || right.is_nil() {
        return Ok(left.is_nil() == right.is_nil());
    }
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => Ok(left.is_equal(&**right)),
        _ => Err(Failure::new(format!(
            "non-comparable type {}: {}",
            format::excerpt(right, 's'),
            right.type_text(),
        ))),
    }
}

/// Whether the left one comes first.
pub fn lt(left: &Slot, right: &Slot) -> Result<bool, Failure> {
    let (left, right) = (&left.value, &right.value);
    let (Some(left_kind), Some(right_kind)) = (kind(left), kind(right)) else {
        return Err(Failure::new("invalid type for comparison"));
    };
    let ordering = match (left, right) {
        (Value::Int(_, left), Value::Int(_, right)) => left.cmp(right),
        (Value::Uint(_, left), Value::Uint(_, right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => return Ok(left < right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Int(_, left), Value::Uint(_, right)) => {
            u64::try_from(*left).map_or(Ordering::Less, |left| left.cmp(right))
        }
        (Value::Uint(_, left), Value::Int(_, right)) => {
            u64::try_from(*right).map_or(Ordering::Greater, |right| left.cmp(&right))
        }
        _ if left_kind == right_kind => return Err(Failure::new("invalid type for comparison")),
        _ => return Err(incompatible(left, right)),
    };
    Ok(ordering == Ordering::Less)
}

/// Whether the left one comes first, or both are equal.
pub fn le(left: &Slot, right: &Slot) -> Result<bool, Failure> {
    Ok(lt(left, right)? || is_equal(&left.value, &right.value)?)
}
