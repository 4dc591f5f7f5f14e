//! Puts long chains of `and`, `or` and comparisons into nested pairs of brackets, which do not change what they mean.
//!
//! minijinja looks for constants in the left part of each `and` and `or` once more. In `a and b and c and …` that is
//! everything before, and the work grows with the square of the length.

use super::edits::Edits;
use super::tokens::{Kind, Token};

/// Chains that are not longer stay as they are.
const SHORT: usize = 16;

/// How many brackets open before a part, and close after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Brackets {
    pub open: usize,
    pub close: usize,
}

/// The brackets of each of so many parts of a chain.
pub fn brackets(parts: usize) -> Vec<Brackets> {
    let mut brackets = vec![Brackets::default(); parts];
    halve(&mut brackets);
    brackets
}

fn halve(parts: &mut [Brackets]) {
    if parts.len() <= SHORT {
        return;
    }
    let (left, right) = parts.split_at_mut(parts.len() / 2);
    for half in [left, right] {
        if let [first, .., last] = &mut *half {
            first.open += 1;
            last.close += 1;
        }
        halve(half);
    }
}

/// The brackets of all chains of `and` and `or` on one level.
pub fn group(tokens: &[Token], source: &str, edits: &mut Edits) {
    let is = |token: &Token, word: &str| token.kind == Kind::Separator && token.of(source) == word;
    let is_end = |token: &Token| {
        let inside = ["and", "or", "not"];
        token.kind == Kind::Separator && !inside.iter().any(|word| is(token, word))
    };
    for chain in tokens.split(is_end) {
        let alternatives: Vec<_> = chain.split(|token| is(token, "or")).collect();
        insert(&alternatives, edits);
        for alternative in alternatives {
            let conditions: Vec<_> = alternative.split(|token| is(token, "and")).collect();
            insert(&conditions, edits);
        }
    }
}

fn insert(parts: &[&[Token]], edits: &mut Edits) {
    for (part, brackets) in parts.iter().zip(brackets(parts.len())) {
        if let ([first, ..], [.., last]) = (part, part) {
            edits.insert(first.start, &"(".repeat(brackets.open));
            edits.insert(last.end, &")".repeat(brackets.close));
        }
    }
}
