//! `generate: expression`: text with any number of groups `[SET]{LENGTH}`, each made of random characters of the set.
//!
//! A set has ranges such as `a-f`, and the classes `\w`, `\a`, `\d` and `\A`. Ranges include both ends.

use crate::limits;

/// The order in which ranges run.
const ORDER: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LETTERS: usize = 52;
const SYMBOLS: &[u8] = br##"~!@#$%^&*()-_+={}[]\|<,>.?/"';:`"##;

/// What a generator is given, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Characters to choose from, all of one byte, and how many are chosen.
    Group(Vec<u8>, usize),
}

/// Why an expression makes no value. The words are those of OpenShift, which people search for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    #[error("malformed expresion syntax: [{0}]")]
    Malformed(String),
    #[error("invalid range specified: {0}-{1}")]
    Range(char, char),
    #[error("range must be within [1-255] characters ({0})")]
    Length(String),
    #[error("the expression has more than {} bytes", limits::EXPRESSION_BYTES)]
    TooLong,
}

impl Expression {
    /// # Errors
    /// A group has a set or a length that is not valid.
    pub fn parse(text: &str) -> Result<Self, GeneratorError> {
        if text.len() > limits::EXPRESSION_BYTES {
            return Err(GeneratorError::TooLong);
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match group(rest) {
                Some((set, length, after)) => {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                    parts.push(Part::Group(alphabet(set)?, checked(length)?));
                    rest = after;
                }
                None => {
                    literal.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        parts.push(Part::Text(literal));
        Ok(Self(parts))
    }

    /// A value. `random` fills with random bytes.
    pub fn generate(&self, mut random: impl FnMut(&mut [u8])) -> String {
        let mut value = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => value.push_str(text),
                Part::Group(alphabet, length) => {
                    value.extend((0..*length).map(|_| char::from(choose(alphabet, &mut random))));
                }
            }
        }
        value
    }
}

/// One of them, each as likely as the others: bytes that would favour the first ones are drawn again.
fn choose(alphabet: &[u8], random: &mut impl FnMut(&mut [u8])) -> u8 {
    let fair = 256 - 256 % alphabet.len();
    loop {
        let mut byte = [0];
        random(&mut byte);
        let drawn = usize::from(byte[0]);
        if drawn < fair {
            return alphabet[drawn % alphabet.len()];
        }
    }
}

/// The group that a text begins with: its set, its length, and what follows.
fn group(text: &str) -> Option<(&str, &str, &str)> {
    let inner = text.strip_prefix('[')?;
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'\\';
    let end = inner.bytes().position(|byte| !is_in(byte))?;
    let (set, after) = inner.split_at(end);
    let after = after.strip_prefix("]{")?;
    let end = after.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (length, after) = after.split_at(end);
    let after = after.strip_prefix('}')?;
    (!set.is_empty() && !length.is_empty()).then_some((set, length, after))
}

fn checked(length: &str) -> Result<usize, GeneratorError> {
    let parsed = length.parse().ok();
    let within = parsed.filter(|length| (1..=limits::GENERATED_CHARS).contains(length));
    within.ok_or_else(|| GeneratorError::Length(length.to_owned()))
}

/// The characters of a set, each once.
fn alphabet(set: &str) -> Result<Vec<u8>, GeneratorError> {
    let mut found: Vec<u8> = Vec::new();
    let mut rest = set.as_bytes();
    while !rest.is_empty() {
        let (characters, after): (Vec<u8>, _) = match rest {
            [b'\\', b'w', after @ ..] => ([ORDER, b"_"].concat(), after),
            [b'\\', b'a', after @ ..] => (ORDER.to_vec(), after),
            [b'\\', b'd', after @ ..] => (ORDER[LETTERS..].to_vec(), after),
            [b'\\', b'A', after @ ..] => (SYMBOLS.to_vec(), after),
            [from, b'-', to, after @ ..] if is_ranged(*from) && is_ranged(*to) => {
                (range(*from, *to)?, after)
            }
            _ => return Err(GeneratorError::Malformed(set.to_owned())),
        };
        found.extend(characters);
        rest = after;
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn is_ranged(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn range(from: u8, to: u8) -> Result<Vec<u8>, GeneratorError> {
    let place = |byte: u8| ORDER.iter().position(|other| *other == byte);
    match (place(from), place(to)) {
        (Some(first), Some(last)) if first <= last => Ok(ORDER[first..=last].to_vec()),
        _ => Err(GeneratorError::Range(char::from(from), char::from(to))),
    }
}
