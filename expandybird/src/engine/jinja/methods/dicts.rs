//! Methods of maps.

use minijinja::value::Tuple;
use minijinja::{Error, Value};

use crate::engine::jinja::filters::pairs;
use crate::engine::jinja::meter;
use crate::engine::jinja::signature::{Argument, Call, Row};
use crate::engine::jinja::values::dict::Dict;
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::{dict, python, repr};

pub const ROWS: &[Row] = &[
    ("__setitem__", "self, key, value, /", |mut call| {
        let [map, key, value] = call.arguments::<3>().map(Argument::value);
        own(&map)?.set(key, value).map(|()| Value::from(()))
    }),
    ("clear", "self, /", |mut call| own(&call.subject())?.clear()),
    ("copy", "self, /", copy),
    ("fromkeys", "self, iterable, value=None, /", fromkeys),
    ("get", "self, key, default=None, /", get),
    ("items", "self, /", |mut call| {
        List::make(pairs(&call.subject())?.into_iter())
    }),
    ("keys", "self, /", |mut call| {
        List::make(python::items(&call.subject())?.into_iter())
    }),
    ("pop", "self, key, default=_, /", pop),
    ("popitem", "self, /", popitem),
    ("setdefault", "self, key, default=None, /", setdefault),
    ("update", "self, other=_, /, **kwargs", update),
    ("values", "self, /", values),
];

fn own(value: &Value) -> Result<&Dict, Error> {
    let own = value.downcast_object_ref::<Dict>();
    own.ok_or_else(|| python::invalid("this map cannot be changed; copy it first: dict(m)"))
}

fn copy(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Dict::make(python::pairs(&call.subject())?.into_iter())
}

fn fromkeys(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [_, keys, value] = call.arguments();
    let value = value.or(());
    let keys = python::items(&keys.value())?.into_iter();
    Dict::make(keys.map(|key| (key, value.clone())))
}

fn get(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [map, key, default] = call.arguments();
    let key = key.value();
    dict::check_key(&key)?;
    let found = map
        .value()
        .get_item(&key)
        .ok()
        .filter(|value| !value.is_undefined());
    Ok(found.unwrap_or_else(|| default.or(())))
}

fn pop(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [map, key, default] = call.arguments();
    let key = key.value();
    let map = map.value();
    let found = match (map.len(), &default.0) {
        // Python does not look at the key.
        (Some(0), Some(_)) => None,
        _ => own(&map)?.remove(&key)?,
    };
    match found.or(default.0) {
        Some(value) => Ok(value),
        None => Err(missing(&key)),
    }
}

fn missing(key: &Value) -> Error {
    match meter::text(|out| repr::write_repr(out, key, 0)) {
        Ok(key) => python::invalid(format!("KeyError: {key}")),
        Err(error) => error,
    }
}

fn popitem(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let last = own(&call.subject())?.pop();
    let (key, value) = last.ok_or_else(|| python::invalid("popitem(): dictionary is empty"))?;
    Ok(Value::from(Tuple::from([key, value])))
}

fn setdefault(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [map, key, default] = call.arguments();
    let (map, key) = (map.value(), key.value());
    let own = own(&map)?;
    dict::check_key(&key)?;
    if let Some(found) = own.get(&key) {
        return Ok(found);
    }
    own.set(key.clone(), default.or(()))?;
    Ok(own.get(&key).unwrap_or_default())
}

fn update(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [map, other] = call.arguments();
    own(&map.value())?.update(other.0.as_ref(), std::mem::take(&mut call.named))?;
    Ok(Value::from(()))
}

fn values(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let pairs = python::pairs(&call.subject())?;
    List::make(pairs.into_iter().map(|(_, value)| value))
}
