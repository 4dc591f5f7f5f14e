//! What is put in, by place: calls around operands, literals and what is assigned.

use super::tokens::{Kind, Token};
use crate::engine::jinja::operators::{ADD, COMPARE, CONCAT, MODULO, MULTIPLY, OWN};

/// What is put in, by place.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    at: usize,
    rank: Rank,
    /// How much is replaced, in bytes.
    replaced: usize,
    put_in: String,
}

/// What comes first where several edits have one place.
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

    pub fn replace(&mut self, token: Token, text: &str) {
        self.put(token.start, Rank::Replacement, 1, text);
    }

    pub fn put(&mut self, at: usize, rank: Rank, replaced: usize, put_in: &str) {
        self.list.push(Edit {
            at,
            rank,
            replaced,
            put_in: put_in.to_owned(),
        });
    }

    /// Puts other text in place of what is between, and of what was to be put in there.
    pub fn supersede(&mut self, start: usize, end: usize, put_in: &str) {
        self.list.retain(|edit| !(start..=end).contains(&edit.at));
        self.put(start, Rank::Replacement, end - start, put_in);
    }

    /// `[…]` or `{…}` between two places.
    pub fn literal(&mut self, start: usize, end: usize) {
        self.put(start, Rank::Literal, 0, &format!("{OWN}("));
        self.insert(end, ")");
    }

    /// One level of brackets: expressions between separators.
    pub fn expression(&mut self, tokens: &[Token], source: &str) {
        self.drop_signs(tokens);
        for comparison in tokens.split(|token| token.kind == Kind::Separator) {
            self.order(comparison, source);
            for part in comparison.split(|token| token.kind.is_end()) {
                let terms = split(part, &[Kind::Plus, Kind::Minus]);
                self.sum(&terms);
            }
        }
    }

    /// Values between `<`, `<=`, `>` and `>=`, perhaps also `==` and `!=`; those of equality alone
    /// are minijinja's.
    fn order(&mut self, comparison: &[Token], source: &str) {
        let operators = || comparison.iter().filter(|token| token.kind.is_end());
        let is_order = operators().any(|token| token.kind == Kind::Order)
            && operators().all(|token| token.of(source) != "in");
        let (true, [first, ..], [.., last]) = (is_order, comparison, comparison) else {
            return;
        };
        self.insert(first.start, &format!("{COMPARE}("));
        for operator in operators() {
            let (start, text) = (operator.start, operator.of(source));
            self.put(
                start,
                Rank::Replacement,
                text.len(),
                &format!(", '{text}',"),
            );
        }
        self.insert(last.end, ")");
    }

    /// A `+` before an operand does nothing, and minijinja has none.
    fn drop_signs(&mut self, tokens: &[Token]) {
        for (index, token) in tokens.iter().enumerate() {
            let is_sign = index == 0 || tokens[index - 1].kind != Kind::Operand;
            if token.kind == Kind::Plus && is_sign {
                self.replace(*token, " ");
            }
        }
    }

    /// Terms between `+` and `-`, from the left.
    fn sum(&mut self, terms: &[(Option<Token>, &[Token])]) {
        let Some(start) = terms
            .first()
            .and_then(|(_, term)| term.first())
            .map(|token| token.start)
        else {
            return;
        };
        for (operator, term) in terms.iter().skip(1).rev() {
            if let (Some(operator), Some(last)) = (
                operator.filter(|token| token.kind == Kind::Plus),
                term.last(),
            ) {
                self.call(ADD, start, operator, last.end);
            }
        }
        for (_, term) in terms {
            self.concatenation(&split(term, &[Kind::Tilde]));
        }
    }

    fn concatenation(&mut self, parts: &[(Option<Token>, &[Token])]) {
        let first = parts.first().and_then(|(_, part)| part.first());
        let last = parts.last().and_then(|(_, part)| part.last());
        if let (Some(first), Some(last), true) = (first, last, parts.len() > 1) {
            self.insert(first.start, &format!("{CONCAT}("));
            for operator in parts.iter().filter_map(|(operator, _)| *operator) {
                self.replace(operator, ",");
            }
            self.insert(last.end, ")");
        }
        for (_, part) in parts {
            self.product(&split(part, &[Kind::Percent, Kind::Times, Kind::Divide]));
        }
    }

    /// `*`, `%`, `/` and `//`, from the left.
    fn product(&mut self, factors: &[(Option<Token>, &[Token])]) {
        let Some(start) = factors
            .first()
            .and_then(|(_, factor)| factor.first())
            .map(|token| token.start)
        else {
            return;
        };
        for (operator, factor) in factors.iter().skip(1).rev() {
            let (Some(operator), Some(last)) = (operator, factor.last()) else {
                continue;
            };
            match operator.kind {
                Kind::Percent => self.call(MODULO, start, *operator, last.end),
                Kind::Times => self.call(MULTIPLY, start, *operator, last.end),
                _ => {}
            }
        }
    }

    fn call(&mut self, function: &str, start: usize, operator: Token, end: usize) {
        self.insert(start, &format!("{function}("));
        self.replace(operator, ",");
        self.insert(end, ")");
    }

    /// Outer calls were put in first, and stay first where they begin at the same place.
    pub fn apply(mut self, source: &str) -> String {
        if self.list.is_empty() {
            return source.to_owned();
        }
        self.list.sort_by_key(|edit| (edit.at, edit.rank));
        let mut text = String::with_capacity(source.len() + 16 * self.list.len());
        let mut from = 0;
        for edit in self.list {
            text.push_str(&source[from..edit.at]);
            text.push_str(&edit.put_in);
            from = edit.at + edit.replaced;
        }
        text.push_str(&source[from..]);
        text
    }
}

/// Cut at operators that stand between operands; a sign before an operand is a part of it.
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
