//! Integers by verbs.

use super::printer::Printer;
use crate::text;
use crate::value::Value;

/// The sign of an integer, and whether its type has one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Unsigned,
    Positive,
    Negative,
}

impl Sign {
    pub fn of(number: i64) -> Self {
        if number < 0 {
            Self::Negative
        } else {
            Self::Positive
        }
    }
}

impl Printer<'_> {
    /// An integer, as its absolute value and its sign.
    pub fn integer(&mut self, value: &Value, size: u64, sign: Sign, verb: char) {
        match verb {
            'v' if self.flags.sharp_v && sign == Sign::Unsigned => {
                let sharp = std::mem::replace(&mut self.flags.sharp, true);
                self.digits(size, sign, 16, verb);
                self.flags.sharp = sharp;
            }
            'v' | 'd' => self.digits(size, sign, 10, verb),
            'b' => self.digits(size, sign, 2, verb),
            'o' | 'O' => self.digits(size, sign, 8, verb),
            'x' | 'X' => self.digits(size, sign, 16, verb),
            'c' => self.pad(rune(size, sign).encode_utf8(&mut [0; 4]).as_bytes()),
            'q' => {
                let mut quoted = Vec::new();
                text::write_quoted_rune(&mut quoted, rune(size, sign), self.flags.plus);
                self.pad(&quoted);
            }
            'U' => self.code_point(size, sign),
            _ => self.complain(value, verb),
        }
    }

    fn digits(&mut self, size: u64, sign: Sign, base: u32, verb: char) {
        if self.flags.precision == Some(0) && size == 0 {
            let width = self.flags.width.unwrap_or(0);
            return self.write(&vec![b' '; width]);
        }
        let digits = match base {
            2 => format!("{size:b}"),
            8 => format!("{size:o}"),
            16 if verb == 'X' => format!("{size:X}"),
            16 => format!("{size:x}"),
            _ => size.to_string(),
        };
        let sign = match sign {
            Sign::Negative => "-",
            _ if self.flags.plus => "+",
            _ if self.flags.space => " ",
            _ => "",
        };
        let zeros = self.least_digits(sign).saturating_sub(digits.len());
        let starts_with_zero = zeros > 0 || digits.starts_with('0');
        let prefix = match (self.flags.sharp, base, verb) {
            (true, 8, 'O') if !starts_with_zero => "0o0",
            (_, _, 'O') => "0o",
            (true, 2, _) => "0b",
            (true, 8, _) if !starts_with_zero => "0",
            (true, 16, 'X') => "0X",
            (true, 16, _) => "0x",
            _ => "",
        };
        let zeros = "0".repeat(zeros);
        self.pad_with_spaces(format!("{sign}{prefix}{zeros}{digits}").as_bytes());
    }

    /// The precision; without it, the width, if it asks for zeros.
    fn least_digits(&self, sign: &str) -> usize {
        match (self.flags.precision, self.flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if self.flags.zero && !self.flags.minus => {
                width.saturating_sub(sign.len())
            }
            _ => 0,
        }
    }

    /// `%U`: `U+0078`, and with `#` also the character.
    fn code_point(&mut self, size: u64, sign: Sign) {
        let code = if sign == Sign::Negative {
            size.wrapping_neg()
        } else {
            size
        };
        let digits = format!("{code:X}");
        let least = self.flags.precision.unwrap_or(0).max(4);
        let zeros = "0".repeat(least.saturating_sub(digits.len()));
        let rune = u32::try_from(code).ok().and_then(char::from_u32);
        let character = match rune {
            Some(rune) if self.flags.sharp && text::is_print(rune) => format!(" '{rune}'"),
            _ => String::new(),
        };
        self.pad_with_spaces(format!("U+{zeros}{digits}{character}").as_bytes());
    }
}

/// The character of a number; U+FFFD if there is none.
fn rune(size: u64, sign: Sign) -> char {
    let code = if sign == Sign::Negative {
        u64::MAX
    } else {
        size
    };
    let rune = u32::try_from(code).ok().and_then(char::from_u32);
    rune.unwrap_or(text::RUNE_ERROR)
}
