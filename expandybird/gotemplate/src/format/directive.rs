//! The directives of a format: `%[2]*.[1]*f`.

use super::printer::{Flags, Printer};
use crate::text;
use crate::value::Value;

/// Widths, precisions and argument numbers above this are no numbers.
const MAX_NUMBER: usize = 1_000_000;

struct Directives<'a> {
    format: &'a [u8],
    position: usize,
    values: &'a [Value],
    /// The next argument.
    argument: usize,
    /// Whether an argument was chosen by its number: then nothing is extra.
    is_reordered: bool,
    is_good_number: bool,
    is_after_number: bool,
}

/// Writes the values by the format.
pub fn printf(printer: &mut Printer<'_>, format: &[u8], values: &[Value]) {
    let mut directives = Directives {
        format,
        position: 0,
        values,
        argument: 0,
        is_reordered: false,
        is_good_number: true,
        is_after_number: false,
    };
    while directives.next(printer) && !printer.has_failed() {}
    if !directives.is_reordered {
        directives.complain_about_extra(printer);
    }
}

impl Directives<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.position).copied()
    }

    /// Writes text and one directive. Returns whether there may be more.
    fn next(&mut self, printer: &mut Printer<'_>) -> bool {
        let left = self.format.get(self.position..).unwrap_or_default();
        let text = left
            .iter()
            .position(|&byte| byte == b'%')
            .unwrap_or(left.len());
        printer.write(left.get(..text).unwrap_or_default());
        if text == left.len() {
            return false;
        }
        self.position += text + 1;
        self.is_good_number = true;
        self.is_after_number = false;
        printer.flags = Flags::default();
        self.flags(&mut printer.flags);
        self.argument_number();
        self.width(printer);
        self.precision(printer);
        if !self.is_after_number {
            self.argument_number();
        }
        self.verb(printer)
    }

    fn flags(&mut self, flags: &mut Flags) {
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => return,
            }
            self.position += 1;
        }
    }

    fn width(&mut self, printer: &mut Printer<'_>) {
        if self.peek() != Some(b'*') {
            printer.flags.width = self.number();
            if self.is_after_number && printer.flags.width.is_some() {
                self.is_good_number = false;
            }
            return;
        }
        self.position += 1;
        self.is_after_number = false;
        match self.integer_argument() {
            Some(width) => {
                if width < 0 {
                    printer.flags.minus = true;
                    printer.flags.zero = false;
                }
                printer.flags.width = usize::try_from(width.unsigned_abs()).ok();
            }
            None => printer.write(b"%!(BADWIDTH)"),
        }
    }

    fn precision(&mut self, printer: &mut Printer<'_>) {
        let is_last = self.position + 1 >= self.format.len();
        if self.peek() != Some(b'.') || is_last {
            return;
        }
        self.position += 1;
        if self.is_after_number {
            self.is_good_number = false;
        }
        self.argument_number();
        if self.peek() != Some(b'*') {
            printer.flags.precision = Some(self.number().unwrap_or(0));
            return;
        }
        self.position += 1;
        self.is_after_number = false;
        let precision = self.integer_argument();
        printer.flags.precision = precision.and_then(|precision| precision.try_into().ok());
        if printer.flags.precision.is_none() {
            printer.write(b"%!(BADPREC)");
        }
    }

    /// A number; one that is too large swallows the rest of the format.
    fn number(&mut self) -> Option<usize> {
        let (number, position) = parse_number(self.format, self.position, self.format.len());
        self.position = position;
        number
    }

    /// The argument of a `*`.
    fn integer_argument(&mut self) -> Option<i64> {
        let value = self.values.get(self.argument)?;
        self.argument += 1;
        let number = match value {
            Value::Int(_, number) => *number,
            Value::Uint(_, number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        let is_small = number.unsigned_abs() <= MAX_NUMBER as u64;
        is_small.then_some(number)
    }

    /// `[2]`: which argument is next.
    fn argument_number(&mut self) {
        self.is_after_number = false;
        if self.peek() != Some(b'[') {
            return;
        }
        self.is_reordered = true;
        let left = self.format.get(self.position..).unwrap_or_default();
        let closing = left.iter().position(|&byte| byte == b']');
        let Some(closing) = closing.filter(|_| left.len() >= 3) else {
            self.is_good_number = false;
            self.position += 1;
            return;
        };
        self.position += closing + 1;
        match parse_number(left, 1, closing) {
            (Some(number), end) if end == closing => {
                self.is_after_number = true;
                if (1..=self.values.len()).contains(&number) {
                    self.argument = number - 1;
                } else {
                    self.is_good_number = false;
                }
            }
            _ => self.is_good_number = false,
        }
    }

    fn verb(&mut self, printer: &mut Printer<'_>) -> bool {
        let left = self.format.get(self.position..).unwrap_or_default();
        let (verb, length) = text::decode_rune(left);
        if length == 0 {
            printer.write(b"%!(NOVERB)");
            return false;
        }
        self.position += length;
        let verb = verb.unwrap_or(text::RUNE_ERROR);
        match self.values.get(self.argument) {
            _ if verb == '%' => printer.write(b"%"),
            _ if !self.is_good_number => complain(printer, verb, b"(BADINDEX)"),
            None => complain(printer, verb, b"(MISSING)"),
            Some(value) => {
                if matches!(verb, 'v' | 'w') {
                    let flags = &mut printer.flags;
                    flags.sharp_v = std::mem::take(&mut flags.sharp);
                    flags.plus_v = std::mem::take(&mut flags.plus);
                }
                printer.argument(value, verb);
                self.argument += 1;
            }
        }
        true
    }

    fn complain_about_extra(&self, printer: &mut Printer<'_>) {
        let extra = self.values.get(self.argument..).unwrap_or_default();
        if extra.is_empty() {
            return;
        }
        printer.flags = Flags::default();
        printer.write(b"%!(EXTRA ");
        for (index, value) in extra.iter().enumerate() {
            if index > 0 {
                printer.write(b", ");
            }
            if !matches!(value, Value::Nil) {
                printer.write(value.type_text().as_bytes());
                printer.write(b"=");
            }
            printer.argument(value, 'v');
        }
        printer.write(b")");
    }
}

fn complain(printer: &mut Printer<'_>, verb: char, complaint: &[u8]) {
    printer.write(b"%!");
    printer.write_rune(verb);
    printer.write(complaint);
}

/// The number between two positions, and where it ends.
fn parse_number(text: &[u8], start: usize, end: usize) -> (Option<usize>, usize) {
    let mut number = None;
    let mut position = start;
    while let Some(digit) = text.get(position).filter(|byte| byte.is_ascii_digit()) {
        if position >= end {
            break;
        }
        let value = number.unwrap_or(0);
        if value > MAX_NUMBER {
            return (None, end);
        }
        number = Some(value * 10 + usize::from(digit - b'0'));
        position += 1;
    }
    (number, position)
}
