//! `$(NAME)` and `$((NAME))`.
//!
//! Of the `$` directly before a `(`, an odd number ends with a reference; an even number escapes it, as Kubernetes itself
//! does it for containers.

use super::{Piece, Pieces, name};

/// The parts of a text. A reference to a name that is not declared is text.
pub fn pieces<'t>(
    text: &'t str,
    is_declared: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Piece<'t>> {
    Pieces {
        rest: text,
        next: None,
        find: move |rest| find(rest, &is_declared),
    }
}

fn find<'t>(
    text: &'t str,
    is_declared: &impl Fn(&str) -> bool,
) -> Option<(usize, usize, Piece<'t>)> {
    let mut from = 0;
    loop {
        let paren = from + text[from..].find('(')?;
        let dollars = text[from..paren].bytes().rev();
        let run = dollars.take_while(|byte| *byte == b'$').count();
        if run % 2 == 1
            && let Some((name, unquoted, length)) = reference(&text[paren..])
            && is_declared(name)
        {
            let piece = Piece::Reference { name, unquoted };
            return Some((paren - 1, paren + length, piece));
        }
        from = paren + 1;
    }
}

/// The reference whose parentheses a text begins with: its name, whether it is unquoted, and its length.
fn reference(text: &str) -> Option<(&str, bool, usize)> {
    let (open, close, unquoted) = match text.starts_with("((") {
        true => ("((", "))", true),
        false => ("(", ")", false),
    };
    let (name, after) = name(text.strip_prefix(open)?)?;
    after.starts_with(close).then_some(())?;
    Some((name, unquoted, name.len() + 2 * open.len()))
}
