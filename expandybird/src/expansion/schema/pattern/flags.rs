//! `(?aimsux-imsx`: the flags that it turns on and off.

use super::parse::Parser;
use super::{PatternError, Problem};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    pub ignores_case: bool,
    /// `^` and `$` match at line breaks.
    pub are_lines: bool,
    pub dot_takes_newlines: bool,
    pub is_ascii: bool,
    pub is_verbose: bool,
}

/// The flags in a group.
#[derive(Debug, Default)]
pub struct FlagChange {
    on: String,
    off: String,
    /// For the content of the group only.
    pub is_scoped: bool,
}

impl FlagChange {
    pub fn apply(&self, flags: Flags) -> Flags {
        let is = |before: bool, letter: char| {
            (before || self.on.contains(letter)) && !self.off.contains(letter)
        };
        Flags {
            ignores_case: is(flags.ignores_case, 'i'),
            are_lines: is(flags.are_lines, 'm'),
            dot_takes_newlines: is(flags.dot_takes_newlines, 's'),
            is_verbose: is(flags.is_verbose, 'x'),
            is_ascii: is(flags.is_ascii, 'a') && !self.on.contains('u'),
        }
    }

    fn is_possible(&self) -> bool {
        let is_both = |letter| self.on.contains(letter) && self.off.contains(letter);
        let is_nothing = self.on.is_empty() && self.off.is_empty();
        let is_two_alphabets = self.on.contains('a') && self.on.contains('u');
        !(is_nothing || is_two_alphabets || "imsx".contains(is_both))
    }
}

/// Up to the `)` or `:` after them.
pub fn parse(parser: &mut Parser, first: char) -> Result<FlagChange, PatternError> {
    let mut change = FlagChange::default();
    let mut is_off = false;
    let mut next = Some(first);
    loop {
        match next {
            Some('-') if !is_off => is_off = true,
            Some(letter @ ('i' | 'm' | 's' | 'x')) if is_off => change.off.push(letter),
            Some(letter @ ('a' | 'i' | 'm' | 's' | 'u' | 'x')) if !is_off => change.on.push(letter),
            Some(':') if !(is_off && change.off.is_empty()) => change.is_scoped = true,
            Some(')') if !is_off => {}
            _ => return Err(parser.error(Problem::Flags)),
        }
        match next {
            Some(':' | ')') if change.is_possible() => return Ok(change),
            Some(':' | ')') => return Err(parser.error(Problem::Flags)),
            _ => next = parser.next(),
        }
    }
}
