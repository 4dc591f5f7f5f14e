//! The patterns of `.Files.Glob`, as the Go package `gobwas/glob` reads them with `/` as the separator.
//!
//! Not the crate `globset`: a pattern that is wrong means every file here, and `**` crosses folders anywhere.

use std::iter::Peekable;
use std::str::Chars;

use crate::pattern::{Part, matches};

/// Bytes of the longest pattern.
const MAX_BYTES: usize = 4096;
/// `{…}` within each other.
const MAX_DEPTH: usize = 32;

/// A pattern of paths.
pub struct Glob(Vec<Part>);

impl Glob {
    /// A pattern that is wrong matches everything.
    pub fn new(pattern: &str) -> Self {
        let parsed = (pattern.len() <= MAX_BYTES)
            .then(|| parse(&mut pattern.chars().peekable(), 0))
            .flatten();
        Self(parsed.unwrap_or_else(|| vec![Part::Anything]))
    }

    /// Whether it matches the whole path.
    pub fn matches(&self, path: &str) -> bool {
        matches(&self.0, path)
    }
}

type Source<'p> = Peekable<Chars<'p>>;

/// Reads a pattern to its end, or to the end of an alternative. `None`: it is wrong.
fn parse(source: &mut Source<'_>, depth: usize) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    while let Some(&next) = source.peek() {
        if depth > 0 && matches!(next, ',' | '}') {
            return Some(parts);
        }
        source.next();
        match next {
            '*' if source.next_if_eq(&'*').is_some() => parts.push(Part::Anything),
            '*' => parts.push(Part::Segment),
            '?' => parts.push(Part::AnyInSegment),
            '[' => parts.push(class(source)?),
            '{' if depth < MAX_DEPTH => parts.push(alternatives(source, depth)?),
            '{' => return None,
            '\\' => parts.extend(source.next().map(Part::Char)),
            other => parts.push(Part::Char(other)),
        }
    }
    (depth == 0).then_some(parts)
}

fn alternatives(source: &mut Source<'_>, depth: usize) -> Option<Part> {
    let mut patterns = Vec::new();
    loop {
        patterns.push(parse(source, depth + 1)?);
        if source.next()? == '}' {
            return Some(Part::OneOf(patterns));
        }
    }
}

/// One range, or a list of characters: not both.
fn class(source: &mut Source<'_>) -> Option<Part> {
    let negated = source.next_if_eq(&'!').is_some();
    let mut listed = Vec::new();
    loop {
        match source.next()? {
            ']' if listed.is_empty() => return None,
            ']' => break,
            '-' if listed.len() == 1 => return range(source, negated, *listed.first()?),
            '\\' => listed.push(source.next()?),
            other => listed.push(other),
        }
    }
    Some(Part::Class {
        negated,
        ranges: listed.into_iter().map(|one| (one, one)).collect(),
        crosses: true,
    })
}

fn range(source: &mut Source<'_>, negated: bool, first: char) -> Option<Part> {
    let last = source.next()?;
    let is_closed = source.next()? == ']';
    (is_closed && first <= last).then(|| Part::Class {
        negated,
        ranges: vec![(first, last)],
        crosses: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_paths_and_a_wrong_one_matches_all() {
        for (pattern, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "d/a.txt", false),
            ("**.txt", "d/a.txt", true),
            ("d/**.txt", "d/e/a.txt", true),
            ("d/*", "d/a.txt", true),
            ("d/*", "d/e/a.txt", false),
            ("{a,b*}.txt", "bcd.txt", true),
            ("{a,{b,c}}.txt", "c.txt", true),
            ("[a-c].txt", "b.txt", true),
            ("[!a-c].txt", "b.txt", false),
            ("[abc].txt", "c.txt", true),
            ("a\\*.txt", "a*.txt", true),
            ("a\\*.txt", "ab.txt", false),
            ("[a-zA-Z].txt", "anything/else", true),
            ("[a", "anything", true),
            ("{a", "anything", true),
            ("A.txt", "a.txt", false),
        ] {
            assert_eq!(
                Glob::new(pattern).matches(path),
                expected,
                "{pattern} {path}"
            );
        }
    }
}
