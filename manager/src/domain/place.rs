//! Where in the caller's configuration a resource stands.
//!
//! The cluster knows resources by name only. The layout leads from there to the resource of the configuration that it
//! came from, and the configuration's text to its line: a resource that a template made is at the line of the
//! template's instance.

use std::sync::OnceLock;

use common::api::error::{ErrorBody, Location};
use common::model::{Layout, LayoutNode, LayoutPath};
use common::yaml;

/// What was expanded.
pub struct Source<'a> {
    file: &'a str,
    content: &'a str,
    layout: &'a Layout,
    read: OnceLock<Read<'a>>,
}

/// What places are looked up in: read for the first, as most configurations have no fault.
struct Read<'a> {
    nodes: Vec<(LayoutPath, &'a LayoutNode)>,
    places: yaml::Places<'a>,
}

impl<'a> Source<'a> {
    /// `file` is what errors call the configuration, `content` its YAML text.
    pub fn new(file: &'a str, content: &'a str, layout: &'a Layout) -> Self {
        Self {
            file,
            content,
            layout,
            read: OnceLock::new(),
        }
    }

    /// The place of the first resource for which it holds; empty if there is none.
    pub fn of(&self, wanted: impl Fn(&LayoutNode) -> bool) -> Location {
        let read = self.read.get_or_init(|| Read {
            nodes: self.layout.walk(),
            places: yaml::Places::of(self.content, &yaml::Limits::DEFAULT),
        });
        let Some((path, node)) = read.nodes.iter().find(|(_, node)| wanted(node)) else {
            return Location::default();
        };
        let pointer = path
            .to_string()
            .replace(['.', '['], "/")
            .replace(['$', ']'], "");
        let at = read.places.at(&pointer);
        let number = |n: usize| u32::try_from(n).ok();
        Location {
            file: Some(self.file.to_owned()),
            line: at.and_then(|at| number(at.line)),
            column: at.and_then(|at| number(at.column)),
            resource: Some(node.name.to_string()),
            path: Some(path.to_string()),
        }
    }

    /// Adds file, line and path to an error, and to its causes, that name a primitive and no place.
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
        let found = self.of(|node| node.resources.is_none() && node.name.as_str() == name);
        if found.file.is_some() {
            *location = found;
        }
    }
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
    fn a_resource_that_is_not_in_the_layout_stays_without_a_place() {
        assert_eq!(placed("gone").file, None);
    }
}
