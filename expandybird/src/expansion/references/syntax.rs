//! The notation of a reference: `$(ref.NAME.PATH)`.
//!
//! NAME may contain dots, so its end depends on the existing names. PATH has dots, with `[0]` for an index and
//! `['a.b/c']` for a key that contains dots.

/// The start of a reference. Any other `$(` is text.
const OPENING: &str = "$(ref.";

/// A piece of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    Reference(Written<'t>),
}

/// A reference in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written<'t> {
    /// With `$(ref.` and `)`.
    pub whole: &'t str,
    /// The text between them.
    pub inner: &'t str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub text: String,
    pub reason: &'static str,
}

/// Whether a string contains a reference. Most do not, and are skipped.
pub fn mentions_reference(text: &str) -> bool {
    text.contains(OPENING)
}

/// Whether a string is exactly one reference.
pub fn is_reference(text: &str) -> bool {
    mentions_reference(text)
        && pieces(text).is_ok_and(|pieces| matches!(pieces[..], [Piece::Reference(_)]))
}

pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Malformed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPENING) {
        if start > 0 {
            pieces.push(Piece::Text(&rest[..start]));
        }
        let from = &rest[start..];
        let end = end(from).ok_or_else(|| malformed(from, "its ')' is missing"))?;
        pieces.push(Piece::Reference(Written {
            whole: &from[..=end],
            inner: &from[OPENING.len()..end],
        }));
        rest = &from[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The closing parenthesis outside of quotes.
fn end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, character) in text.char_indices().skip(OPENING.len()) {
        match (quote, character) {
            (None, ')') => return Some(index),
            (None, '\n') => return None,
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

pub fn malformed(text: &str, reason: &'static str) -> Malformed {
    const SHOWN: usize = 80;
    Malformed {
        text: text.chars().take(SHOWN).collect(),
        reason,
    }
}

impl<'t> Written<'t> {
    /// All ways to split it into a name of one of these lengths and a path, in their order. There may be as many dots
    /// as bytes, so only positions where a name can end are checked.
    pub fn splits<'l>(
        &self,
        lengths: &'l [usize],
    ) -> impl Iterator<Item = (&'t str, &'t str)> + use<'t, 'l> {
        let inner = self.inner;
        let dots = lengths
            .iter()
            .filter(|&&length| inner.as_bytes().get(length) == Some(&b'.'));
        dots.map(|&dot| (&inner[..dot], &inner[dot + 1..]))
    }

    /// The text after the first dot: the whole path, if no name contains a dot.
    pub fn longest_path(&self) -> &'t str {
        self.inner.split_once('.').map_or("", |(_, path)| path)
    }

    /// The name up to the first dot: the name in the error for an unknown name.
    pub fn first_name(&self) -> &'t str {
        self.inner
            .split_once('.')
            .map_or(self.inner, |(name, _)| name)
    }

    pub fn check(&self) -> Result<(), Malformed> {
        match self.inner.split_once('.') {
            None => Err(malformed(self.whole, "it has no path")),
            Some(("", _)) => Err(malformed(self.whole, "it has no name")),
            Some(_) => Ok(()),
        }
    }

    pub fn path(&self, path: &str) -> Result<Vec<PathSegment>, Malformed> {
        steps(path).map_err(|reason| malformed(self.whole, reason))
    }
}

/// The maximum depth of a value.
const STEPS: usize = 127;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSegment {
    Key(String),
    Index(usize),
}

impl std::fmt::Display for PathSegment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) if key.contains(['.', '[', ']', '(', ')', '"']) => {
                write!(f, "['{key}']")
            }
            Self::Key(key) if key.contains('\'') => write!(f, "[\"{key}\"]"),
            Self::Key(key) => write!(f, ".{key}"),
        }
    }
}

fn steps(path: &str) -> Result<Vec<PathSegment>, &'static str> {
    let mut steps = Vec::new();
    let mut rest = path;
    while steps.len() < STEPS {
        if let Some(bracket) = rest.strip_prefix('[') {
            let (step, after) = bracketed(bracket)?;
            steps.push(step);
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(key(&rest[..end])?);
            rest = &rest[end..];
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(steps),
            None if rest.starts_with('[') => {}
            None => return Err("its path has text behind a ']'"),
        }
    }
    Err("its path has more steps than a value has levels (127)")
}

fn key(text: &str) -> Result<PathSegment, &'static str> {
    let is_odd = |c: char| c.is_whitespace() || "]()'\"$".contains(c);
    match text {
        "" => Err("its path has an empty step"),
        text if text.contains(is_odd) => Err("its path has a character that must be quoted: ['…']"),
        text => Ok(PathSegment::Key(text.to_owned())),
    }
}

fn bracketed(text: &str) -> Result<(PathSegment, &str), &'static str> {
    let unclosed = "its path has a '[' without its ']'";
    for quote in ['\'', '"'] {
        if let Some(quoted) = text.strip_prefix(quote) {
            let (key, after) = quoted.split_once(quote).ok_or(unclosed)?;
            let after = after.strip_prefix(']').ok_or(unclosed)?;
            return Ok((PathSegment::Key(key.to_owned()), after));
        }
    }
    let (index, after) = text.split_once(']').ok_or(unclosed)?;
    let index = index
        .parse()
        .map_err(|_| "its path has an index that is not a number")?;
    Ok((PathSegment::Index(index), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_text() {
        let found = pieces("a $(ref.b.c) $(x) $(ref.d.e['f)'])").unwrap();
        let texts: Vec<_> = found
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => *text,
                Piece::Reference(written) => written.inner,
            })
            .collect();
        assert_eq!(texts, ["a ", "b.c", " $(x) ", "d.e['f)']"]);
    }

    #[test]
    fn malformed_references_say_what_is_wrong() {
        for (text, reason) in [
            ("$(ref.a.b", "')'"),
            ("$(ref.a.b\n)", "')'"),
            ("$(ref.a)", "no path"),
            ("$(ref..b)", "no name"),
            ("$(ref.)", "no path"),
            ("$(ref.a.)", "empty step"),
            ("$(ref.a.b..c)", "empty step"),
            ("$(ref.a.b[x])", "not a number"),
            ("$(ref.a.b[1)", "']'"),
            ("$(ref.a.b[1]c)", "behind"),
            ("$(ref.a.b c)", "quoted"),
        ] {
            let fault = match pieces(text).map(|pieces| pieces[0].clone()) {
                Err(malformed) => malformed,
                Ok(Piece::Reference(written)) => {
                    let checked = written
                        .check()
                        .and_then(|()| written.path(written.longest_path()));
                    checked.unwrap_err()
                }
                Ok(Piece::Text(_)) => panic!("{text} is not a reference at all"),
            };
            assert!(fault.reason.contains(reason), "{text}: {}", fault.reason);
        }
    }

    #[test]
    fn a_path_reads_back_as_it_is_written() {
        for path in [
            ".spec.ports[0].nodePort",
            ".metadata.labels['a.b/c'][2]",
            ".a-b",
        ] {
            let written: String = steps(&path[1..])
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(written, path);
        }
    }
}
