//! Finds a resource of a layout by the names that people know it by.

use common::model::{Layout, LayoutNode, LayoutPath, Manifest, Resource};

use crate::error::Failure;

/// How many objects an error lists that the user may have meant.
const LISTED: usize = 10;

/// The resource that is meant: by its path, its name, or kind and name of its object. Objects are meant before templates.
pub fn find(manifest: &Manifest, object: &str) -> Result<LayoutPath, Failure> {
    if let Ok(path) = LayoutPath::parse(object) {
        return match manifest.layout.at(&path) {
            Some(_) => Ok(path),
            None => Err(missing(manifest, object)),
        };
    }
    let named = named(&manifest.layout, &manifest.expanded_config.resources);
    let of = |is_object: bool| -> Vec<&Named<'_>> {
        let found = named.iter().filter(|one| one.is_object == is_object);
        found.filter(|one| one.is_meant(object)).collect()
    };
    let objects = of(true);
    let found = match objects.is_empty() {
        true => of(false),
        false => objects,
    };
    match found[..] {
        [] => Err(missing(manifest, object)),
        [one] => Ok(one.path.clone()),
        _ => Err(ambiguous(object, &found)),
    }
}

fn missing(manifest: &Manifest, object: &str) -> Failure {
    Failure::not_found(format!(
        "{} has no object {object:?}; dm layout {0} --paths lists what it has",
        manifest.deployment
    ))
}

fn ambiguous(object: &str, found: &[&Named<'_>]) -> Failure {
    let shown = found.iter().take(LISTED);
    let shown: Vec<_> = shown
        .map(|one| format!("{} ({}/{})", one.path, one.kind, one.object))
        .collect();
    Failure::usage(format!(
        "{} resources are meant by {object:?}; name one by its kind and name, or by its path: {}",
        found.len(),
        shown.join(", ")
    ))
}

/// A node of the layout with the names that people know it by.
struct Named<'m> {
    path: LayoutPath,
    node: &'m LayoutNode,
    is_object: bool,
    kind: &'m str,
    /// The name of the object.
    object: &'m str,
}

impl Named<'_> {
    fn is_meant(&self, object: &str) -> bool {
        let is_name = |name: &str| name == self.node.name.as_str() || name == self.object;
        match object.split_once('/') {
            Some((kind, name)) if kind.eq_ignore_ascii_case(self.kind) => is_name(name),
            _ => is_name(object),
        }
    }
}

/// The expanded configuration has the objects in the order of the layout.
fn named<'m>(layout: &'m Layout, resources: &'m [Resource]) -> Vec<Named<'m>> {
    let mut resources = resources.iter().peekable();
    let name = |(path, node): (LayoutPath, &'m LayoutNode)| {
        let is_own = |one: &&Resource| one.name == node.name && one.type_name == node.type_name;
        let own = match node.resources.is_some() {
            true => None,
            false => resources.next_if(is_own),
        };
        let text = |pointer: &str| own?.properties.as_ref()?.pointer(pointer)?.as_str();
        let type_name = node.type_name.as_str();
        let of_type = type_name.rsplit(['/', ':']).next().unwrap_or(type_name);
        Named {
            path,
            node,
            is_object: own.is_some(),
            kind: text("/kind").unwrap_or(of_type),
            object: text("/metadata/name").unwrap_or(node.name.as_str()),
        }
    };
    layout.walk().into_iter().map(name).collect()
}
