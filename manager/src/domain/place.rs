//! The place of a resource in the caller's configuration.
//!
//! The cluster knows resources only by name. The layout leads from the name to the resource of the configuration, and
//! the text leads to its line. A resource that a template made has the line of the template's instance.

use std::sync::OnceLock;

use common::api::error::{ErrorBody, Location};
use common::manifests;
use common::model::{Layout, LayoutNode, LayoutPath};
use common::yaml;

/// The expanded configuration.
pub struct Source<'a> {
    file: &'a str,
    content: &'a str,
    layout: &'a Layout,
    read: OnceLock<Read<'a>>,
}

/// The parsed text and layout. Parsed for the first lookup, because most configurations have no faults.
struct Read<'a> {
    nodes: Vec<(LayoutPath, &'a LayoutNode)>,
    places: yaml::TextLocations<'a>,
    /// Of a text of Kubernetes objects, where each of them stands.
    objects: Vec<yaml::Pointer>,
}

impl<'a> Read<'a> {
    fn new(content: &'a str, layout: &'a Layout) -> Self {
        let objects = match manifests::is_manifests(content) {
            true => manifests::read("", content).unwrap_or_default(),
            false => Vec::new(),
        };
        Self {
            nodes: layout.walk(),
            places: yaml::TextLocations::new(content, &yaml::Limits::DEFAULT),
            objects: objects.into_iter().map(|one| one.place.pointer).collect(),
        }
    }

    /// The resource of the configuration, or the object, that a node came from.
    fn place(&self, path: &LayoutPath) -> Option<yaml::Location> {
        let object = path.top().and_then(|index| self.objects.get(index));
        if let Some(object) = object {
            return self.places.find(object);
        }
        self.places.at(&pointer(&path.to_string()))
    }

    /// A field of the object that a resource of the configuration itself is, or what is there of the way to it.
    fn field(&self, path: &LayoutPath, field: &str) -> Option<yaml::Location> {
        let object = path.top().and_then(|index| self.objects.get(index));
        let (document, root) = match object {
            Some(object) => (object.document, object.path.clone()),
            None => (0, format!("{}/properties", pointer(&path.to_string()))),
        };
        let field = pointer(&format!(".{}", field.trim_start_matches('.')));
        // As far as the way leads.
        self.places
            .find(&yaml::Pointer::new(document, format!("{root}{field}")))
    }
}

/// `$.resources[0]` and `.spec.ports[0]` as JSON pointers.
fn pointer(path: &str) -> String {
    path.replace(['.', '['], "/").replace(['$', ']'], "")
}

impl<'a> Source<'a> {
    /// `file` is the configuration's name in errors, `content` its YAML text.
    pub fn new(file: &'a str, content: &'a str, layout: &'a Layout) -> Self {
        Self {
            file,
            content,
            layout,
            read: OnceLock::new(),
        }
    }

    /// The place of the first matching resource. Empty if there is none.
    pub fn of(&self, wanted: impl Fn(&LayoutNode) -> bool) -> Location {
        let read = self
            .read
            .get_or_init(|| Read::new(self.content, self.layout));
        let Some((path, node)) = read.nodes.iter().find(|(_, node)| wanted(node)) else {
            return Location::default();
        };
        let at = read.place(path);
        let number = |n: usize| u32::try_from(n).ok();
        Location {
            file: Some(self.file.to_owned()),
            line: at.and_then(|at| number(at.line)),
            column: at.and_then(|at| number(at.column)),
            resource: Some(node.name.to_string()),
            path: Some(path.to_string()),
        }
    }

    /// The place of a field of a resource's object. Of an object that a template made, it is that of the instance.
    fn of_field(&self, resource: &str, field: &str) -> Location {
        let mut place = self.of(|node| is_primitive(node, resource));
        let read = self.read.get();
        let node = read.and_then(|read| {
            let mut nodes = read.nodes.iter();
            let (path, _) = nodes.find(|(_, node)| is_primitive(node, resource))?;
            Some((read, path))
        });
        let Some((read, path)) = node else {
            return place;
        };
        let at = path.top().and_then(|_| read.field(path, field));
        if let Some(at) = at {
            place.line = u32::try_from(at.line).ok();
            place.column = u32::try_from(at.column).ok();
        }
        let field = field.trim_start_matches('.');
        place.path = Some(format!("{path}.properties.{field}"));
        place
    }

    /// Adds the file, line and path to an error and its causes, where they name a resource without a place. A path without a
    /// file is a field of the resource's object.
    pub fn add_to(&self, error: &mut ErrorBody) {
        for cause in &mut error.causes {
            self.add_to(cause);
        }
        let Some(location) = error.location.as_mut().filter(|known| known.file.is_none()) else {
            return;
        };
        let Some(name) = location.resource.clone() else {
            return;
        };
        let found = match &location.path {
            Some(field) => self.of_field(&name, field),
            None => self.of(|node| is_primitive(node, &name)),
        };
        if found.file.is_some() {
            *location = found;
        }
    }
}

fn is_primitive(node: &LayoutNode, name: &str) -> bool {
    node.resources.is_none() && node.name.as_str() == name
}

#[cfg(test)]
mod tests {
    use common::api::error::ErrorCode;
    use serde_json::json;

    use super::*;

    const CONTENT: &str =
        "resources:\n- name: a\n  type: Pod\n- name: b\n  type: t.py\n  properties: {}\n";

    fn layout() -> Layout {
        let resources = json!([
            {"name": "a", "type": "Pod"},
            {"name": "b", "type": "t.py", "properties": {}, "resources": [{"name": "c", "type": "Service"}]},
        ]);
        serde_json::from_value(json!({"resources": resources})).unwrap()
    }

    fn placed(resource: &str) -> Location {
        let layout = layout();
        let source = Source::new("web", CONTENT, &layout);
        let unplaced = Location {
            resource: Some(resource.to_owned()),
            ..Location::default()
        };
        let cause = ErrorBody::new(ErrorCode::UnknownType, "no such kind").at(unplaced);
        let mut error = ErrorBody::new(ErrorCode::UnknownType, "failed").caused_by([cause]);
        source.add_to(&mut error);
        error.causes.remove(0).location.unwrap()
    }

    #[test]
    fn a_resource_of_the_configuration_is_at_its_own_line() {
        let place = placed("a");
        assert_eq!(place.to_string(), "web:2:3");
        assert_eq!(place.path.as_deref(), Some("$.resources[0]"));
    }

    #[test]
    fn a_resource_of_a_template_is_at_the_line_of_its_instance() {
        let place = placed("c");
        assert_eq!(place.line, Some(4));
        assert_eq!(place.path.as_deref(), Some("$.resources[1].resources[0]"));
    }

    #[test]
    fn an_object_is_at_its_own_line() {
        let content = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n{apiVersion: v1, kind: List, items: [\n{apiVersion: v1, kind: Pod, metadata: {name: b}}]}\n";
        let layout =
            json!({"resources": [{"name": "a", "type": "Pod"}, {"name": "b", "type": "Pod"}]});
        let layout = serde_json::from_value(layout).unwrap();
        let source = Source::new("web", content, &layout);
        let place = source.of(|node| node.name.as_str() == "b");
        assert_eq!(place.to_string(), "web:6:1");
    }

    #[test]
    fn a_field_is_at_its_own_line_or_where_the_way_to_it_ends() {
        let content =
            "resources:\n- name: a\n  type: Pod\n  properties:\n    spec:\n      nodeNam: x\n";
        let layout = serde_json::from_value(json!({"resources": [{"name": "a", "type": "Pod"}]}));
        let layout = layout.unwrap();
        let source = Source::new("web", content, &layout);
        let field = source.of_field("a", ".spec.nodeNam");
        assert_eq!(field.line, Some(6));
        assert_eq!(
            field.path.as_deref(),
            Some("$.resources[0].properties.spec.nodeNam")
        );
        assert_eq!(
            source.of_field("a", "spec.containers[0].image").line,
            Some(5)
        );
        let objects = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec:\n  nodeNam: x\n";
        let layout = json!({"resources": [{"name": "b", "type": "ConfigMap"}, {"name": "a", "type": "Pod"}]});
        let layout = serde_json::from_value(layout).unwrap();
        let source = Source::new("web", objects, &layout);
        assert_eq!(source.of_field("a", "spec.nodeNam").line, Some(9));
    }

    #[test]
    fn a_resource_that_is_not_in_the_layout_stays_without_a_place() {
        assert_eq!(placed("gone").file, None);
    }
}
