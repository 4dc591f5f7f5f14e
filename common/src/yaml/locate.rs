//! Finds the location of a value in a text, only when an error needs it.

use super::compose::{Node, NodeId, NodeKind, Tree, compose};
use super::error::Location;
use super::scalar::{self, Plain};
use super::{Limits, Pointer};

/// A text to search for locations. [`super::read_with_locations`] gives it with the values. Otherwise the text is parsed a
/// second time, once for all locations, so that a valid text costs nothing extra.
pub struct TextLocations<'a> {
    /// Empty for a text that cannot be read.
    tree: Option<Tree<'a>>,
}

impl<'a> TextLocations<'a> {
    pub fn new(text: &'a str, limits: &Limits) -> Self {
        let tree = compose(text, limits).ok();
        Self { tree }
    }

    pub(super) fn of(tree: Tree<'a>) -> Self {
        Self { tree: Some(tree) }
    }

    /// The location of the value that a JSON pointer (RFC 6901) names in the first document.
    ///
    /// The location of a map entry is its key (for a merged one, its `<<`). The location of a list item is the item. If
    /// the pointer is deeper than the text, the result is the deepest existing part.
    pub fn at(&self, pointer: &str) -> Option<Location> {
        self.find(&Pointer::new(0, pointer))
    }

    /// [`Self::at`] in any of the documents.
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

/// [`TextLocations::at`] for a single location.
pub fn locate(text: &str, pointer: &str, limits: &Limits) -> Option<Location> {
    TextLocations::new(text, limits).at(pointer)
}

/// The value below a segment of a pointer, and the node at its location.
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

/// The last entry of that name, because the last one wins. Otherwise the merge that adds it.
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
