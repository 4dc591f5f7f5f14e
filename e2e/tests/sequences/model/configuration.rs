//! A configuration: which objects a deployment is asked to be, with which values and policies.
//!
//! Where a template makes the resources, a configuration is a tree, with types of its own.

use serde_json::{Value, json};

use super::object::Pace;
use super::{Names, ObjectId, Policies};

/// Makes what the properties say.
pub const TEMPLATE: &str = "resources: {{ properties.resources | tojson }}\n";
const TEMPLATE_NAME: &str = "set.jinja";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    pub items: Vec<Item>,
    pub template: Template,
}

/// Where the template is that makes the resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Template {
    /// There is none.
    #[default]
    None,
    Import,
    /// In the registry of the tester, as this version.
    Version(u8),
}

impl Template {
    /// The versions in the registry.
    pub const VERSIONS: [u8; 2] = [0, 1];

    fn type_name(self) -> &'static str {
        match self {
            Template::Version(0) => "sequences/set:v1.0",
            Template::Version(_) => "sequences/set:v1.1",
            Template::None | Template::Import => TEMPLATE_NAME,
        }
    }

    /// The version as an upgrade names it.
    pub fn reference(version: u8) -> &'static str {
        Template::Version(version).type_name()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub object: ObjectId,
    pub value: u32,
    pub pace: Pace,
    /// It is applied after the item before it in the list.
    pub after: bool,
    /// It holds the UID of the item before it in the list. ConfigMaps only.
    pub refers: bool,
    pub policies: Policies,
}

impl Item {
    pub fn new(object: ObjectId, value: u32) -> Self {
        Self {
            object,
            value,
            pace: Pace::Well,
            after: false,
            refers: false,
            policies: Policies::default(),
        }
    }

    pub fn paced(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    pub fn after(self) -> Self {
        Self {
            after: true,
            ..self
        }
    }

    pub fn with(self, policies: Policies) -> Self {
        Self { policies, ..self }
    }

    fn resource(&self, names: &Names, before: Option<&Item>) -> Value {
        let mut properties = self.object.body(names, self.value, self.pace);
        if self.object.second {
            properties["metadata"]["namespace"] = json!(names.namespaces()[1]);
        }
        let mut metadata = self.policies.fields();
        if let Some(before) = before {
            let before = before.object.name(names);
            if self.after {
                metadata["dependsOn"] = json!([before]);
            }
            if self.refers {
                properties["data"]["ref"] = json!(format!("$(ref.{before}.metadata.uid)"));
            }
        }
        let mut resource = json!({
            "name": self.object.name(names),
            "type": self.object.kind.type_name(names),
            "properties": properties,
        });
        if metadata != json!({}) {
            resource["metadata"] = metadata;
        }
        resource
    }
}

impl Configuration {
    pub fn of(items: impl IntoIterator<Item = Item>) -> Self {
        Self {
            items: items.into_iter().collect(),
            template: Template::None,
        }
    }

    /// `content` and `imports` of a request. JSON is YAML too.
    pub fn request(&self, names: &Names) -> Value {
        let before = std::iter::once(None).chain(self.items.iter().map(Some));
        let resources: Vec<_> = self
            .items
            .iter()
            .zip(before)
            .map(|(item, before)| item.resource(names, before))
            .collect();
        let resources = json!(resources);
        let set = json!({
            "name": "set", "type": self.template.type_name(), "properties": {"resources": resources},
        });
        let (resources, imports) = match self.template {
            Template::None => (resources, json!([])),
            Template::Import => (
                json!([set]),
                json!([{"name": TEMPLATE_NAME, "content": TEMPLATE}]),
            ),
            Template::Version(_) => (json!([set]), json!([])),
        };
        json!({"content": json!({"resources": resources}).to_string(), "imports": imports})
    }
}
