//! The global functions of Jinja 3.1.

pub(super) mod cycler;
pub(super) mod random;
pub(super) mod range;

use minijinja::{Environment, Error, Value};

use self::cycler::Cycler;
use super::signature::{Argument, Call, Row, table};
use super::values::{dict, python};

pub const ROWS: &[Row] = &[
    ("cycler", "*items", |call| Cycler::of(call.rest)),
    ("dict", "*args, **kwargs", dict::construct),
    ("joiner", "sep=_", joiner),
    ("lipsum", "n=5, html=True, min=20, max=100", random::lipsum),
    ("namespace", "*args, **kwargs", dict::namespace),
    ("range", "first, second=_, step=1, /", numbers),
];

pub fn register(environment: &mut Environment<'_>) {
    for (name, function) in table(ROWS) {
        environment.add_function(name, function.into_callable());
    }
}

fn joiner(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [separator] = call.arguments();
    let separator = python::string(&separator.or(", "))?;
    Ok(minijinja_contrib::globals::joiner(Some(Value::from(
        separator,
    ))))
}

fn numbers(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let [first, second, step] = call.arguments::<3>().map(Argument::integer);
    range::range(first?.unwrap_or(0), second?, step?)
}
