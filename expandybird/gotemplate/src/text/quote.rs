//! Go's `strconv.Quote` and its relatives.

use super::{RUNE_ERROR, decode_rune, is_print};

/// The text in double quotes, with Go's escapes.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_quoted(&mut out, text.as_bytes(), false);
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes the bytes in double quotes, with Go's escapes; `ascii` escapes all that is not ASCII.
pub fn write_quoted(out: &mut Vec<u8>, bytes: &[u8], ascii: bool) {
    out.push(b'"');
    let mut left = bytes;
    while let Some(&first) = left.first() {
        let (rune, length) = decode_rune(left);
        match rune {
            Some(rune) => write_escaped(out, rune, '"', ascii),
            None => out.extend(format!("\\x{first:02x}").bytes()),
        }
        left = left.get(length..).unwrap_or_default();
    }
    out.push(b'"');
}

/// Writes the character in single quotes, with Go's escapes.
pub fn write_quoted_rune(out: &mut Vec<u8>, rune: char, ascii: bool) {
    out.push(b'\'');
    write_escaped(out, rune, '\'', ascii);
    out.push(b'\'');
}

fn write_escaped(out: &mut Vec<u8>, rune: char, quote: char, ascii: bool) {
    let short = match rune {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0c' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0b' => 'v',
        _ if rune == quote || rune == '\\' => rune,
        _ if is_print(rune) && (rune.is_ascii() || !ascii) => return push(out, rune),
        _ => return write_number(out, rune),
    };
    out.push(b'\\');
    push(out, short);
}

fn write_number(out: &mut Vec<u8>, rune: char) {
    let code = u32::from(rune);
    let escape = match code {
        0..=0x1f | 0x7f => format!("\\x{code:02x}"),
        0..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    };
    out.extend(escape.bytes());
}

fn push(out: &mut Vec<u8>, rune: char) {
    out.extend(rune.encode_utf8(&mut [0; 4]).bytes());
}

/// Whether Go writes the bytes in back quotes without any change.
#[must_use]
pub fn can_backquote(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let is_plain = |rune: char| match rune {
        '\t' => true,
        '`' | '\x7f' | '\u{feff}' => false,
        RUNE_ERROR => true,
        _ => u32::from(rune) >= 0x20,
    };
    text.chars().all(is_plain)
}
