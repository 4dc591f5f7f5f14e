//! Divides code into tokens: as much of Jinja's grammar as [`super`] needs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A part of an operand.
    Operand,
    Plus,
    Minus,
    Tilde,
    /// `*`, `/`, `//` and `%`.
    Times,
    /// `**`.
    Power,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`, `in` and `not in`.
    Compare,
    /// Ends an expression: keywords, commas, brackets.
    Separator,
}

#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    /// Its text.
    pub fn of(self, source: &str) -> &str {
        &source[self.start..self.end]
    }
}

/// The length of the token at the start of the text.
pub fn length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first == '\'' || first == '"' {
        let mut escaped = false;
        for (index, character) in text.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == first => return Some(index + 1),
                _ => {}
            }
        }
        return None;
    }
    if first.is_ascii_digit() {
        return Some(number_length(text));
    }
    if first.is_alphanumeric() || first == '_' {
        return Some(
            text.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(text.len()),
        );
    }
    let double = ["//", "**", "==", "!=", "<=", ">="]
        .iter()
        .any(|operator| text.starts_with(operator));
    Some(if double { 2 } else { first.len_utf8() })
}

/// `1`, `1_000`, `0x1f`, `1.5e+3`. A sign is a part of it only in the exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        let digit_follows = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        let is_exponent = matches!(bytes[at - 1], b'e' | b'E') && !text.starts_with("0x");
        match byte {
            b'.' if digit_follows => {}
            b'+' | b'-' if is_exponent && digit_follows => {}
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {}
            _ => break,
        }
        at += 1;
    }
    at
}

pub fn kind(token: &str, before: &[Token], source: &str) -> Kind {
    let last = before.last().map(|last| &source[last.start..last.end]);
    match token {
        "+" => Kind::Plus,
        "-" => Kind::Minus,
        "~" => Kind::Tilde,
        "*" | "/" | "//" | "%" => Kind::Times,
        "**" => Kind::Power,
        "==" | "!=" | "<" | ">" | "<=" | ">=" => Kind::Compare,
        "," | ":" | "=" => Kind::Separator,
        // `a.in` is an attribute. `is in` and `is not` belong to a test.
        _ if last == Some(".") => Kind::Operand,
        "not" | "in" if last == Some("is") => Kind::Operand,
        "in" | "not" | "if" | "recursive" if takes_argument(before, source) => Kind::Operand,
        "in" => Kind::Compare,
        "and" | "or" | "not" | "if" | "else" | "recursive" => Kind::Separator,
        _ => Kind::Operand,
    }
}

/// Whether the tokens before end in `is` and the name of a test. A name behind it is its argument, `in` too, and so
/// are a list and a map.
pub fn takes_argument(before: &[Token], source: &str) -> bool {
    let mut words = before.iter().rev().map(|token| token.of(source)).skip(1);
    let mut word = words.next();
    // The name of a test may have dots.
    while word == Some(".") {
        word = words.nth(1);
    }
    word == Some("is") || word == Some("not") && words.next() == Some("is")
}

/// Words that are no names of variables.
const KEYWORDS: [&str; 13] = [
    "true", "True", "false", "False", "none", "None", "and", "or", "not", "in", "is", "if", "else",
];

/// Whether Jinja2 computes an operand while it compiles: it has no variables, and no calls but of filters and tests.
pub fn are_constant(operand: &[Token], source: &str) -> bool {
    let (Some(first), Some(last)) = (operand.first(), operand.last()) else {
        return false;
    };
    let mut words = vec!["", ""];
    let mut rest = source[first.start..last.end].trim_start();
    while !rest.is_empty() {
        let Some(length) = length(rest) else {
            return false;
        };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after.trim_start();
    }
    words.push("");
    let mut fours = words.windows(4);
    !fours.any(|four| matches!(four, [a, b, c, d] if *d != "=" && is_variable(a, b, c)))
}

/// Whether the third of three words in a row is a variable, or calls a value.
fn is_variable(first: &str, second: &str, word: &str) -> bool {
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_applied = |before: &str| matches!(before, "|" | "is" | "not");
    match word {
        "(" if is_name(second) => !is_applied(first) && !KEYWORDS.contains(&second),
        "(" => matches!(second, ")" | "]" | "}"),
        _ if is_name(word) => {
            let is_of_another =
                matches!(second, "." | "|" | "is") || (first, second) == ("is", "not");
            !is_of_another && !KEYWORDS.contains(&word)
        }
        _ => false,
    }
}
