//! Values that templates can change: where they come from, and how their size stays limited.
//!
//! minijinja's own lists and maps never change. Jinja2's do, and real templates rely on it (`{% set _ =
//! names.append(name) %}`). So literals, properties, assigned values and new items of lists become a [`List`] or a
//! [`Dict`]. Each rendering has its own copies: its changes are not visible in its caller, its siblings or the next
//! request.
//!
//! Nesting is limited, and no list contains itself: each has a *level* that is larger than that of every list around
//! it. Adding one to another raises the levels of all its contents. An addition that would raise levels for ever is
//! rejected.

pub(super) mod dict;
pub(super) mod list;
pub(super) mod order;
pub(super) mod pretty;
pub(super) mod python;
pub(super) mod repr;

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};
use serde_json::Value as Json;

use self::dict::{Dict, Entries};
use self::list::List;
use super::filters::Group;
use super::meter;

/// How deep lists and maps may nest: deeper than YAML may, and little enough for recursion.
const LEVELS: usize = 200;

/// A value of the configuration, as a template's own copy.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::from(number.as_f64()),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => List::unchecked(items.iter().map(from_json).collect()),
        Json::Object(map) => Dict::unchecked(
            map.iter()
                .map(|(key, value)| (Value::from(key.as_str()), from_json(value)))
                .collect(),
        ),
    }
}

/// The value itself if it can be changed, otherwise a copy that can.
pub fn own(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::String => {
            meter::charge(value.as_str().map_or(0, str::len))?;
            Ok(value)
        }
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map => collection(value),
        _ => Ok(value),
    }
}

/// The value that a loop iterates over, in a form that ends with the request.
pub fn each(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::None => Err(not_iterable(&value)),
        // A namespace has attributes alone.
        _ if !python::is_iterable(&value) => Err(not_iterable(&value)),
        ValueKind::String => List::make(items(&value)?.into_iter()),
        _ => own(value),
    }
}

/// The same, with lists in it as tuples.
pub fn each_tuple(value: Value) -> Result<Value, Error> {
    let packed = items(&each(value)?)?.into_iter().map(|item| {
        Ok(match python::is_mutable_list(&item) {
            true => Value::from(Tuple::new(items(&item)?)),
            false => item,
        })
    });
    let packed: Vec<Value> = packed.collect::<Result<_, Error>>()?;
    List::make(packed.into_iter())
}

fn collection(value: Value) -> Result<Value, Error> {
    if value.downcast_object_ref::<List>().is_some()
        || value.downcast_object_ref::<Dict>().is_some()
        || value
            .downcast_object_ref::<super::globals::range::Range>()
            .is_some()
    {
        return Ok(value);
    }
    if let Some(tuple) = value.downcast_object_ref::<Tuple>() {
        let items: Vec<Value> = tuple.iter().cloned().map(own).collect::<Result<_, _>>()?;
        raise_all(&items, 1)?;
        return Ok(Value::from(Tuple::new(items)));
    }
    if let Some(items) = value.downcast_object_ref::<Vec<Value>>() {
        return List::make(items.iter().cloned());
    }
    if let Some(entries) = value.downcast_object_ref::<Entries>() {
        return Dict::make(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    match value.kind() {
        // A slice, or a filter's result that is produced item by item.
        ValueKind::Iterable => List::make(items(&value)?.into_iter()),
        // Special objects: namespaces, loops, modules, groups.
        _ => Ok(value),
    }
}

/// The items of a list, the keys of a map, the characters of a text.
pub fn items(value: &Value) -> Result<Vec<Value>, Error> {
    if value.is_none() || !python::is_iterable(value) {
        return Err(not_iterable(value));
    }
    let mut items = Vec::new();
    for item in value.try_iter().map_err(|_| not_iterable(value))?.checked() {
        meter::charge(size_of::<Value>())?;
        items.push(item?);
    }
    Ok(items)
}

fn not_iterable(value: &Value) -> Error {
    let kind = self::repr::type_name(value);
    Error::new(
        ErrorKind::InvalidOperation,
        format!("'{kind}' object is not iterable"),
    )
}

/// Moves all contents of the values deeper than `level`.
pub fn raise_all<'v>(
    values: impl IntoIterator<Item = &'v Value>,
    level: usize,
) -> Result<(), Error> {
    values.into_iter().try_for_each(|value| raise(value, level))
}

fn raise(value: &Value, level: usize) -> Result<(), Error> {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Map) {
        return Ok(());
    }
    if level > LEVELS {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("lists and maps nest deeper than {LEVELS} levels, or hold themselves"),
        ));
    }
    if let Some(list) = value.downcast_object_ref::<List>() {
        return list.raise(level);
    }
    if let Some(dict) = value.downcast_object_ref::<Dict>() {
        return dict.raise(level);
    }
    if let Some(group) = value.downcast_object_ref::<Group>() {
        return raise_all(group.parts(), level + 1);
    }
    match value.downcast_object_ref::<Tuple>() {
        // It knows no level, so all that is in it is looked at.
        Some(tuple) => {
            meter::look()?;
            raise_all(tuple.iter(), level + 1)
        }
        None => Ok(()),
    }
}

/// Call before you put `value` into a container at `level`. The container must keep its level.
pub fn admit(
    value: Value,
    level: usize,
    level_now: impl FnOnce() -> usize,
) -> Result<Value, Error> {
    let value = own(value)?;
    raise(&value, level + 1)?;
    if level_now() == level {
        return Ok(value);
    }
    Err(Error::new(
        ErrorKind::InvalidOperation,
        "a list or a map cannot hold itself",
    ))
}
