//! `'{:>5}'.format(x)` and `'%5s' % x`, like Python.
//!
//! Not minijinja's `formatting`: it lacks conversions (`!r`), percentages, widths from arguments, and precision for
//! integers.

mod braces;
mod numbers;
mod percent;
mod spec;

pub use braces::format;
pub use percent::percent;

use minijinja::{Error, ErrorKind, Value};

use super::meter;
use super::values::repr;

/// The maximum of one width or precision.
const WIDTH: usize = 99_999;

fn bounded(width: usize) -> Result<usize, Error> {
    match width > WIDTH {
        true => Err(Error::new(
            ErrorKind::WriteFailure,
            format!("a width of more than {WIDTH} characters"),
        )),
        false => Ok(width),
    }
}

/// The conversions `!r`, `!s` and `!a` of a value.
fn converted(value: &Value, conversion: char) -> Result<Value, Error> {
    match conversion {
        's' => meter::text(|out| repr::write_str(out, value)).map(Value::from),
        'r' => meter::text(|out| repr::write_repr(out, value, 0)).map(Value::from),
        _ => {
            let shown = meter::text(|out| repr::write_repr(out, value, 0))?;
            meter::text(|out| shown.chars().try_for_each(|c| write_ascii(out, c))).map(Value::from)
        }
    }
}

/// Characters outside of ASCII, as Python's `ascii` writes them.
fn write_ascii(out: &mut dyn std::fmt::Write, character: char) -> std::fmt::Result {
    match u32::from(character) {
        0..=0x7f => out.write_char(character),
        code @ 0x80..=0xff => write!(out, "\\x{code:02x}"),
        code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
        code => write!(out, "\\U{code:08x}"),
    }
}
