//! Go's `strconv.Unquote` and `strconv.UnquoteChar`.

use super::{RUNE_ERROR, decode_rune};

/// A literal that Go does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid syntax")]
pub struct SyntaxError;

/// What one character of a literal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unquoted {
    /// A character.
    Rune(char),
    /// A byte, by `\x` or an octal escape.
    Byte(u8),
}

impl Unquoted {
    /// The number of the character or the byte.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::Rune(rune) => rune.into(),
            Self::Byte(byte) => byte.into(),
        }
    }
}

/// The bytes that a literal in double or back quotes stands for.
///
/// # Errors
/// An escape is unknown, or a quote or a new line stands inside.
pub fn unquote(literal: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    match literal {
        [b'`', inner @ .., b'`'] if !inner.contains(&b'`') => Ok(inner
            .iter()
            .copied()
            .filter(|&byte| byte != b'\r')
            .collect()),
        [b'"', inner @ .., b'"'] => unquote_double(inner),
        _ => Err(SyntaxError),
    }
}

fn unquote_double(mut inner: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let mut out = Vec::with_capacity(inner.len());
    while !inner.is_empty() {
        if inner.first() == Some(&b'\n') {
            return Err(SyntaxError);
        }
        let (unquoted, length) = unquote_char(inner, b'"')?;
        match unquoted {
            Unquoted::Rune(rune) => out.extend(rune.encode_utf8(&mut [0; 4]).bytes()),
            Unquoted::Byte(byte) => out.push(byte),
        }
        inner = inner.get(length..).unwrap_or_default();
    }
    Ok(out)
}

/// The first character of a literal's inside, and how many bytes it takes there.
///
/// # Errors
/// There is none, it is the quote itself, or its escape is unknown.
pub fn unquote_char(text: &[u8], quote: u8) -> Result<(Unquoted, usize), SyntaxError> {
    let (&first, rest) = text.split_first().ok_or(SyntaxError)?;
    if first == quote {
        return Err(SyntaxError);
    }
    if first != b'\\' {
        let (rune, length) = decode_rune(text);
        return Ok((Unquoted::Rune(rune.unwrap_or(RUNE_ERROR)), length));
    }
    let (&escape, digits) = rest.split_first().ok_or(SyntaxError)?;
    let rune = match escape {
        b'a' => '\x07',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\x0b',
        b'\\' => '\\',
        b'\'' | b'"' if escape == quote => char::from(escape),
        _ => return numeric(escape, rest, digits),
    };
    Ok((Unquoted::Rune(rune), 2))
}

/// `\x41`, `\101`, `\u0041`, `\U00000041`.
fn numeric(escape: u8, rest: &[u8], digits: &[u8]) -> Result<(Unquoted, usize), SyntaxError> {
    let (digits, count, base) = match escape {
        b'x' => (digits, 2, 16),
        b'u' => (digits, 4, 16),
        b'U' => (digits, 8, 16),
        b'0'..=b'7' => (rest, 3, 8),
        _ => return Err(SyntaxError),
    };
    let mut code = 0_u32;
    for &digit in digits.get(..count).ok_or(SyntaxError)? {
        let digit = char::from(digit).to_digit(base).ok_or(SyntaxError)?;
        code = code
            .checked_mul(base)
            .and_then(|code| code.checked_add(digit))
            .ok_or(SyntaxError)?;
    }
    let unquoted = match escape {
        b'u' | b'U' => Unquoted::Rune(char::from_u32(code).ok_or(SyntaxError)?),
        _ => Unquoted::Byte(u8::try_from(code).map_err(|_| SyntaxError)?),
    };
    Ok((unquoted, if base == 8 { 1 + count } else { 2 + count }))
}
