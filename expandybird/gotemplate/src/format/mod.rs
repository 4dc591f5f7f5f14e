//! Go's `fmt`: printing of values, with its verbs and its complaints.
//!
//! What is printed goes to one buffer that never grows above a limit, whatever widths and values ask for. Addresses
//! print as `0x0`, so that the same input gives the same bytes.

mod directive;
mod float;
mod integer;
mod printer;
mod string;

pub use float::format_float;

use crate::error::Limit;
use crate::value::Value;
use printer::Printer;

/// Lists and maps within each other.
pub const MAX_VALUE_DEPTH: usize = 100;

/// Bytes of a value in an error text.
const SHOWN_BYTES: usize = 1024;

/// Writes values as `fmt.Print` does: a space between two that are no strings.
///
/// # Errors
/// `out` would be larger than `limit`, or a value is nested too deeply.
pub fn print(out: &mut Vec<u8>, limit: usize, values: &[Value]) -> Result<(), Limit> {
    let mut printer = Printer::new(out, limit);
    let mut after_string = true;
    for value in values {
        let is_string = matches!(value, Value::String(_));
        if !is_string && !after_string {
            printer.write(b" ");
        }
        printer.argument(value, 'v');
        after_string = is_string;
    }
    printer.finish()
}

/// Writes values as `fmt.Println` does.
///
/// # Errors
/// `out` would be larger than `limit`, or a value is nested too deeply.
pub fn println(out: &mut Vec<u8>, limit: usize, values: &[Value]) -> Result<(), Limit> {
    let mut printer = Printer::new(out, limit);
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printer.write(b" ");
        }
        printer.argument(value, 'v');
    }
    printer.write(b"\n");
    printer.finish()
}

/// Writes values as `fmt.Printf` does.
///
/// # Errors
/// `out` would be larger than `limit`, or a value is nested too deeply.
pub fn printf(
    out: &mut Vec<u8>,
    limit: usize,
    format: &[u8],
    values: &[Value],
) -> Result<(), Limit> {
    let mut printer = Printer::new(out, limit);
    directive::printf(&mut printer, format, values);
    printer.finish()
}

/// A value in an error text, by this verb. A long one is cut.
#[must_use]
pub fn excerpt(value: &Value, verb: char) -> String {
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, SHOWN_BYTES);
    printer.argument(value, verb);
    let is_whole = printer.finish().is_ok();
    let text = String::from_utf8_lossy(&out).into_owned();
    if is_whole { text } else { format!("{text}...") }
}
