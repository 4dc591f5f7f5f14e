//! The references of a text, in one pass from left to right: a grammar a dialect.

pub mod openshift;
pub mod proposal;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    Reference {
        name: &'t str,
        /// Whether the result is the value itself, without quotes.
        unquoted: bool,
    },
}

impl<'t> Piece<'t> {
    pub fn name(&self) -> Option<&'t str> {
        match self {
            Self::Text(_) => None,
            Self::Reference { name, .. } => Some(name),
        }
    }
}

/// The name that a text begins with, and what follows it.
fn name(text: &str) -> Option<(&str, &str)> {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let end = text.bytes().position(|byte| !is_in(byte));
    match end.unwrap_or(text.len()) {
        0 => None,
        end => Some(text.split_at(end)),
    }
}

/// Splits a text at its references. `find` gives the first one of the rest: where it begins and ends, and what it is.
struct Pieces<'t, F> {
    rest: &'t str,
    /// The reference after the text that was given last.
    next: Option<Piece<'t>>,
    find: F,
}

impl<'t, F> Iterator for Pieces<'t, F>
where
    F: FnMut(&'t str) -> Option<(usize, usize, Piece<'t>)>,
{
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if let Some(piece) = self.next.take() {
            return Some(piece);
        }
        if self.rest.is_empty() {
            return None;
        }
        let Some((start, end, piece)) = (self.find)(self.rest) else {
            return Some(Piece::Text(std::mem::take(&mut self.rest)));
        };
        let before = &self.rest[..start];
        self.rest = &self.rest[end..];
        if before.is_empty() {
            return Some(piece);
        }
        self.next = Some(piece);
        Some(Piece::Text(before))
    }
}
