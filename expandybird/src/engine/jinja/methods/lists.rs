//! Methods of lists and tuples.

use minijinja::{Error, Value};

use crate::engine::jinja::operators::slice;
use crate::engine::jinja::signature::{Argument, Call, Row};
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::{order, python, repr};

pub const ROWS: &[Row] = &[
    ("append", "self, object, /", |mut call| {
        let [list, item] = call.arguments::<2>().map(Argument::value);
        own(&list)?.append(&item)
    }),
    ("clear", "self, /", |mut call| own(&call.subject())?.clear()),
    ("copy", "self, /", |mut call| {
        List::make(python::items(&call.subject())?.into_iter())
    }),
    ("count", "self, value, /", count),
    ("extend", "self, iterable, /", |mut call| {
        let [list, more] = call.arguments::<2>().map(Argument::value);
        own(&list)?.extend(&more)
    }),
    ("index", "self, value, start=0, stop=_, /", index),
    ("insert", "self, index, object, /", |mut call| {
        let [list, at, item] = call.arguments::<3>().map(Argument::value);
        own(&list)?.insert(python::integer(&at)?, &item)
    }),
    ("pop", "self, index=-1, /", |mut call| {
        let [list, at] = call.arguments();
        own(&list.value())?.pop(at.integer()?.unwrap_or(-1))
    }),
    ("remove", "self, value, /", |mut call| {
        let [list, unwanted] = call.arguments::<2>().map(Argument::value);
        own(&list)?.remove(&unwanted)
    }),
    ("reverse", "self, /", |mut call| {
        own(&call.subject())?.reverse()
    }),
    ("sort", "self, /, *, key=None, reverse=False", sort),
];

pub const TUPLE_ROWS: &[Row] = &[
    ("count", "self, value, /", count),
    ("index", "self, value, start=0, stop=_, /", index),
];

fn own(value: &Value) -> Result<&List, Error> {
    let own = value.downcast_object_ref::<List>();
    own.ok_or_else(|| python::invalid("this list cannot be changed; copy it first: x|list"))
}

fn sort(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [list, key, reverse] = call.arguments();
    let list = list.value();
    if key.some().is_some() && list.len() != Some(0) {
        return Err(python::invalid(
            "sort takes no key here; use the filter: x|sort(attribute='a')",
        ));
    }
    own(&list)?.sort(reverse.switch()?)
}

fn count(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [list, wanted] = call.arguments::<2>().map(Argument::value);
    let mut count = 0;
    for item in python::items(&list)? {
        count += usize::from(order::equal(&item, &wanted)?);
    }
    Ok(Value::from(count))
}

/// The index of the value within a range.
fn index(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [list, wanted, start, stop] = call.arguments();
    let (items, wanted) = (python::items(&list.value())?, wanted.value());
    let (start, stop) = slice::adjusted(items.len(), start.integer()?, stop.integer()?, 1);
    let (start, stop) = (
        usize::try_from(start).unwrap_or(0),
        usize::try_from(stop).unwrap_or(0),
    );
    for (index, item) in items.iter().enumerate().take(stop).skip(start) {
        if order::equal(item, &wanted)? {
            return Ok(Value::from(index));
        }
    }
    let kind = repr::type_name(&wanted);
    Err(python::invalid(format!(
        "the list has no such item: a {kind}"
    )))
}
