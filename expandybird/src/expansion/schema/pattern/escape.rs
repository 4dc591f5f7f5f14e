//! The part after a backslash, inside and outside of brackets.

use super::parse::Parser;
use super::tree::{Class, ClassKind};
use super::{PatternError, Problem};

/// `\d` and similar.
pub fn class(parser: &mut Parser, is_ascii: bool) -> Option<Class> {
    let letter = parser.peek()?;
    let kind = match letter.to_ascii_lowercase() {
        'd' => ClassKind::Digit,
        's' => ClassKind::Space,
        'w' => ClassKind::Word,
        _ => return None,
    };
    parser.next();
    Some(Class {
        kind,
        is_negated: letter.is_ascii_uppercase(),
        is_ascii,
    })
}

/// A single character.
pub fn character(parser: &mut Parser) -> Result<char, PatternError> {
    let Some(letter) = parser.next() else {
        return Err(parser.error(Problem::Escape));
    };
    match letter {
        'a' => Ok('\x07'),
        'f' => Ok('\x0c'),
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        't' => Ok('\t'),
        'v' => Ok('\x0b'),
        'x' => hexadecimal(parser, 2),
        'u' => hexadecimal(parser, 4),
        'U' => hexadecimal(parser, 8),
        'N' => Err(parser.error(Problem::Unsupported("\\N{…}"))),
        '0'..='7' => {
            let digits = format!("{letter}{}", parser.take(2, |c| c.is_digit(8)));
            octal(parser, &digits)
        }
        letter if letter.is_ascii_alphanumeric() => Err(parser.error(Problem::Escape)),
        other => Ok(other),
    }
}

pub fn octal(parser: &Parser, digits: &str) -> Result<char, PatternError> {
    let code = u8::from_str_radix(digits, 8);
    code.map(char::from)
        .map_err(|_| parser.error(Problem::Escape))
}

fn hexadecimal(parser: &mut Parser, count: usize) -> Result<char, PatternError> {
    let digits = parser.take(count, |c| c.is_ascii_hexdigit());
    let code = u32::from_str_radix(&digits, 16)
        .ok()
        .filter(|_| digits.len() == count);
    code.and_then(char::from_u32)
        .ok_or_else(|| parser.error(Problem::Escape))
}
