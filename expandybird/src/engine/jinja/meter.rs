//! Counts what a rendering writes and makes, and asks whether anybody still waits for it.
//!
//! Text that a template doubles again and again would take all memory long before its steps are
//! used up; so everything that makes text or lists asks here first. Fuel counts steps, but a step
//! may look through a long text or list: so every item that is looked at is a *tick*, and ticks end
//! when the request has ended.
//!
//! What is made is counted per thread, because a rendering has one to itself and most of those who
//! make something have no access to its state.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write};

use minijinja::{Error, ErrorKind, Output, State, Value};

use super::repr;
use crate::expansion::Stop;

/// The largest text that one operation may make.
pub const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// All that one rendering makes: texts, items of lists, entries of maps, also those that are gone.
const MADE_BYTES: usize = 256 * 1024 * 1024;
/// What an error says that was caused by the end of the request.
pub const TIME_IS_UP: &str = "the expansion took longer than it may";

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// A rendering on this thread, until it is dropped.
pub struct Running(());

impl Running {
    pub fn start(stop: &Stop) -> Self {
        MADE.set(0);
        STOP.set(Some(stop.clone()));
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        STOP.set(None);
    }
}

/// Before each item that a loop, a filter or a test looks at.
pub fn tick() -> Result<(), Error> {
    let is_over = STOP.with_borrow(|stop| stop.as_ref().is_some_and(Stop::is_set));
    match is_over {
        true => Err(Error::new(ErrorKind::OutOfFuel, TIME_IS_UP)),
        false => Ok(()),
    }
}

/// For what is made, in bytes.
pub fn charge(bytes: usize) -> Result<(), Error> {
    tick()?;
    let made = MADE.get().saturating_add(bytes);
    MADE.set(made);
    match made > MADE_BYTES {
        true => Err(Error::new(
            ErrorKind::WriteFailure,
            format!("values of more than {MADE_BYTES} bytes"),
        )),
        false => Ok(()),
    }
}

/// The values, each with a tick; in place of one too late, the error.
pub fn ticking(values: Vec<Value>) -> impl ExactSizeIterator<Item = Value> + Send + Sync {
    values
        .into_iter()
        .map(|value| tick().map_or_else(Value::from, |()| value))
}

/// Of one rendering; lives in its [`State`].
#[derive(Debug, Default)]
pub struct Meter {
    written_bytes: usize,
    pub printed_undefined: bool,
}

/// The formatter: what `{{ value }}` does.
pub fn print(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    limit: usize,
) -> Result<(), Error> {
    tick()?;
    let meter = state.get_or_insert_extension(Meter::default());
    if value.is_undefined() {
        meter.printed_undefined = true;
        return Ok(());
    }
    let mut bounded = Bounded {
        out,
        room: limit.saturating_sub(meter.written_bytes),
    };
    let outcome = repr::write_str(&mut bounded, value);
    meter.written_bytes = limit - bounded.room;
    outcome.map_err(|_| too_large(limit))
}

/// A text that must not become larger than [`TEXT_BYTES`].
pub fn text(write: impl FnOnce(&mut dyn Write) -> fmt::Result) -> Result<String, Error> {
    let mut text = String::new();
    let mut bounded = Bounded {
        out: &mut text,
        room: TEXT_BYTES,
    };
    write(&mut bounded).map_err(|_| too_large(TEXT_BYTES))?;
    charge(text.len())?;
    Ok(text)
}

/// Before a text of a known size is made.
pub fn check(bytes: usize) -> Result<(), Error> {
    match bytes > TEXT_BYTES {
        true => Err(too_large(TEXT_BYTES)),
        false => charge(bytes),
    }
}

fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::WriteFailure,
        format!("a text of more than {limit} bytes"),
    )
}

struct Bounded<'w, W: Write + ?Sized> {
    out: &'w mut W,
    room: usize,
}

impl<W: Write + ?Sized> Write for Bounded<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.room = self.room.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.out.write_str(text)
    }
}
