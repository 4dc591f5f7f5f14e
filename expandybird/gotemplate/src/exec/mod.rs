//! Running templates: Go's `text/template/exec.go`, with its error texts.

mod argument;
mod call;
mod error;
mod field;
mod pipeline;
mod range;
mod runtime;
mod walk;

use std::sync::Arc;

use crate::error::ExecError;
use crate::parse::Tree;
use crate::session::Session;
use crate::set::{Scope, Set};
use crate::value::{Slot, Value};
use error::At;

/// Runs a template of the set, and returns its output.
///
/// # Errors
/// There is no such template, it fails, or it meets a limit of the session.
pub fn execute(
    set: &Set,
    session: &mut Session,
    name: &str,
    data: &Value,
) -> Result<Vec<u8>, ExecError> {
    let scope = Scope::new(set);
    let limit = session.budget.limits().output_bytes;
    run(&scope, session, name, data, limit).map_err(|error| *error)
}

/// Errors are rare, and large.
type Fallible<T> = Result<T, Box<ExecError>>;

fn run(
    scope: &Scope<'_>,
    session: &mut Session,
    name: &str,
    data: &Value,
    limit: usize,
) -> Fallible<Vec<u8>> {
    let Some(tree) = scope.find(name) else {
        return Err(Box::new(error::no_template(name, scope.set_name())));
    };
    let (depth, running) = (session.budget.depth(), session.running.len());
    let mut executor = Executor {
        scope,
        session,
        tree,
        at: At::Start,
        variables: Vec::new(),
        base: 0,
        out: Vec::new(),
        limit,
    };
    let done = executor.template(tree, Slot::new(data.clone()));
    let out = std::mem::take(&mut executor.out);
    session.budget.restore_depth(depth);
    session.running.truncate(running);
    done.map(|()| out)
}

/// One run of a template, with those that it calls by `template`.
struct Executor<'s, 'r> {
    scope: &'s Scope<'s>,
    session: &'r mut Session,
    /// The template that runs.
    tree: &'s Tree,
    /// What was evaluated last, for errors.
    at: At<'s>,
    variables: Vec<(Arc<str>, Slot)>,
    /// Where the variables of the template that runs begin.
    base: usize,
    out: Vec<u8>,
    /// Bytes of `out`.
    limit: usize,
}
