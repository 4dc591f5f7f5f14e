//! Chains of comparisons, `a < b <= c`: each value is computed once, and none behind the first comparison that fails.
//!
//! [`crate::engine::jinja::rewrite`] joins the calls with `and`. The value in the middle waits in the state of the rendering for the
//! next call, which takes it.

use minijinja::{Environment, Error, State, Value};

use crate::engine::jinja::values::order;

/// The first comparison of a chain.
pub const FIRST: &str = "__first__";
/// One in the middle.
pub const NEXT: &str = "__next__";
pub const LAST: &str = "__last__";

pub fn register(environment: &mut Environment<'_>) {
    environment.add_function(FIRST, first);
    environment.add_function(NEXT, next);
    environment.add_function(LAST, last);
}

/// The right values of comparisons that held, innermost chain last.
#[derive(Debug, Default)]
struct Waiting(Vec<Value>);

fn first(state: &mut State<'_, '_>, a: Value, operator: &str, b: Value) -> Result<bool, Error> {
    let holds = order::holds(&a, operator, &b)?;
    if holds {
        waiting(state).push(b);
    }
    Ok(holds)
}

fn next(state: &mut State<'_, '_>, operator: &str, b: Value) -> Result<bool, Error> {
    let a = waiting(state).pop().unwrap_or_default();
    first(state, a, operator, b)
}

fn last(state: &mut State<'_, '_>, operator: &str, b: Value) -> Result<bool, Error> {
    let a = waiting(state).pop().unwrap_or_default();
    order::holds(&a, operator, &b)
}

fn waiting<'s>(state: &'s mut State<'_, '_>) -> &'s mut Vec<Value> {
    &mut state.get_or_insert_extension(Waiting::default()).0
}
