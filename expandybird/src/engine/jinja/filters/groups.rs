//! Divides lists: rows, columns, groups of equal items, unique items.

use std::sync::Arc;

use indexmap::IndexSet;
use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, Value};

use crate::engine::jinja::meter;
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::{dict, order, python};

/// Rows with this many items each.
pub fn batch(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, count, fill] = call.arguments();
    let (count, fill) = (count.value(), fill.some());
    let is_full = |row: &Vec<Value>| order::equal(&Value::from(row.len()), &count);
    let mut rows = Vec::new();
    let mut row = Vec::new();
    for item in python::items(&value.value())? {
        if is_full(&row)? {
            rows.push(List::make(row.drain(..))?);
        }
        row.push(item);
    }
    if row.is_empty() {
        return List::make(rows.into_iter());
    }
    if let Some(fill) = fill
        && order::compare(&Value::from(row.len()), &count)?.is_lt()
    {
        let missing = python::count(&count)?.saturating_sub(row.len());
        meter::charge(missing.saturating_mul(size_of::<Value>()))?;
        row.extend(std::iter::repeat_n(fill, missing));
    }
    rows.push(List::make(row.into_iter())?);
    List::make(rows.into_iter())
}

/// This many columns. The first ones may be longer by one.
pub fn slice(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, slices, fill] = call.arguments();
    let items = python::items(&value.value())?;
    let slices = python::integer(&slices.value())?;
    let fill = fill.some();
    if slices == 0 {
        return Err(python::invalid("integer division or modulo by zero"));
    }
    let slices = usize::try_from(slices).unwrap_or(0);
    meter::charge(slices.saturating_mul(size_of::<Value>()))?;
    let length = items.len().checked_div(slices).unwrap_or(0);
    let longer = items.len().checked_rem(slices).unwrap_or(0);
    let mut items = items.into_iter();
    let mut columns = Vec::new();
    for column in 0..slices {
        let is_longer = column < longer;
        let own = items.by_ref().take(length + usize::from(is_longer));
        let filled = own.chain(fill.clone().filter(|_| !is_longer));
        columns.push(List::make(filled)?);
    }
    List::make(columns.into_iter())
}

/// Each item once: the first of those with equal keys.
pub fn unique(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, case_sensitive, attribute] = call.arguments();
    let case_sensitive = case_sensitive.flag(false);
    let path = python::path(&attribute.or(()));
    let mut seen = IndexSet::new();
    let mut kept = Vec::new();
    for item in python::items(&value.value())? {
        let key = python::folded(python::follow(&item, &path, None)?, case_sensitive);
        dict::check_key(&key)?;
        if seen.insert(dict::hashed(key)) {
            kept.push(item);
        }
    }
    List::make(kept.into_iter())
}

/// Items grouped by an attribute, in its order.
pub fn groupby(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [value, attribute, default, case_sensitive] = call.arguments();
    let case_sensitive = case_sensitive.flag(false);
    let path = python::path(&attribute.value());
    let default = default.some();
    let own = |item: &Value| python::follow(item, &path, default.as_ref());
    let key = |item: &Value| Ok(python::folded(own(item)?, case_sensitive));
    let mut items = python::items(&value.value())?;
    order::sort(&mut items, false, key)?;
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in items {
        let key = key(&item)?;
        match groups.last_mut() {
            Some((group, members)) if order::equal(group, &key)? => members.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    let groups = groups.into_iter().map(|(_, members)| {
        let grouper = members.first().map(own).transpose()?.unwrap_or_default();
        let list = List::make(members.into_iter())?;
        Ok(Value::from_object(Group { grouper, list }))
    });
    let groups: Vec<Value> = groups.collect::<Result<_, Error>>()?;
    List::make(groups.into_iter())
}

/// A pair whose two parts also have names.
#[derive(Debug)]
pub struct Group {
    grouper: Value,
    list: Value,
}

impl Group {
    pub fn parts(&self) -> [&Value; 2] {
        [&self.grouper, &self.list]
    }
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_str(), key.as_usize()) {
            (Some("grouper"), _) | (_, Some(0)) => Some(self.grouper.clone()),
            (Some("list"), _) | (_, Some(1)) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(vec![self.grouper.clone(), self.list.clone()])
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(2)
    }
}
