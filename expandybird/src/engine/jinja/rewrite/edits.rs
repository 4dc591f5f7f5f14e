//! The insertions, by position: calls around operands, literals and assigned values.

use std::borrow::Cow;

use super::groups;
use super::tokens::{self, Kind, Token};
use crate::engine::jinja::operators::chain::{FIRST, LAST, NEXT};
use crate::engine::jinja::operators::{
    BINARY, COMPARE, CONCAT, CONSTANT_POWER, NEGATIVE, OWN, POSITIVE, POWER, SLICE,
};

/// One insertion.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    at: usize,
    rank: Rank,
    /// How many bytes it replaces.
    replaced: usize,
    put_in: String,
}

/// The order of several edits at the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Assignment,
    Call,
    Literal,
    Replacement,
}

impl Edits {
    pub fn insert(&mut self, at: usize, text: &str) {
        self.put(at, Rank::Call, 0, text);
    }

    pub fn replace(&mut self, token: Token, source: &str, text: &str) {
        self.put(token.start, Rank::Replacement, token.of(source).len(), text);
    }

    pub fn put(&mut self, at: usize, rank: Rank, replaced: usize, put_in: &str) {
        self.list.push(Edit {
            at,
            rank,
            replaced,
            put_in: put_in.to_owned(),
        });
    }

    /// Replaces the text between two positions, with all insertions in it.
    pub fn supersede(&mut self, start: usize, end: usize, put_in: &str) {
        self.list.retain(|edit| !(start..=end).contains(&edit.at));
        self.put(start, Rank::Replacement, end - start, put_in);
    }

    /// `[…]` or `{…}` between two positions.
    pub fn literal(&mut self, start: usize, end: usize) {
        self.put(start, Rank::Literal, 0, &format!("{OWN}("));
        self.insert(end, ")");
    }

    /// Turns `x[a:b:c]` into a call of a method of `x`, and `x[a, b]` into `x[(a, b)]`. `close` is the bracket at the
    /// end.
    pub fn subscript(&mut self, open: usize, inside: &[Token], close: Token, source: &str) {
        let colons = || inside.iter().filter(|token| token.of(source) == ":");
        if !(1..=2).contains(&colons().count()) {
            if inside.iter().any(|token| token.of(source) == ",") {
                self.put(open + 1, Rank::Assignment, 0, "(");
                self.insert(close.start, ")");
            }
            return;
        }
        let is_empty = |part: &[Token]| part.is_empty();
        let mut parts = inside.split(|token| token.of(source) == ":");
        let none = |part: Option<&[Token]>| {
            if part.is_some_and(is_empty) {
                "none"
            } else {
                ""
            }
        };
        let first = none(parts.next());
        self.put(open, Rank::Replacement, 1, &format!(" .{SLICE}({first}"));
        for colon in colons() {
            let part = none(parts.next());
            self.replace(*colon, source, &format!(", {part}"));
        }
        let step = if colons().count() == 1 { ", none" } else { "" };
        self.replace(close, source, &format!("{step})"));
    }

    /// One level of brackets: expressions between separators.
    pub fn expression(&mut self, tokens: &[Token], source: &str) {
        let tokens = with_not_in(tokens, source);
        groups::group(&tokens, source, self);
        for comparison in tokens.split(|token| token.kind == Kind::Separator) {
            self.comparison(comparison, source);
            for part in comparison.split(|token| token.kind == Kind::Compare) {
                let terms = split(part, &[Kind::Plus, Kind::Minus]);
                self.sum(&terms, source);
            }
        }
    }

    /// Values between `==`, `<`, `in` and similar.
    fn comparison(&mut self, comparison: &[Token], source: &str) {
        let operators: Vec<&Token> = comparison
            .iter()
            .filter(|token| token.kind == Kind::Compare)
            .collect();
        let (Some(most), [first, ..], [.., last]) =
            (operators.len().checked_sub(1), comparison, comparison)
        else {
            return;
        };
        let brackets = groups::brackets(operators.len());
        let at = |index: usize| brackets.get(index).copied().unwrap_or_default();
        let open = |index| "(".repeat(at(index).open);
        let close = |index| ")".repeat(at(index).close);
        let opening = match most {
            0 => format!("{COMPARE}("),
            _ => format!("({}{FIRST}(", open(0)),
        };
        self.insert(first.start, &opening);
        for (index, operator) in operators.into_iter().enumerate() {
            let (start, text) = (operator.start, operator.of(source));
            let words: Vec<&str> = text.split_whitespace().collect();
            let lines = "\n".repeat(text.matches('\n').count());
            let call = match index {
                0 => ", ".to_owned(),
                _ => {
                    let function = if index < most { NEXT } else { LAST };
                    format!("){} and {}{function}(", close(index - 1), open(index))
                }
            };
            let put_in = format!("{call}'{}',{lines}", words.join(" "));
            self.put(start, Rank::Replacement, text.len(), &put_in);
        }
        let closing = match most {
            0 => ")".to_owned(),
            _ => format!("){})", close(most)),
        };
        self.insert(last.end, &closing);
    }

    /// Terms between `+` and `-`, from the left.
    fn sum(&mut self, terms: &[(Option<Token>, &[Token])], source: &str) {
        self.chain(terms, source);
        for (_, term) in terms {
            self.concatenation(&split(term, &[Kind::Tilde]), source);
        }
    }

    /// Calls for operators of one precedence, from the left.
    fn chain(&mut self, parts: &[(Option<Token>, &[Token])], source: &str) {
        let first = parts.first().and_then(|(_, part)| part.first());
        for (operator, part) in parts.iter().skip(1).rev() {
            let (Some(first), Some(operator), Some(last)) = (first, operator, part.last()) else {
                continue;
            };
            let text = operator.of(source);
            if let Some((function, ..)) = BINARY.iter().find(|(_, own, _)| *own == text) {
                self.call(function, first.start, *operator, last.end, source);
            }
        }
    }

    fn concatenation(&mut self, parts: &[(Option<Token>, &[Token])], source: &str) {
        let first = parts.first().and_then(|(_, part)| part.first());
        let last = parts.last().and_then(|(_, part)| part.last());
        if let (Some(first), Some(last), true) = (first, last, parts.len() > 1) {
            self.insert(first.start, &format!("{CONCAT}("));
            for operator in parts.iter().filter_map(|(operator, _)| *operator) {
                self.replace(operator, source, ",");
            }
            self.insert(last.end, ")");
        }
        for (_, part) in parts {
            self.product(&split(part, &[Kind::Times]), source);
        }
    }

    /// Factors between `*`, `/`, `//` and `%`, and powers in them.
    fn product(&mut self, factors: &[(Option<Token>, &[Token])], source: &str) {
        self.chain(factors, source);
        for (_, factor) in factors {
            let powers = split(factor, &[Kind::Power]);
            self.powers(&powers, source);
            for (_, power) in powers {
                self.signs(power, source);
            }
        }
    }

    /// Powers, from the left.
    fn powers(&mut self, powers: &[(Option<Token>, &[Token])], source: &str) {
        let (Some((_, [first, ..])), 2..) = (powers.first(), powers.len()) else {
            return;
        };
        let is_variable = |(_, power): &(_, &[Token])| !tokens::are_constant(power, source);
        let variable = powers.iter().position(is_variable);
        for (index, (operator, power)) in powers.iter().enumerate().skip(1).rev() {
            if let (Some(operator), Some(last)) = (operator, power.last()) {
                let function = match variable == Some(index) {
                    true => CONSTANT_POWER,
                    false => POWER,
                };
                self.call(function, first.start, *operator, last.end, source);
            }
        }
    }

    /// `-x` and `+x`: a sign applies to the operand up to a filter or a test.
    fn signs(&mut self, operand: &[Token], source: &str) {
        let signs = operand
            .iter()
            .take_while(|token| matches!(token.kind, Kind::Plus | Kind::Minus));
        let signs: Vec<Token> = signs.copied().collect();
        let rest = &operand[signs.len()..];
        let is_end = |token: &Token| matches!(token.of(source), "|" | "is");
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        let Some(last) = rest[..end].last() else {
            return;
        };
        for sign in signs {
            let function = if sign.kind == Kind::Minus {
                NEGATIVE
            } else {
                POSITIVE
            };
            self.replace(sign, source, &format!("{function}("));
            self.insert(last.end, ")");
        }
    }

    fn call(&mut self, function: &str, start: usize, operator: Token, end: usize, source: &str) {
        self.insert(start, &format!("{function}("));
        self.replace(operator, source, ",");
        self.insert(end, ")");
    }

    /// The rewritten text.
    pub fn apply(self, source: &str) -> String {
        self.pieces(source)
            .into_iter()
            .map(|(_, piece)| piece)
            .collect()
    }

    /// Maps a position of the rewritten text to the source. An insertion maps to its position.
    pub fn original(self, source: &str, at: usize) -> usize {
        let mut end = 0;
        for (place, piece) in self.pieces(source) {
            let start = end;
            end += piece.len();
            if at < end {
                let is_source = source[place..].starts_with(&*piece);
                return if is_source { place + at - start } else { place };
            }
        }
        source.len()
    }

    /// The parts of the rewritten text: pieces of the source, and insertions, each with its position in the source.
    /// Outer calls are inserted first, and stay first at the same position.
    fn pieces(mut self, source: &str) -> Vec<(usize, Cow<'_, str>)> {
        self.list.sort_by_key(|edit| (edit.at, edit.rank));
        let mut pieces = Vec::with_capacity(2 * self.list.len() + 1);
        let mut from = 0;
        for edit in self.list {
            pieces.push((from, Cow::Borrowed(&source[from..edit.at])));
            pieces.push((edit.at, Cow::Owned(edit.put_in)));
            from = edit.at + edit.replaced;
        }
        pieces.push((from, Cow::Borrowed(&source[from..])));
        pieces
    }
}

/// Divides at operators between operands. A sign before an operand is a part of it.
fn split<'t>(tokens: &'t [Token], operators: &[Kind]) -> Vec<(Option<Token>, &'t [Token])> {
    let mut parts = Vec::new();
    let mut operator = None;
    let mut from = 0;
    for (index, token) in tokens.iter().enumerate() {
        let is_binary = index > 0 && tokens[index - 1].kind == Kind::Operand;
        if is_binary && operators.contains(&token.kind) {
            parts.push((operator, &tokens[from..index]));
            operator = Some(*token);
            from = index + 1;
        }
    }
    parts.push((operator, &tokens[from..]));
    parts
}

/// The tokens, with `not in` as one of them.
fn with_not_in(tokens: &[Token], source: &str) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        match joined.last_mut() {
            Some(not)
                if token.kind == Kind::Compare
                    && token.of(source) == "in"
                    && not.kind == Kind::Separator
                    && not.of(source) == "not" =>
            {
                (not.kind, not.end) = (Kind::Compare, token.end);
            }
            _ => joined.push(*token),
        }
    }
    joined
}
