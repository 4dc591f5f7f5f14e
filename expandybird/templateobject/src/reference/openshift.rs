//! `${NAME}` anywhere in a text, and `${{NAME}}` as the whole of one.

use super::{Piece, Pieces, name};

/// The name, if the text is `${{NAME}}` and nothing else.
pub fn whole(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("${{")?.strip_suffix("}}")?;
    let (name, after) = name(inner)?;
    after.is_empty().then_some(name)
}

/// Whether a text has `${NAME}`, of any name.
pub fn has_reference(text: &str) -> bool {
    pieces(text, |_| true).any(|piece| piece.name().is_some())
}

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
        let start = from + text[from..].find("${")?;
        let inside = start + 2;
        if let Some((name, after)) = name(&text[inside..])
            && after.starts_with('}')
            && is_declared(name)
        {
            let piece = Piece::Reference {
                name,
                unquoted: false,
            };
            return Some((start, inside + name.len() + 1, piece));
        }
        from = inside;
    }
}
