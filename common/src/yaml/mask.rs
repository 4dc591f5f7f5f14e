//! Replaces values in a text and keeps the rest unchanged.

use std::collections::BTreeSet;

use super::compose::{NodeId, NodeKind, Tree, compose, spans};
use super::locate::step;
use super::replace::behind_properties;
use super::{Limits, Pointer};

/// Replaces each scalar at or below the pointers with `mask`, in any style. For aliases, it replaces their targets.
/// Pointers without a value have no effect.
///
/// `None` for a text that cannot be read, or in which two values have the same location. Parse the result to check it.
pub fn mask(text: &str, pointers: &[Pointer], mask: &str) -> Option<String> {
    let tree = compose(text, &Limits::DEFAULT).ok()?;
    let spans = spans(tree.text)?;
    let mut masked = BTreeSet::new();
    for pointer in pointers {
        if let Some(id) = at(&tree, pointer) {
            scalars(&tree, id, &mut masked);
        }
    }
    let (mut whole, mut end) = (String::with_capacity(tree.text.len()), 0);
    for id in masked {
        let span = spans.get(id)?.clone()?;
        // The line breaks after a block do not belong to it.
        let behind = span.start + tree.text.get(span.clone())?.trim_end().len();
        // An anchor stays: an alias may need it.
        let start = behind_properties(tree.text.get(..behind)?, span.start).unwrap_or(span.start);
        whole.push_str(tree.text.get(end..start)?);
        whole.push_str(mask);
        end = behind;
    }
    whole.push_str(tree.text.get(end..)?);
    Some(whole)
}

fn at(tree: &Tree<'_>, pointer: &Pointer) -> Option<NodeId> {
    let mut segments = pointer.path.split('/').skip(1);
    segments.try_fold(*tree.roots.get(pointer.document)?, |id, segment| {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        step(tree, id, &segment).map(|(_, next)| next)
    })
}

fn scalars(tree: &Tree<'_>, id: NodeId, found: &mut BTreeSet<NodeId>) {
    match &tree.nodes[id].kind {
        NodeKind::Scalar { .. } => drop(found.insert(id)),
        NodeKind::List(items) => items.iter().for_each(|item| scalars(tree, *item, found)),
        NodeKind::Map(entries) => entries
            .iter()
            .for_each(|(_, value)| scalars(tree, *value, found)),
        NodeKind::Alias(target) => scalars(tree, *target, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        mask(
            text,
            &[Pointer::new(0, "/p"), Pointer::new(0, "/absent/x")],
            "(x)",
        )
        .unwrap()
    }

    #[test]
    fn scalars_of_every_style_are_masked_and_all_around_them_stays() {
        for (text, expected) in [
            (
                "a: 1 # note\np: secret # why\nb: 2\n",
                "a: 1 # note\np: (x) # why\nb: 2\n",
            ),
            ("p: \"se\\\"cr\\u0065t\"\nb: 2\n", "p: (x)\nb: 2\n"),
            ("p: 'it''s'\nb: 2\n", "p: (x)\nb: 2\n"),
            ("p: two\n  lines\nb: 2\n", "p: (x)\nb: 2\n"),
            ("p: |\n  two\n\n  lines\nb: 2\n", "p: |\n  (x)\nb: 2\n"),
            ("p: >-\n  two\n  lines\n\n\nb: 2\n", "p: >-\n  (x)\nb: 2\n"),
            ("{b: ä, p: secret, c: [1]}", "{b: ä, p: (x), c: [1]}"),
            (
                "p: {k: [a, 'b'], l: c}\nb: 2\n",
                "p: {k: [(x), (x)], l: (x)}\nb: 2\n",
            ),
            ("b: &s secret\np: *s\n", "b: &s (x)\np: *s\n"),
            ("p: first\np: second\n", "p: first\np: (x)\n"),
            ("p: 12\nb: 2\n", "p: (x)\nb: 2\n"),
            ("\u{feff}p: 12", "p: (x)"),
        ] {
            let found = masked(text);
            let lines = |text: &str| -> Vec<String> {
                text.lines()
                    .filter(|line| !line.is_empty())
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(lines(&found), lines(expected), "{text}");
        }
    }

    #[test]
    fn a_later_document_is_masked_and_the_others_stay() {
        let pointers = [Pointer::new(1, "/p/0"), Pointer::new(2, "/p")];
        assert_eq!(
            mask("p: a\n---\np: [b, c]\n", &pointers, "(x)").as_deref(),
            Some("p: a\n---\np: [(x), c]\n")
        );
    }

    #[test]
    fn a_text_that_cannot_be_read_is_not_masked() {
        assert_eq!(mask("p: [", &[Pointer::new(0, "/p")], "(x)"), None);
    }
}
