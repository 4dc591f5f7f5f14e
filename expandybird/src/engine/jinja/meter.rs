//! Counts what a rendering writes and creates.
//!
//! A text that a template doubles repeatedly would use all memory long before its steps are used up. So all code that
//! creates texts or lists asks here first. Comparisons of values are counted too. Other time is not: the server ends a
//! process at its deadline.
//!
//! Created values are counted per thread, because each rendering has its own thread and most of the code has no access
//! to its state.

use std::cell::Cell;
use std::fmt::{self, Write};

use minijinja::{Error, ErrorKind, Output, State, Value};

use super::values::repr;

/// The largest text that one operation may create.
pub const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// The total that one rendering may create: texts, items of lists, entries of maps, including dropped ones.
const MADE_BYTES: usize = 256 * 1024 * 1024;

/// How many values a rendering may compare for each of its steps. A list within itself many times over takes few steps
/// to make, and more comparisons than a processor does in a year.
const LOOKS_FOR_A_STEP: u64 = 5;

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
    static LOOKS_LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Starts a rendering of so many steps on this thread.
pub fn start(steps: Option<u64>) {
    MADE.set(0);
    LOOKS_LEFT.set(steps.map_or(u64::MAX, |steps| steps.saturating_mul(LOOKS_FOR_A_STEP)));
}

/// Counts a value that is compared, or looked at because of one that holds it.
pub fn look() -> Result<(), Error> {
    let left = LOOKS_LEFT.get().checked_sub(1);
    LOOKS_LEFT.set(left.unwrap_or_default());
    match left {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::OutOfFuel,
            "too many values are compared",
        )),
    }
}

/// Counts created bytes.
pub fn charge(bytes: usize) -> Result<(), Error> {
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

/// The counter of one rendering, in its [`State`].
#[derive(Debug, Default)]
pub struct Meter {
    written_bytes: usize,
    pub printed_undefined: bool,
}

/// The formatter: it runs for each `{{ value }}`.
pub fn print(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    limit: usize,
) -> Result<(), Error> {
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

/// A text that must not exceed [`TEXT_BYTES`].
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

/// Call before you create a text of a known size.
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
