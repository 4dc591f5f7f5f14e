//! Go's view of text: bytes that are mostly UTF-8, its classes of characters, and its quoting.
//!
//! By hand because the rules of `unicode/utf8` and `strconv` show in output and error texts, and no crate has them.

mod quote;
mod unquote;

pub use quote::{can_backquote, quoted, write_quoted, write_quoted_rune};
pub use unquote::{SyntaxError, Unquoted, unquote, unquote_char};

use unicode_general_category::{GeneralCategory, get_general_category};

/// What Go puts in the place of bytes that are not UTF-8.
pub const RUNE_ERROR: char = char::REPLACEMENT_CHARACTER;

/// The first character and its length in bytes: `None` and 1 for a byte that is not UTF-8, `None` and 0 at the end.
#[must_use]
pub fn decode_rune(bytes: &[u8]) -> (Option<char>, usize) {
    let Some(&first) = bytes.first() else {
        return (None, 0);
    };
    let length = match first {
        0..=0x7f => return (Some(char::from(first)), 1),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return (None, 1),
    };
    let encoded = bytes
        .get(..length)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    match encoded.and_then(|text| text.chars().next()) {
        Some(rune) => (Some(rune), length),
        None => (None, 1),
    }
}

/// The characters as Go's `range` sees them: [`RUNE_ERROR`] for each byte that is not UTF-8.
pub fn runes(mut bytes: &[u8]) -> impl Iterator<Item = char> {
    std::iter::from_fn(move || {
        let (rune, length) = decode_rune(bytes);
        bytes = bytes.get(length..).unwrap_or_default();
        (length > 0).then(|| rune.unwrap_or(RUNE_ERROR))
    })
}

/// The number of characters, counted as Go does.
#[must_use]
pub fn rune_count(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => runes(bytes).count(),
    }
}

/// The first characters, at most so many.
#[must_use]
pub fn truncated(bytes: &[u8], runes: usize) -> &[u8] {
    let mut end = 0;
    for _ in 0..runes {
        end += decode_rune(bytes.get(end..).unwrap_or_default()).1;
    }
    bytes.get(..end).unwrap_or(bytes)
}

/// Go's `unicode.IsLetter`.
#[must_use]
pub fn is_letter(rune: char) -> bool {
    use GeneralCategory as C;
    if rune.is_ascii() {
        return rune.is_ascii_alphabetic();
    }
    matches!(
        get_general_category(rune),
        C::UppercaseLetter
            | C::LowercaseLetter
            | C::TitlecaseLetter
            | C::ModifierLetter
            | C::OtherLetter
    )
}

/// Go's `unicode.IsDigit`.
#[must_use]
pub fn is_digit(rune: char) -> bool {
    if rune.is_ascii() {
        return rune.is_ascii_digit();
    }
    get_general_category(rune) == GeneralCategory::DecimalNumber
}

/// Go's `unicode.IsSpace`.
#[must_use]
pub fn is_space(rune: char) -> bool {
    rune.is_whitespace()
}

/// Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII space.
#[must_use]
pub fn is_print(rune: char) -> bool {
    use GeneralCategory as C;
    if rune.is_ascii() {
        return !rune.is_ascii_control();
    }
    !matches!(
        get_general_category(rune),
        C::Control
            | C::Format
            | C::Surrogate
            | C::PrivateUse
            | C::Unassigned
            | C::LineSeparator
            | C::ParagraphSeparator
            | C::SpaceSeparator
    )
}
