//! Maps. `set`, `unset` and the merges change their first argument, which shows wherever the map is held.

use std::rc::Rc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, Type, Value};

use crate::convert::to_text;
use crate::semver::Version;
use crate::types::is_empty;

/// Functions of maps.
pub const FUNCTIONS: &[Function] = &[
    Function::variadic("dict", &[], Type::Any, dict),
    Function::new("get", &[Type::MAP, Type::String], |call| {
        let found = call.map(0)?.get(call.string(1)?);
        Ok(found.unwrap_or_else(|| "".into()))
    }),
    Function::new("set", &[Type::MAP, Type::String, Type::Any], |call| {
        let (map, key, value) = (call.map(0)?, call.string(1)?, call.argument(2)?);
        call.set(map, key, value.clone())?;
        Ok(plain(map))
    }),
    Function::new("unset", &[Type::MAP, Type::String], |call| {
        let map = call.map(0)?;
        map.remove(call.string(1)?);
        Ok(plain(map))
    }),
    Function::new("hasKey", &[Type::MAP, Type::String], |call| {
        Ok(call.map(0)?.contains_key(call.string(1)?).into())
    }),
    Function::variadic("pluck", &[Type::String], Type::MAP, |call| {
        let key = call.string(0)?;
        let found = maps(call).filter_map(|map| map.get(key));
        Ok(List::any(found.collect()).into())
    }),
    Function::variadic("keys", &[], Type::MAP, |call| {
        let entries = maps(call).map(Map::len).sum();
        call.budget().spend_list(entries)?;
        Ok(List::strings(maps(call).flat_map(Map::keys)).into())
    }),
    Function::new("values", &[Type::MAP], |call| {
        let map = call.map(0)?;
        call.budget().spend_list(map.len())?;
        let values = map.entries().into_iter().map(|(_, value)| value);
        Ok(List::any(values.collect()).into())
    }),
    Function::variadic("pick", &[Type::MAP], Type::String, |call| {
        let map = call.map(0)?;
        let entry = |key: &GoString| Some((key.clone(), map.get(key)?));
        let entries: Map = keys(call).filter_map(entry).collect();
        Ok(entries.into())
    }),
    Function::variadic("omit", &[Type::MAP], Type::String, |call| {
        let map = call.map(0)?;
        call.budget().spend(map.len())?;
        let kept: Map = map.entries().into_iter().collect();
        for key in keys(call) {
            kept.remove(key);
        }
        Ok(kept.into())
    }),
    Function::variadic("dig", &[], Type::Any, dig),
    Function::variadic("merge", &[Type::MAP], Type::MAP, |call| {
        merge(call, Winner::First)
    }),
    Function::variadic("mustMerge", &[Type::MAP], Type::MAP, |call| {
        merge(call, Winner::First)
    }),
    Function::variadic("mergeOverwrite", &[Type::MAP], Type::MAP, |call| {
        merge(call, Winner::Last)
    }),
    Function::variadic("mustMergeOverwrite", &[Type::MAP], Type::MAP, |call| {
        merge(call, Winner::Last)
    }),
    Function::new("deepCopy", &[Type::Any], deep_copy),
    Function::new("mustDeepCopy", &[Type::Any], deep_copy),
];

/// What a function returns that gives back a map argument: the map as the parameter's type.
fn plain(map: &Map) -> Value {
    map.clone().without_class().into()
}

/// The maps among the further arguments: all of them, by their declaration.
fn maps<'a>(call: &Call<'a>) -> impl Iterator<Item = &'a Map> + use<'a> {
    let arguments = call.rest().iter();
    arguments.filter_map(|argument| match argument {
        Value::Map(map) => Some(map),
        _ => None,
    })
}

/// The texts among the further arguments: all of them, by their declaration.
fn keys<'a>(call: &Call<'a>) -> impl Iterator<Item = &'a GoString> + use<'a> {
    let arguments = call.rest().iter();
    arguments.filter_map(|argument| match argument {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// Keys and values in turn. A last key without a value has an empty text.
fn dict(call: &mut Call<'_>) -> Result<Value, Failure> {
    let made = Map::default();
    for pair in call.rest().chunks(2) {
        let [key, rest @ ..] = pair else { continue };
        let value = rest.first().cloned().unwrap_or_else(|| "".into());
        let key = to_text(call.budget(), key)?;
        made.insert(key, value);
    }
    Ok(made.into())
}

/// The value under a path of keys, or the last argument but one.
fn dig(call: &mut Call<'_>) -> Result<Value, Failure> {
    let [path @ .., last_key, fallback, map] = call.rest() else {
        return Err(Failure::new("dig needs at least three arguments"));
    };
    let mut map = converted_map(map)?;
    let path = path
        .iter()
        .map(converted_text)
        .collect::<Result<Vec<_>, _>>()?;
    let last_key = converted_text(last_key)?;
    for key in path {
        match map.get(key) {
            Some(step) => map = converted_map(&step)?,
            None => return Ok(fallback.clone()),
        }
    }
    Ok(map.get(last_key).unwrap_or_else(|| fallback.clone()))
}

/// Go's `value.(map[string]interface {})`.
fn converted_map(value: &Value) -> Result<Map, Failure> {
    match value {
        Value::Map(map) if map.type_text() == Type::MAP.text() => Ok(map.clone()),
        other => Err(conversion(other, Type::MAP)),
    }
}

/// Go's `value.(string)`.
fn converted_text(value: &Value) -> Result<&GoString, Failure> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(conversion(other, Type::String)),
    }
}

fn conversion(value: &Value, wanted: Type) -> Failure {
    let found = match value {
        Value::Nil => "nil".to_owned(),
        other => other.type_text(),
    };
    let wanted = wanted.text();
    Failure::new(format!(
        "interface conversion: interface {{}} is {found}, not {wanted}"
    ))
}

/// Which of two values a merge keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Winner {
    /// What the first map has already, unless it is empty.
    First,
    /// What a later map has, also if it is empty.
    Last,
}

fn merge(call: &mut Call<'_>, winner: Winner) -> Result<Value, Failure> {
    let mut merged = call.map(0)?.clone().without_class();
    for source in maps(call) {
        if merged.is_nil() && !source.is_nil() {
            merged = Map::default();
        }
        merge_into(call, &merged, source, winner)?;
    }
    Ok(merged.into())
}

/// Merges map by map. Lists are never joined, and values of `source` are shared, not copied.
fn merge_into(
    call: &mut Call<'_>,
    target: &Map,
    source: &Map,
    winner: Winner,
) -> Result<(), Failure> {
    if target.is_same(source) {
        return Ok(());
    }
    call.budget().enter()?;
    for (key, value) in source.entries() {
        call.budget().spend(1)?;
        let previous = target.get(&key);
        if matches!(value, Value::Nil) {
            if winner == Winner::Last {
                call.set(target, &key, value)?;
            }
            continue;
        }
        if let (Some(Value::Map(inner)), Value::Map(further)) = (&previous, &value) {
            merge_into(call, inner, further, winner)?;
            if !inner.is_empty() {
                continue;
            }
        }
        if winner == Winner::Last || previous.as_ref().is_none_or(is_empty) {
            call.set(target, &key, value)?;
        }
    }
    call.budget().leave();
    Ok(())
}

fn deep_copy(call: &mut Call<'_>) -> Result<Value, Failure> {
    let original = call.argument(0)?;
    if matches!(original, Value::Nil) {
        return Err(Failure::new(
            "reflect: call of reflect.Value.Type on zero Value",
        ));
    }
    copied(call, original)
}

fn copied(call: &mut Call<'_>, value: &Value) -> Result<Value, Failure> {
    call.budget().spend(1)?;
    match value {
        Value::List(list) if !list.is_nil() => {
            call.budget().enter()?;
            let items = list.items().iter().map(|item| copied(call, item));
            let items = items.collect::<Result<_, _>>()?;
            call.budget().leave();
            Ok(List::new(list.element(), items).into())
        }
        Value::Map(map) if !map.is_nil() => {
            call.budget().enter()?;
            let copy = Map::new(map.element());
            for (key, value) in map.entries() {
                copy.insert(key, copied(call, &value)?);
            }
            call.budget().leave();
            Ok(copy.into())
        }
        // The original copies exported fields alone, and a version has none.
        Value::Object(object) if object.as_any().is::<Version>() => {
            Ok(Value::Object(Rc::new(Version::default())))
        }
        other => Ok(other.clone()),
    }
}
