//! `&amp;`, `&#38;` and their like, decoded as Python's `html.unescape` does it.

/// The names that are decoded, also without a semicolon. HTML has 2,000 more.
const NAMES: [(&str, char); 9] = [
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("nbsp", '\u{a0}'),
];
/// A name that counts only with its semicolon.
const APOSTROPHE: &str = "apos;";
/// What the numbers from 128 mean: Windows-1252, as browsers take them.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The text with characters in place of names and numbers.
pub fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut parts = text.split('&');
    decoded.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match numbered(part).or_else(|| named(part)) {
            Some((character, rest)) => {
                decoded.extend(character);
                decoded.push_str(rest.strip_prefix(';').unwrap_or(rest));
            }
            None => {
                decoded.push('&');
                decoded.push_str(part);
            }
        }
    }
    decoded
}

/// The character, and what follows its name.
fn named(text: &str) -> Option<(Option<char>, &str)> {
    if let Some(rest) = text.strip_prefix(APOSTROPHE) {
        return Some((Some('\''), rest));
    }
    let mut names = NAMES.iter();
    let (rest, character) =
        names.find_map(|&(name, character)| Some((text.strip_prefix(name)?, character)))?;
    // A longer name, such as `&ltimes;`, is another one.
    let after = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let is_longer = after.len() < rest.len() && after.starts_with(';');
    (!is_longer).then_some((Some(character), rest))
}

/// The character, none for a control character, and what follows its number.
fn numbered(text: &str) -> Option<(Option<char>, &str)> {
    let number = text.strip_prefix('#')?;
    let (digits, base) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(base));
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    if digits.is_empty() {
        return None;
    }
    // A number that is too large for 32 bits is too large for a character.
    let code = u32::from_str_radix(digits, base).unwrap_or(u32::MAX);
    Some((character(code), rest))
}

fn character(code: u32) -> Option<char> {
    match code {
        0 => Some(char::REPLACEMENT_CHARACTER),
        0x80..=0x9f => WINDOWS.chars().nth(usize::try_from(code).ok()? - 0x80),
        0x01..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f | 0xfdd0..=0xfdef => None,
        0..=0x10_ffff if code & 0xfffe == 0xfffe => None,
        _ => Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_become_characters() {
        for (text, expected) in [
            ("a&amp;b&LT;&gt&quot;&apos;&nbsp;", "a&b<>\"'\u{a0}"),
            ("&ampx&amp;amp;&;&&lt", "&x&amp;&;&<"),
            (
                "&Amp;&APOS;&apos &copy;&ltimes;",
                "&Amp;&APOS;&apos &copy;&ltimes;",
            ),
            ("&#38;&#38a&#x26;&#X26;", "&&a&&"),
            ("&#;&#x;&#xg;&#+5;&#", "&#;&#x;&#xg;&#+5;&#"),
            ("&#128;&#x9f;&#129;&#13;", "€Ÿ\u{81}\r"),
            ("&#0;&#xd800;&#1114112;&#99999999999;", "����"),
            ("-&#11;&#127;&#xfffe;&#x10ffff;&#xfdd0;-", "--"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }
}
