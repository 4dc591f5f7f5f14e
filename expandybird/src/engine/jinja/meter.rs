//! Counts what a rendering writes, and writes it.
//!
//! Text that a template doubles again and again would take all memory long before its steps are
//! used up; so everything that makes text asks here first.

use std::fmt::{self, Write};

use minijinja::{Error, ErrorKind, Output, State, Value};

use super::repr;

/// The largest text that one operation may make.
pub const TEXT_BYTES: usize = 16 * 1024 * 1024;

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
    Ok(text)
}

/// Before a text of a known size is made.
pub fn check(bytes: usize) -> Result<(), Error> {
    match bytes > TEXT_BYTES {
        true => Err(too_large(TEXT_BYTES)),
        false => Ok(()),
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
