//! What [`crate::engine::jinja::rewrite`] puts in place of `break` and `continue` that leave more than a loop, and of the `else` of
//! such a loop.

use minijinja::{Environment, State};

/// Notes `'break'` or `'continue'`: the rest of the blocks on the way is skipped.
pub const LEAVE: &str = "__leave__";
/// Whether nothing is left.
pub const STAYS: &str = "__stays__";
/// Whether the loop is left this way. It is left right after that, so the note is deleted.
pub const LEFT: &str = "__left__";
/// Starts a loop whose `else` depends on its rounds.
pub const WATCH: &str = "__watch__";
/// The end of a round that neither `break` nor `continue` left.
pub const COMPLETED: &str = "__completed__";
/// Whether no round of the loop was completed.
pub const UNFINISHED: &str = "__unfinished__";

pub fn register(environment: &mut Environment<'_>) {
    environment.add_function(LEAVE, |state: &mut State<'_, '_>, way: String| {
        notes(state).way = Some(way);
    });
    environment.add_function(STAYS, |state: &mut State<'_, '_>| {
        notes(state).way.is_none()
    });
    environment.add_function(LEFT, |state: &mut State<'_, '_>, way: &str| {
        notes(state).way.take_if(|noted| noted == way).is_some()
    });
    environment.add_function(WATCH, |state: &mut State<'_, '_>| {
        notes(state).unfinished.push(true);
    });
    environment.add_function(COMPLETED, |state: &mut State<'_, '_>| {
        if let Some(unfinished) = notes(state).unfinished.last_mut() {
            *unfinished = false;
        }
    });
    environment.add_function(UNFINISHED, |state: &mut State<'_, '_>| {
        notes(state).unfinished.pop().unwrap_or(true)
    });
}

#[derive(Debug, Default)]
struct Notes {
    way: Option<String>,
    /// Of the open loops with an `else`, innermost last: whether no round was completed.
    unfinished: Vec<bool>,
}

fn notes<'s>(state: &'s mut State<'_, '_>) -> &'s mut Notes {
    state.get_or_insert_extension(Notes::default())
}
