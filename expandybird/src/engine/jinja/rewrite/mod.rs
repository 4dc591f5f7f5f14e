//! Turns the operators and slices of a template into calls of [`super::operators`].
//!
//! Works on the text, because minijinja gives no access to its syntax tree. Only calls and commas are inserted and
//! nothing is moved, so every line keeps its number. Text that it does not understand stays unchanged, and minijinja
//! reports what is wrong with it.
//!
//! ```text
//! {{ a + b * c % d }}   ─►   {{ __add__(a , __mod__(__mul__(b , c) , d)) }}
//! ```
//!
//! Literals of lists and maps are wrapped into a call that makes a copy for the template to change. [`statements`] do
//! so with assigned values.
//!
//! Long plain text gets an empty expression every few hundred bytes, so that a loop over it takes steps in proportion
//! to its output. A macro begins with one.

mod blocks;
mod edits;
mod groups;
pub(super) mod leave;
mod statements;
mod strings;
mod tokens;

use std::borrow::Cow;

use super::operators::chain::{FIRST, LAST, NEXT};
use super::operators::{
    BINARY, COMPARE, CONCAT, CONSTANT_POWER, EACH, EACH_TUPLE, NEGATIVE, NO_ITEMS, OWN, POSITIVE,
    SLICE,
};
use edits::{Edits, Rank};
use statements::{Statement, Statements};
use tokens::{Kind, Token, kind, length, takes_argument};

/// Plain text between two steps, in bytes: at most half a gigabyte for two million steps.
const PLAIN_BYTES: usize = 256;
const STEP: &str = "{{''}}";

/// The template in the form for minijinja.
pub fn rewrite(source: &str) -> String {
    let source = with_newlines(source);
    edits(&source).apply(&source)
}

/// The line and the column, both from 1, of a byte in the rewritten template.
pub fn place(source: &str, at: usize) -> (usize, usize) {
    let source = with_newlines(source);
    let at = edits(&source).original(&source, at);
    let before = &source[..source.floor_char_boundary(at)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn edits(source: &str) -> Edits {
    let mut edits = Edits::default();
    let mut statements = Statements::default();
    let mut at = 0;
    while let Some(found) = source[at..].find('{') {
        let start = at + found;
        let end = match source.as_bytes().get(start + 1) {
            Some(b'#') => source[start..].find("#}").map(|end| start + end + 2),
            Some(b'{') => code(source, start, "}}", &mut statements, &mut edits),
            Some(b'%') => statement(source, start, &mut statements, &mut edits),
            _ => Some(start + 1),
        };
        steps(source, at, start, &mut edits);
        let Some(end) = end else {
            return edits;
        };
        at = end;
    }
    steps(source, at, source.len(), &mut edits);
    edits
}

/// With `\n` at the end of every line, as Jinja reads templates.
fn with_newlines(source: &str) -> Cow<'_, str> {
    match source.contains('\r') {
        true => source.replace("\r\n", "\n").replace('\r', "\n").into(),
        false => source.into(),
    }
}

/// A message without the insertions.
pub fn undone(message: &str) -> String {
    let operators = BINARY
        .iter()
        .map(|&(function, operator, _)| (function, operator));
    let others = [
        (CONCAT, "~"),
        (CONSTANT_POWER, "**"),
        (NEGATIVE, "-"),
        (POSITIVE, "+"),
        (COMPARE, "a comparison"),
        (FIRST, "a comparison"),
        (NEXT, "a comparison"),
        (LAST, "a comparison"),
        (SLICE, "a slice"),
        (EACH, ""),
        (EACH_TUPLE, ""),
        (OWN, ""),
    ];
    let all = operators.chain(others);
    all.fold(message.to_owned(), |message, (function, shown)| {
        message.replace(function, shown)
    })
}

/// Steps within plain text, between two characters that whitespace control cannot reach.
fn steps(source: &str, from: usize, to: usize, edits: &mut Edits) {
    let mut last = from;
    for (index, pair) in source.as_bytes()[from..to].windows(2).enumerate() {
        let at = from + index + 1;
        let is_inside = pair.iter().all(u8::is_ascii_graphic)
            && !pair.iter().any(|byte| b"{}%#-+".contains(byte));
        if at - last >= PLAIN_BYTES && is_inside {
            edits.insert(at, STEP);
            last = at;
        }
    }
}

/// `{% … %}`. The text between `raw` and `endraw` is not code.
fn statement(
    source: &str,
    start: usize,
    statements: &mut Statements,
    edits: &mut Edits,
) -> Option<usize> {
    let word = source[start + 2..]
        .trim_start_matches(['-', '+'])
        .trim_start();
    let is_raw = word
        .strip_prefix("raw")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    if !is_raw {
        return code(source, start, "%}", statements, edits);
    }
    let mut at = start + 2;
    loop {
        let open = at + source[at..].find("{%")?;
        let word = source[open + 2..]
            .trim_start_matches(['-', '+'])
            .trim_start();
        if word.starts_with("endraw") {
            return source[open..].find("%}").map(|end| open + end + 2);
        }
        at = open + 2;
    }
}

/// An open bracket.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    start: usize,
    kind: BracketKind,
}

#[derive(Debug, Clone, Copy)]
enum BracketKind {
    /// Around an expression, or around arguments.
    Round,
    /// `x[…]`.
    Subscript,
    /// A list or a map.
    Literal,
}

/// Whether the text before is `loop.cycle(`.
fn is_cycle(tokens: &[Token], source: &str) -> bool {
    matches!(tokens, [.., dot, name, _] if dot.of(source) == "." && name.of(source) == "cycle")
}

/// Rewrites the code between the delimiters, and returns its end. `None` if it has no end.
fn code(
    source: &str,
    start: usize,
    close: &str,
    statements: &mut Statements,
    edits: &mut Edits,
) -> Option<usize> {
    let mut levels: Vec<Vec<Token>> = vec![Vec::new()];
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut bracketed = Vec::new();
    let mut at = start + 2;
    // The markers of whitespace control are not operators.
    at += usize::from(source[at..].starts_with(['-', '+']));
    let mut is_first = close == "%}";
    let mut is_loop = false;
    loop {
        let rest = &source[at..];
        let character = rest.chars().next()?;
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        if levels.len() == 1 {
            let marker = usize::from(rest.starts_with(['-', '+']));
            if rest[marker..].starts_with(close) {
                let (tokens, end) = (levels.last()?, at + marker + close.len());
                edits.expression(tokens, source);
                if close == "%}" {
                    let statement = Statement {
                        tokens,
                        bracketed: &bracketed,
                        start,
                        end,
                        strip: if rest.starts_with('-') { "-" } else { "" },
                    };
                    statements.read(source, &statement, edits);
                }
                return Some(end);
            }
        }
        let end = at + length(rest)?;
        let mut kind = kind(&source[at..end], levels.last()?, source);
        if std::mem::take(&mut is_first) {
            kind = Kind::Separator;
            is_loop = source[at..end] == *"for";
        } else if is_loop && levels.len() == 1 && kind == Kind::Compare {
            // The `in` of a loop is not an operator.
            kind = Kind::Separator;
            is_loop = false;
        }
        let token = Token {
            kind,
            start: at,
            end,
        };
        match character {
            '(' | '[' | '{' => levels.push(Vec::new()),
            ')' | ']' | '}' => {
                bracketed = levels.pop()?;
                edits.expression(&bracketed, source);
                let bracket = brackets.pop()?;
                match bracket.kind {
                    BracketKind::Literal => edits.literal(bracket.start, end),
                    BracketKind::Subscript => {
                        edits.subscript(bracket.start, &bracketed, token, source)
                    }
                    BracketKind::Round
                        if bracketed.is_empty() && is_cycle(levels.last()?, source) =>
                    {
                        edits.insert(at, &format!("{NO_ITEMS}()"))
                    }
                    BracketKind::Round => {}
                }
                levels.last_mut()?.push(Token {
                    kind: Kind::Operand,
                    ..token
                });
            }
            _ => {
                let before = levels.last().and_then(|level| level.last());
                // `m.caller` is an attribute.
                if before.is_none_or(|before| before.of(source) != ".") {
                    statements.mention(&source[at..end]);
                }
                if let Some(literal) = strings::rewritten(&source[at..end]) {
                    edits.put(at, Rank::Replacement, end - at, &literal);
                }
                levels.last_mut()?.push(token);
            }
        }
        if matches!(character, '(' | '[' | '{') {
            let outside = levels.len().checked_sub(2)?;
            let before = &levels[outside];
            let follows_operand = before
                .last()
                .is_some_and(|token| token.kind == Kind::Operand)
                && !takes_argument(before, source);
            brackets.push(Bracket {
                start: at,
                kind: match (character, follows_operand) {
                    ('(', _) => BracketKind::Round,
                    (_, true) => BracketKind::Subscript,
                    (_, false) => BracketKind::Literal,
                },
            });
            // The bracket belongs to the operand outside of it.
            levels[outside].push(Token {
                kind: Kind::Operand,
                ..token
            });
        }
        at = end;
    }
}

#[cfg(test)]
mod tests;
