//! Upper and lower case.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::text::{is_digit, is_letter, is_space, runes};
use expandybird_gotemplate::value::{Call, Function, Value};

use super::TEXT;
use super::words::{joined_words, pascal_case};

/// Functions of case.
pub const CASES: &[Function] = &[
    Function::new("upper", TEXT, |call| mapped(call, upper)),
    Function::new("lower", TEXT, |call| mapped(call, lower)),
    Function::new("title", TEXT, |call| {
        with_previous(call, |previous, rune| {
            if separates_words(previous) {
                upper(rune)
            } else {
                rune
            }
        })
    }),
    Function::new("untitle", TEXT, |call| {
        with_previous(call, |previous, rune| {
            if is_space(previous) {
                lower(rune)
            } else {
                rune
            }
        })
    }),
    Function::new("swapcase", TEXT, |call| mapped(call, swapped)),
    Function::new("camelcase", TEXT, |call| {
        Ok(pascal_case(&runes(call.string(0)?).collect::<Vec<_>>()).into())
    }),
    Function::new("snakecase", TEXT, |call| joined_words(call, '_')),
    Function::new("kebabcase", TEXT, |call| joined_words(call, '-')),
];

/// Go's `unicode.ToUpper`: one character for one.
pub fn upper(rune: char) -> char {
    single(rune, rune.to_uppercase())
}

/// Go's `unicode.ToLower`: one character for one.
pub fn lower(rune: char) -> char {
    match rune {
        'İ' => 'i',
        _ => single(rune, rune.to_lowercase()),
    }
}

fn single(rune: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => rune,
    }
}

fn swapped(rune: char) -> char {
    if rune.is_uppercase() {
        lower(rune)
    } else {
        upper(rune)
    }
}

/// Maps each character. A text that stays as it is keeps bytes that are not UTF-8, as in Go.
fn mapped(call: &mut Call<'_>, map: fn(char) -> char) -> Result<Value, Failure> {
    let text = call.string(0)?;
    if is_unchanged(text, map) {
        return Ok(text.clone().into());
    }
    Ok(runes(text).map(map).collect::<String>().into())
}

fn is_unchanged(text: &[u8], map: fn(char) -> char) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(|rune| map(rune) == rune))
}

/// Maps each character, given the one before it; a space comes before the first.
fn with_previous(call: &mut Call<'_>, map: fn(char, char) -> char) -> Result<Value, Failure> {
    let mut previous = ' ';
    let map = |rune| map(std::mem::replace(&mut previous, rune), rune);
    Ok(runes(call.string(0)?).map(map).collect::<String>().into())
}

/// Go's rule for `strings.Title`.
fn separates_words(rune: char) -> bool {
    if rune.is_ascii() {
        return !(rune.is_ascii_alphanumeric() || rune == '_');
    }
    !is_letter(rune) && !is_digit(rune) && is_space(rune)
}
