//! `index`, `slice` and `len`.

use crate::error::Failure;
use crate::value::{List, Slot, UintKind, Value};

/// Elements of elements.
pub fn index(item: &Slot, indexes: &[Slot]) -> Result<Slot, Failure> {
    if matches!(item.value, Value::Nil) {
        return Err(Failure::new("index of untyped nil"));
    }
    let mut item = item.clone().unboxed();
    for index in indexes {
        item = element(&item, &index.value)?;
    }
    Ok(item)
}

fn element(item: &Slot, index: &Value) -> Result<Slot, Failure> {
    match &item.value {
        Value::Nil => Err(Failure::new("index of nil pointer")),
        Value::String(text) => byte(text, index, "reflect: string index out of range"),
        Value::Bytes(bytes) => byte(bytes, index, "reflect: slice index out of range"),
        Value::List(list) => {
            let position = position(index, list.items().len())?;
            match list.items().get(position) {
                Some(value) => Ok(Slot::element(value.clone(), list.element())),
                None => Err(Failure::new("reflect: slice index out of range")),
            }
        }
        Value::Map(map) => {
            let Value::String(key) = index else {
                return Err(wrong_key(index));
            };
            Ok(match map.get(key) {
                Some(value) => Slot::element(value, map.element()),
                None => Slot::zero(map.element()),
            })
        }
        _ => Err(Failure::new(format!(
            "can't index item of type {}",
            item.type_text()
        ))),
    }
}

fn wrong_key(key: &Value) -> Failure {
    Failure::new(match key {
        Value::Nil => "value is nil; should be of type string".to_owned(),
        _ => format!("value has type {}; should be string", key.type_text()),
    })
}

fn byte(bytes: &[u8], index: &Value, out_of_range: &str) -> Result<Slot, Failure> {
    match bytes.get(position(index, bytes.len())?) {
        Some(byte) => Ok(Value::Uint(UintKind::Uint8, (*byte).into()).into()),
        None => Err(Failure::new(out_of_range)),
    }
}

fn not_an_index(type_text: &str) -> Failure {
    Failure::new(format!("cannot index slice/array with type {type_text}"))
}

/// An index that is at most `length`.
fn position(index: &Value, length: usize) -> Result<usize, Failure> {
    let number = match index {
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => number.cast_signed(),
        Value::Nil => return Err(Failure::new("cannot index slice/array with nil")),
        _ => return Err(not_an_index(&index.type_text())),
    };
    let position = usize::try_from(number).ok();
    let position = position.filter(|position| *position <= length);
    position.ok_or_else(|| Failure::new(format!("index out of range: {number}")))
}

/// `item[i:j]`. A slice's capacity is its length.
pub fn slice(item: &Slot, indexes: &[Slot]) -> Result<Slot, Failure> {
    let length = match &item.value {
        _ if indexes.len() > 3 && !matches!(item.value, Value::Nil) => {
            let count = indexes.len();
            return Err(Failure::new(format!("too many slice indexes: {count}")));
        }
        Value::Nil => return Err(Failure::new("slice of untyped nil")),
        Value::String(_) if indexes.len() == 3 => {
            return Err(Failure::new("cannot 3-index slice a string"));
        }
        Value::String(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.items().len(),
        value => {
            let type_text = value.type_text();
            return Err(Failure::new(format!(
                "can't slice item of type {type_text}"
            )));
        }
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        // Unlike `index`, `slice` does not look into an `interface {}`.
        if index.is_boxed {
            return Err(not_an_index(&index.type_text()));
        }
        *bound = position(&index.value, length)?;
    }
    let [start, end, capacity] = bounds;
    if start > end {
        return Err(Failure::new(format!(
            "invalid slice index: {start} > {end}"
        )));
    }
    if end > capacity {
        return Err(Failure::new(format!(
            "invalid slice index: {end} > {capacity}"
        )));
    }
    Ok(Slot::new(match &item.value {
        Value::String(text) => Value::string(text.get(start..end).unwrap_or_default()),
        Value::Bytes(bytes) => Value::Bytes(bytes.get(start..end).unwrap_or_default().into()),
        Value::List(list) => {
            let items = list.items().get(start..end).unwrap_or_default();
            List::new(list.element(), items.to_vec()).into()
        }
        _ => Value::Nil,
    }))
}

/// The length of a string, in bytes, a list or a map.
pub fn len(item: &Slot) -> Result<Slot, Failure> {
    let length = match &item.value {
        Value::Nil if item.is_boxed => return Err(Failure::new("len of nil pointer")),
        Value::Nil => {
            let message = "reflect: call of reflect.Value.Type on zero Value";
            return Err(Failure::new(message));
        }
        Value::String(text) | Value::Bytes(text) => text.len(),
        Value::List(list) => list.items().len(),
        Value::Map(map) => map.len(),
        value => return Err(Failure::new(format!("len of type {}", value.type_text()))),
    };
    Ok(Slot::new(Value::int(
        i64::try_from(length).unwrap_or(i64::MAX),
    )))
}
