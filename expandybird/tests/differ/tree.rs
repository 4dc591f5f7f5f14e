//! Derivations of a grammar: trees that print as text, and that can be made smaller.

use std::fmt;

/// What a part of a case is, and what may stand in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    pub name: &'static str,
    /// The smallest texts of this sort.
    pub least: &'static [&'static str],
}

#[derive(Debug, Clone)]
pub enum Node {
    Text(String),
    /// Parts in a row; as a whole it is of a sort.
    Of(Sort, Vec<Node>),
    /// Any number of parts, with text between them.
    List(&'static str, Vec<Node>),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Of(_, parts) => parts.iter().try_for_each(|part| write!(f, "{part}")),
            Self::List(separator, items) => {
                items.iter().enumerate().try_for_each(|(index, item)| {
                    let separator = if index == 0 { "" } else { separator };
                    write!(f, "{separator}{item}")
                })
            }
        }
    }
}

impl Node {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Trees that are smaller by one step: parts in place of the whole, the least text, a list without an item.
    pub fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        match self {
            Self::Text(_) => {}
            Self::Of(sort, parts) => {
                let text = self.to_string();
                let least = sort.least.iter().filter(|least| **least != text);
                found.extend(least.map(|least| Self::text(*least)));
                parts.iter().for_each(|part| part.inner(sort, &mut found));
                found.extend(replaced(parts).map(|parts| Self::Of(*sort, parts)));
            }
            Self::List(separator, items) => {
                let half = items.len() / 2;
                if half > 1 {
                    found.push(Self::List(separator, items[half..].to_vec()));
                    found.push(Self::List(separator, items[..half].to_vec()));
                }
                found.extend((0..items.len()).map(|index| {
                    let mut fewer = items.clone();
                    fewer.remove(index);
                    Self::List(separator, fewer)
                }));
                found.extend(replaced(items).map(|items| Self::List(separator, items)));
            }
        }
        found
    }

    /// The outermost parts of a sort.
    fn inner(&self, sort: &Sort, found: &mut Vec<Self>) {
        match self {
            Self::Text(_) => {}
            Self::Of(own, _) if own == sort => found.push(self.clone()),
            Self::Of(_, parts) | Self::List(_, parts) => {
                parts.iter().for_each(|part| part.inner(sort, found));
            }
        }
    }
}

/// The same parts, one of them smaller.
fn replaced(parts: &[Node]) -> impl Iterator<Item = Vec<Node>> {
    parts.iter().enumerate().flat_map(move |(index, part)| {
        part.smaller().into_iter().map(move |smaller| {
            let mut parts = parts.to_vec();
            parts[index] = smaller;
            parts
        })
    })
}
