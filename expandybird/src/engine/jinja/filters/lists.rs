//! Lists: join, sort, sum, first, last, length.

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, Value};

use crate::engine::jinja::operators::slice;
use crate::engine::jinja::signature::{Argument, Call};
use crate::engine::jinja::values::dict::Dict;
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::{order, python, repr};
use crate::engine::jinja::{meter, operators};

pub fn join(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, separator, attribute] = call.arguments();
    let separator = python::string(&separator.or(""))?;
    let path = python::path(&attribute.or(()));
    let items = python::items(&value.value())?.into_iter();
    let items = items.map(|item| python::follow(&item, &path, None));
    let items: Vec<Value> = items.collect::<Result<_, _>>()?;
    let text = meter::text(|out| {
        items.iter().enumerate().try_for_each(|(index, item)| {
            if index > 0 {
                out.write_str(&separator)?;
            }
            repr::write_str(out, item)
        })
    });
    text.map(Value::from)
}

/// By the whole item, or by comma-separated attributes. Texts are compared case-insensitively.
pub fn sort(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, reverse, case_sensitive, attribute] = call.arguments();
    let case_sensitive = case_sensitive.flag(false);
    let attribute = attribute.or(());
    let paths: Vec<Vec<Value>> = match attribute.as_str() {
        Some(paths) => paths
            .split(',')
            .map(|path| python::path(&Value::from(path)))
            .collect(),
        None => vec![python::path(&attribute)],
    };
    let key = |item: &Value| {
        let parts = paths.iter().map(|path| {
            let found = python::follow(item, path, None)?;
            Ok(python::folded(found, case_sensitive))
        });
        parts
            .collect::<Result<Vec<Value>, Error>>()
            .map(Value::from)
    };
    let mut items = python::items(&value.value())?;
    order::sort(&mut items, reverse.switch()?, key)?;
    List::make(items.into_iter())
}

/// The pairs of a map, by key or by value.
pub fn dictsort(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, case_sensitive, by, reverse] = call.arguments();
    let case_sensitive = case_sensitive.flag(false);
    let place = match by.or("key").as_str() {
        Some("key") => 0,
        Some("value") => 1,
        _ => {
            return Err(python::invalid(
                "You can only sort by either 'key' or 'value'",
            ));
        }
    };
    let mut pairs = pairs(&value.value())?;
    let key = |pair: &Value| {
        Ok(python::folded(
            pair.get_item_by_index(place)?,
            case_sensitive,
        ))
    };
    order::sort(&mut pairs, reverse.switch()?, key)?;
    List::make(pairs.into_iter())
}

/// The pairs of a map, each a tuple.
pub fn pairs(map: &Value) -> Result<Vec<Value>, Error> {
    if map.is_undefined() {
        return Err(python::undefined(map, "has no pairs of keys and values"));
    }
    if !python::is_map(map) {
        let kind = repr::type_name(map);
        return Err(python::invalid(format!(
            "a {kind} has no pairs of keys and values"
        )));
    }
    let pairs = python::pairs(map)?.into_iter();
    Ok(pairs
        .map(|(key, value)| Value::from(Tuple::from([key, value])))
        .collect())
}

/// The pairs of a map. Empty for an undefined value.
pub fn items(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let value = call.subject();
    match value.is_undefined() {
        true => List::make(std::iter::empty()),
        false => List::make(pairs(&value)?.into_iter()),
    }
}

pub fn list(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    List::make(python::items(&call.subject())?.into_iter())
}

pub fn length(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let value = call.subject();
    let length = match (value.is_undefined(), value.as_str()) {
        (true, _) => Some(0),
        (_, Some(text)) => Some(text.chars().count()),
        _ => value.len().filter(|_| python::is_iterable(&value)),
    };
    length.map(Value::from).ok_or_else(|| {
        let kind = repr::type_name(&value);
        python::invalid(format!("object of type '{kind}' has no len()"))
    })
}

pub fn first(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Ok(python::items(&call.subject())?
        .into_iter()
        .next()
        .unwrap_or_default())
}

pub fn last(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    Ok(python::items(&call.subject())?.pop().unwrap_or_default())
}

/// A reversed text or list.
pub fn reverse(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let value = call.subject();
    if value.as_str().is_some() {
        return slice::slice(&value, &().into(), &().into(), &(-1).into());
    }
    List::make(python::items(&value)?.into_iter().rev())
}

pub fn min(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    extreme(call, std::cmp::Ordering::is_lt)
}

pub fn max(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    extreme(call, std::cmp::Ordering::is_gt)
}

/// The first item with the largest (or smallest) key.
fn extreme(
    mut call: Call<'_, '_, '_>,
    is_beyond: fn(std::cmp::Ordering) -> bool,
) -> Result<Value, Error> {
    let [value, case_sensitive, attribute] = call.arguments();
    let case_sensitive = case_sensitive.flag(false);
    let path = python::path(&attribute.or(()));
    let mut found: Option<(Value, Value)> = None;
    for item in python::items(&value.value())? {
        let key = python::folded(python::follow(&item, &path, None)?, case_sensitive);
        match &found {
            Some((_, best)) if !is_beyond(order::compare(&key, best)?) => {}
            _ => found = Some((item, key)),
        }
    }
    Ok(found.map(|(item, _)| item).unwrap_or_default())
}

pub fn sum(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, attribute, start] = call.arguments();
    let path = python::path(&attribute.or(()));
    let start = start.or(0);
    if start.as_str().is_some() {
        return Err(python::invalid("sum() can't sum strings; use join instead"));
    }
    python::items(&value.value())?
        .iter()
        .try_fold(start, |sum, item| {
            operators::add(&sum, &python::follow(item, &path, None)?)
        })
}

/// Replaces an undefined value, and on request an empty one.
pub fn default(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, default, boolean] = call.arguments();
    let value = value.value();
    let is_missing = value.is_undefined() || boolean.flag(false) && !value.is_true();
    Ok(if is_missing { default.or("") } else { value })
}

/// An attribute, never an item.
pub fn attr(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, name] = call.arguments::<2>().map(Argument::value);
    if value.is_undefined() {
        return Err(python::undefined(&value, "has no attributes"));
    }
    let name = python::text(&name)?;
    let has_attributes = value.kind() == ValueKind::Plain
        || value.kind() == ValueKind::Map && value.downcast_object_ref::<Dict>().is_none();
    Ok(match has_attributes {
        true => value.get_attr(name)?,
        false => Value::UNDEFINED,
    })
}
