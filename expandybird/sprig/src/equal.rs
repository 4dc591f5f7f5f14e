//! Equality with types, as Go's `reflect.DeepEqual` sees it.

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::Limit;
use expandybird_gotemplate::value::{List, Map, Value};

/// Whether both have the same type and the same contents. `int` 3 and `float64` 3 differ.
///
/// # Errors
/// The budget ends, or the values are nested too deeply.
pub fn deep_equal(budget: &mut Budget, left: &Value, right: &Value) -> Result<bool, Limit> {
    budget.spend(1)?;
    Ok(match (left, right) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(kind, left), Value::Int(other, right)) => kind == other && left == right,
        (Value::Uint(kind, left), Value::Uint(other, right)) => kind == other && left == right,
        #[expect(clippy::float_cmp, reason = "Go compares them exactly")]
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) | (Value::Bytes(left), Value::Bytes(right)) => {
            left == right
        }
        (Value::List(left), Value::List(right)) => return equal_lists(budget, left, right),
        (Value::Map(left), Value::Map(right)) => return equal_maps(budget, left, right),
        (Value::Object(left), Value::Object(right)) => {
            left.type_name() == right.type_name() && left.is_equal(&**right)
        }
        _ => false,
    })
}

fn equal_lists(budget: &mut Budget, left: &List, right: &List) -> Result<bool, Limit> {
    let (items, others) = (left.items(), right.items());
    if left.type_text() != right.type_text()
        || left.is_nil() != right.is_nil()
        || items.len() != others.len()
    {
        return Ok(false);
    }
    budget.enter()?;
    for (item, other) in items.iter().zip(others) {
        if !deep_equal(budget, item, other)? {
            budget.leave();
            return Ok(false);
        }
    }
    budget.leave();
    Ok(true)
}

fn equal_maps(budget: &mut Budget, left: &Map, right: &Map) -> Result<bool, Limit> {
    if left.type_text() != right.type_text() || left.is_nil() != right.is_nil() {
        return Ok(false);
    }
    if left.is_same(right) {
        return Ok(true);
    }
    if left.len() != right.len() {
        return Ok(false);
    }
    budget.enter()?;
    for (key, value) in left.entries() {
        let equal = match right.get(&key) {
            Some(other) => deep_equal(budget, &value, &other)?,
            None => false,
        };
        if !equal {
            budget.leave();
            return Ok(false);
        }
    }
    budget.leave();
    Ok(true)
}
