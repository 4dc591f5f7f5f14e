//! Lists: joined, sorted, their ends and their length.

use minijinja::value::{Kwargs, Rest, Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::given::given;
use crate::engine::jinja::list::List;
use crate::engine::jinja::{meter, order, repr, values};

pub fn join(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let [separator, attribute] = given(["d", "attribute"], args, &named)?;
    let separator = separator.text()?.unwrap_or_default();
    let attribute = attribute.0.filter(|attribute| !attribute.is_none());
    let items = values::items(value)?
        .into_iter()
        .map(|item| match &attribute {
            Some(attribute) => by_path(&item, attribute),
            None => Ok(item),
        });
    let items: Vec<Value> = items.collect::<Result<_, _>>()?;
    meter::text(|out| {
        items.iter().enumerate().try_for_each(|(index, item)| {
            if index > 0 {
                out.write_str(&separator)?;
            }
            repr::write_str(out, item)
        })
    })
}

/// `a.b.0` of an item.
fn by_path(item: &Value, path: &Value) -> Result<Value, Error> {
    let Some(path) = path.as_str() else {
        return item.get_item(path);
    };
    path.split('.')
        .try_fold(item.clone(), |value, step| match step.parse::<usize>() {
            Ok(index) => value.get_item_by_index(index),
            Err(_) => value.get_attr(step),
        })
}

/// By the whole item, or by attributes with commas between them; texts without regard to case.
pub fn sort(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let names = ["reverse", "case_sensitive", "attribute"];
    let [reverse, case_sensitive, attribute] = given(names, args, &named)?;
    let case_sensitive = case_sensitive.flag(false);
    let paths: Option<Vec<Value>> =
        attribute
            .0
            .filter(|a| !a.is_none())
            .map(|attribute| match attribute.as_str() {
                Some(paths) => paths
                    .split(',')
                    .map(|path| Value::from(path.trim()))
                    .collect(),
                None => vec![attribute],
            });
    let key = |item: &Value| match &paths {
        None => Ok(folded(item, case_sensitive)),
        Some(paths) => {
            let parts = paths
                .iter()
                .map(|path| Ok(folded(&by_path(item, path)?, case_sensitive)));
            parts
                .collect::<Result<Vec<Value>, Error>>()
                .map(Value::from)
        }
    };
    let mut items = values::items(value)?;
    order::sort(&mut items, reverse.flag(false), key)?;
    List::make(items.into_iter())
}

fn folded(value: &Value, case_sensitive: bool) -> Value {
    match value.as_str() {
        Some(text) if !case_sensitive => Value::from(text.to_lowercase()),
        _ => value.clone(),
    }
}

/// The pairs of a map, by key or by value.
pub fn dictsort(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [case_sensitive, by, reverse] = given(["case_sensitive", "by", "reverse"], args, &named)?;
    let case_sensitive = case_sensitive.flag(false);
    let place = match by.or("key").as_str() {
        Some("key") => 0,
        Some("value") => 1,
        _ => {
            let message = "You can only sort by either 'key' or 'value'";
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
    };
    let mut pairs = pairs(value)?;
    let key = |pair: &Value| Ok(folded(&pair.get_item_by_index(place)?, case_sensitive));
    order::sort(&mut pairs, reverse.flag(false), key)?;
    List::make(pairs.into_iter())
}

fn pairs(map: &Value) -> Result<Vec<Value>, Error> {
    if map.kind() != ValueKind::Map {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a {} has no pairs of keys and values", map.kind()),
        ));
    }
    let keys = values::items(map)?.into_iter();
    let pairs = keys.map(|key| {
        let value = map.get_item(&key)?;
        Ok(Value::from(Tuple::from([key, value])))
    });
    pairs.collect()
}

/// The pairs of a map; of nothing, none.
pub fn items(value: &Value) -> Result<Value, Error> {
    match value.is_undefined() {
        true => List::make(std::iter::empty()),
        false => List::make(pairs(value)?.into_iter()),
    }
}

pub fn list(value: &Value) -> Result<Value, Error> {
    match value.is_undefined() {
        true => List::make(std::iter::empty()),
        false => List::make(values::items(value)?.into_iter()),
    }
}

pub fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    value.len().ok_or_else(|| {
        let kind = repr::type_name(value);
        Error::new(
            ErrorKind::InvalidOperation,
            format!("object of type '{kind}' has no len()"),
        )
    })
}

pub fn first(value: &Value) -> Result<Value, Error> {
    match value.is_undefined() {
        true => Ok(Value::UNDEFINED),
        false => Ok(value.try_iter()?.next().unwrap_or_default()),
    }
}

pub fn last(value: &Value) -> Result<Value, Error> {
    match value.is_undefined() {
        true => Ok(Value::UNDEFINED),
        false => Ok(values::items(value)?.pop().unwrap_or_default()),
    }
}

/// What is undefined, and on demand what is empty, is replaced.
pub fn default(value: &Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let [default, boolean] = given(["default_value", "boolean"], args, &named)?;
    let is_missing = value.is_undefined() || boolean.flag(false) && !value.is_true();
    Ok(if is_missing {
        default.or("")
    } else {
        value.clone()
    })
}
