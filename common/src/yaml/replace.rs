//! Replaces scalars in a text and keeps all other bytes: comments, order, quotes.

use super::compose::{NodeId, NodeKind, Tree, compose};
use super::error::Location;
use super::locate::step;
use super::{Duplicates, Limits, YamlError, read};

/// One scalar to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Its JSON pointer (RFC 6901).
    pub pointer: String,
    pub from: String,
    pub to: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error(transparent)]
    Yaml(#[from] YamlError),
    #[error("{pointer} is not written as {from:?} on one line, so that it could be replaced there")]
    Spelling { pointer: String, from: String },
    #[error(
        "replacing {from:?} at {pointer} would change more than that: it is repeated by an alias, or merged in"
    )]
    More { pointer: String, from: String },
}

/// Replaces scalars that have no escapes, with or without quotes. The new text is parsed again: only these values may
/// differ.
pub fn replace(
    text: &str,
    replacements: &[Replacement],
    limits: &Limits,
) -> Result<String, ReplaceError> {
    let mut edits = Vec::new();
    let tree = compose(text, limits)?;
    let start = text.len() - tree.text.len();
    for replacement in replacements {
        let at = place(&tree, replacement).ok_or_else(|| ReplaceError::Spelling {
            pointer: replacement.pointer.clone(),
            from: replacement.from.clone(),
        })?;
        edits.push((start + at, replacement));
    }
    edits.sort_by_key(|(at, _)| *at);
    let mut changed = text.to_owned();
    for (at, replacement) in edits.iter().rev() {
        changed.replace_range(*at..*at + replacement.from.len(), &replacement.to);
    }
    check(text, &changed, replacements, limits)?;
    Ok(changed)
}

/// The byte where the scalar's own text begins.
fn place(tree: &Tree<'_>, replacement: &Replacement) -> Option<usize> {
    let id = find(tree, &replacement.pointer)?;
    let node = &tree.nodes[id];
    let NodeKind::Scalar { text, .. } = &node.kind else {
        return None;
    };
    if *text != replacement.from {
        return None;
    }
    let at = behind_properties(tree.text, byte(tree.text, node.at)?)?;
    let rest = tree.text.get(at..)?;
    let quote = rest.bytes().next().filter(|byte| b"\"'".contains(byte));
    let at = at + usize::from(quote.is_some());
    tree.text
        .get(at..)?
        .starts_with(&replacement.from)
        .then_some(at)
}

/// The position after the anchor and the tag that may precede a scalar.
pub(super) fn behind_properties(text: &str, mut at: usize) -> Option<usize> {
    while text.get(at..)?.starts_with(['&', '!']) {
        let rest = text.get(at..)?;
        let word = rest.find(char::is_whitespace)?;
        let blank = rest.get(word..)?.find(|c: char| !c.is_whitespace())?;
        at += word + blank;
    }
    Some(at)
}

fn find(tree: &Tree<'_>, pointer: &str) -> Option<NodeId> {
    let mut id = *tree.roots.first()?;
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        (_, id) = step(tree, id, &segment)?;
    }
    Some(id)
}

fn byte(text: &str, at: Location) -> Option<usize> {
    let line = text.split_inclusive('\n').nth(at.line - 1)?;
    // Both lines are parts of the same text, so their distance is the offset.
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let within = line.char_indices().nth(at.column - 1)?.0;
    Some(start + within)
}

fn check(
    before: &str,
    after: &str,
    replacements: &[Replacement],
    limits: &Limits,
) -> Result<(), ReplaceError> {
    let mut expected = read(before, limits, Duplicates::Warn)?.value;
    let found = read(after, limits, Duplicates::Warn)?.value;
    for replacement in replacements {
        if let Some(value) = expected.pointer_mut(&replacement.pointer) {
            *value = replacement.to.clone().into();
        }
    }
    match replacements.first() {
        Some(first) if expected != found => Err(ReplaceError::More {
            pointer: first.pointer.clone(),
            from: first.from.clone(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> Result<String, ReplaceError> {
        let replacement = Replacement {
            pointer: "/resources/0/type".to_owned(),
            from: "redis:v1".to_owned(),
            to: "redis:v1.1".to_owned(),
        };
        replace(text, &[replacement], &Limits::DEFAULT)
    }

    #[test]
    fn only_the_scalar_changes_however_it_is_written() {
        for (before, after) in [
            (
                "# ours\nresources:\n- name: ä  # a\n  type: redis:v1   # pinned\n  properties: {type: redis:v1}\n",
                "# ours\nresources:\n- name: ä  # a\n  type: redis:v1.1   # pinned\n  properties: {type: redis:v1}\n",
            ),
            (
                "resources: [{name: ä, type: redis:v1}]",
                "resources: [{name: ä, type: redis:v1.1}]",
            ),
            (
                "{\"resources\": [{\"type\": \"redis:v1\"}]}",
                "{\"resources\": [{\"type\": \"redis:v1.1\"}]}",
            ),
            (
                "resources:\n- type: 'redis:v1'",
                "resources:\n- type: 'redis:v1.1'",
            ),
            (
                "\u{feff}resources:\n- type: redis:v1",
                "\u{feff}resources:\n- type: redis:v1.1",
            ),
            (
                "resources:\n- type: &t redis:v1",
                "resources:\n- type: &t redis:v1.1",
            ),
            (
                "resources:\r\n- type:\r\n    redis:v1\r\n",
                "resources:\r\n- type:\r\n    redis:v1.1\r\n",
            ),
        ] {
            assert_eq!(
                replaced(before).unwrap_or_else(|error| panic!("{before}: {error}")),
                after
            );
        }
    }

    #[test]
    fn what_would_change_more_or_reads_otherwise_is_refused() {
        for text in [
            "resources:\n- type: &t redis:v1\n- type: *t\n",
            "resources:\n- type: \"redis\\x3av1\"\n",
            "resources:\n- type: other:v1\n",
            "resources: []",
        ] {
            assert!(replaced(text).is_err(), "{text}");
        }
        assert!(matches!(replaced("a: ["), Err(ReplaceError::Yaml(_))));
    }
}
