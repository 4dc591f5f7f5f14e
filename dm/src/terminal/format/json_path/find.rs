//! The values at a path. Keys that are missing find nothing.

use std::cmp::Ordering;

use serde_json::Value;

use super::parse::{Comparison, Condition, Operand, Part, Step};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    #[error("array index out of bounds: index {index}, length {length}")]
    Index { index: i64, length: usize },
    #[error("a condition of the JSONPath compares {left} with {right}: they have different types")]
    Compare { left: String, right: String },
    #[error(
        "a condition of the JSONPath can compare one value at a time, and its path has several"
    )]
    Several,
}

type Found<'v> = Result<Vec<&'v Value>, FindError>;

/// The values at a path, from `current` on.
pub fn all<'v>(path: &[Step], root: &'v Value, current: &'v Value) -> Found<'v> {
    let mut found = vec![current];
    for step in path {
        let mut next = Vec::new();
        match step {
            Step::Root => next.push(root),
            // All values of the first path, then all of the second one.
            Step::Union(paths) => {
                for path in paths {
                    for &value in &found {
                        next.extend(all(path, root, value)?);
                    }
                }
            }
            step => {
                for value in found {
                    next.extend(one(step, root, value)?);
                }
            }
        }
        found = next;
    }
    Ok(found)
}

fn one<'v>(step: &Step, root: &'v Value, value: &'v Value) -> Found<'v> {
    match step {
        // The caller knows all values at once.
        Step::Root | Step::Union(_) => Ok(Vec::new()),
        Step::Key(key) => Ok(value.get(key).into_iter().collect()),
        Step::Each => Ok(children(value)),
        Step::Descend => {
            let mut found = Vec::new();
            descend(value, &mut found);
            Ok(found)
        }
        Step::Part(part) => match value.as_array() {
            Some(items) => items_of(*part, items),
            None => Ok(Vec::new()),
        },
        Step::Where(condition) => {
            let mut found = Vec::new();
            for item in value.as_array().into_iter().flatten() {
                if holds(condition, root, item)? {
                    found.push(item);
                }
            }
            Ok(found)
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// As deep as the document, whose depth its reader limits.
fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
    found.push(value);
    for child in children(value) {
        descend(child, found);
    }
}

fn items_of(part: Part, items: &[Value]) -> Found<'_> {
    let length = items.len();
    // Negative numbers count from the end.
    let place = |number: i64| match number {
        0.. => usize::try_from(number).ok(),
        _ => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    };
    match part {
        Part::Index(index) => match place(index).and_then(|place| items.get(place)) {
            Some(item) => Ok(vec![item]),
            None => Err(FindError::Index { index, length }),
        },
        Part::Slice { from, to, by } => {
            let from = from.map_or(0, |from| place(from).unwrap_or(0));
            let to = to.map_or(length, |to| place(to).unwrap_or(0)).min(length);
            let part = items.get(from..to).unwrap_or_default();
            Ok(part.iter().step_by(by).collect())
        }
    }
}

fn holds(condition: &Condition, root: &Value, item: &Value) -> Result<bool, FindError> {
    let left = operand(&condition.left, root, item)?;
    let Some((comparison, right)) = &condition.compared else {
        return Ok(!left.is_empty());
    };
    let right = operand(right, root, item)?;
    match (&left[..], &right[..]) {
        ([left], [right]) => compare(left, *comparison, right),
        ([], _) | (_, []) => Ok(false),
        _ => Err(FindError::Several),
    }
}

fn operand<'v>(operand: &'v Operand, root: &'v Value, item: &'v Value) -> Found<'v> {
    match operand {
        Operand::Path(path) => all(path, root, item),
        Operand::Literal(value) => Ok(vec![value]),
    }
}

fn compare(left: &Value, comparison: Comparison, right: &Value) -> Result<bool, FindError> {
    let different = || FindError::Compare {
        left: left.to_string(),
        right: right.to_string(),
    };
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64(), right.as_f64());
            left.partial_cmp(&right).ok_or_else(different)?
        }
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        _ => return Err(different()),
    };
    Ok(match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    })
}
