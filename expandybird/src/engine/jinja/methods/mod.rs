//! Methods of Python's texts, lists, tuples and maps.

mod dicts;
mod lists;
mod text;

use std::sync::LazyLock;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

use super::operators::{SLICE, slice};
use super::signature::{Row, Table, table};
use super::values::{python, repr};

/// The types that have methods, and their methods.
pub const TYPES: [(&str, &[Row]); 4] = [
    ("str", text::ROWS),
    ("list", lists::ROWS),
    ("tuple", lists::TUPLE_ROWS),
    ("dict", dicts::ROWS),
];

static TABLES: LazyLock<[(&str, Table); 4]> =
    LazyLock::new(|| TYPES.map(|(name, rows)| (name, table(rows))));

/// Called for a method that an object does not have itself.
pub fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    if let (SLICE, [start, stop, step]) = (method, arguments) {
        return slice::slice(value, start, stop, step);
    }
    let unknown = || Error::from(ErrorKind::UnknownMethod);
    let kind = kind(value).ok_or_else(unknown)?;
    let table = TABLES
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, table)| table);
    let function = table
        .and_then(|table| table.get(method))
        .ok_or_else(unknown)?;
    let (by_place, by_name) = match arguments.split_last() {
        Some((last, by_place)) if last.is_kwargs() => (by_place, last.clone()),
        _ => (arguments, Value::UNDEFINED),
    };
    let with_self: Vec<Value> = std::iter::once(value).chain(by_place).cloned().collect();
    function.call(state, &with_self, &Kwargs::try_from(by_name)?)
}

fn kind(value: &Value) -> Option<&'static str> {
    match value.kind() {
        ValueKind::String => Some("str"),
        ValueKind::Seq if python::is_mutable_list(value) => Some("list"),
        ValueKind::Seq => Some("tuple"),
        ValueKind::Map if repr::is_dict(value) => Some("dict"),
        _ => None,
    }
}
