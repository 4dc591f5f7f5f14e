//! Finds the place of a value in a text, only when an error needs it.

use super::compose::{Node, NodeId, NodeKind, Tree, compose};
use super::error::Location;
use super::scalar::{self, Plain};
use super::{Limits, Pointer};

/// A text in which places are looked for: read again, so that reading one which is right costs nothing extra, and once
/// for however many places.
pub struct Places<'a> {
    /// Nothing for a text that cannot be read.
    tree: Option<Tree<'a>>,
}

impl<'a> Places<'a> {
    pub fn of(text: &'a str, limits: &Limits) -> Self {
        let tree = compose(text, limits).ok();
        Self { tree }
    }

    /// The place of the value that a JSON pointer (RFC 6901) names in the first document.
    ///
    /// An entry of a map is at its key (a merged one at its `<<`), an item of a list at the item. If the path is longer than the
    /// text is deep, this is the place of its deepest existing part.
    pub fn at(&self, pointer: &str) -> Option<Location> {
        self.find(&Pointer::new(0, pointer))
    }

    /// [`Self::at`], in any of the documents.
    pub fn find(&self, pointer: &Pointer) -> Option<Location> {
        let tree = self.tree.as_ref()?;
        let mut id = *tree.roots.get(pointer.document)?;
        let mut location = tree.nodes[id].at;
        for segment in pointer.path.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let Some((at, next)) = step(tree, id, &segment) else {
                break;
            };
            location = at;
            id = next;
        }
        Some(location)
    }
}

/// [`Places::at`], for who looks for one place only.
pub fn locate(text: &str, pointer: &str, limits: &Limits) -> Option<Location> {
    Places::of(text, limits).at(pointer)
}

/// The value below a segment of a pointer, and the node at which it is found.
pub(super) fn step(tree: &Tree<'_>, id: NodeId, segment: &str) -> Option<(Location, NodeId)> {
    let (at, next) = match &tree.target(id).kind {
        NodeKind::List(items) => {
            let item = *items.get(segment.parse::<usize>().ok()?)?;
            (item, item)
        }
        NodeKind::Map(entries) => entry(tree, entries, segment)?,
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => return None,
    };
    Some((tree.nodes[at].at, next))
}

/// The last entry of that name, for the last one counts; else the merge that brings it in.
fn entry(tree: &Tree<'_>, entries: &[(NodeId, NodeId)], name: &str) -> Option<(NodeId, NodeId)> {
    let last = |wanted: &str| {
        let mut entries = entries.iter().rev();
        entries.find(|(key, _)| is_key(tree.target(*key), wanted))
    };
    last(name).or_else(|| last("<<")).copied()
}

fn is_key(key: &Node<'_>, name: &str) -> bool {
    let NodeKind::Scalar { text, plain } = &key.kind else {
        return false;
    };
    let value = |text| match scalar::plain(text) {
        Ok(Plain::Value(value)) => Some(value),
        Ok(Plain::Merge | Plain::Default) | Err(_) => None,
    };
    text == name || *plain && value(text).is_some_and(|value| scalar::key_text(&value) == name)
}
