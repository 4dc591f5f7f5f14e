//! A configuration: which objects a deployment is asked to be, with which values and policies.

use serde_json::{Value, json};

use super::object::Pace;
use super::{Names, ObjectId, Policies};

/// Makes what the properties say: so a configuration is a tree, with types of its own.
const TEMPLATE: &str = "resources: {{ properties.resources | tojson }}\n";
const TEMPLATE_NAME: &str = "set.jinja";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    pub items: Vec<Item>,
    /// Whether a template makes the resources.
    pub templated: bool,
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
        let mut properties = self.object.kind.body(self.value, self.pace);
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
            templated: false,
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
        if !self.templated {
            return json!({"content": json!({"resources": resources}).to_string(), "imports": []});
        }
        let set =
            json!({"name": "set", "type": TEMPLATE_NAME, "properties": {"resources": resources}});
        json!({
            "content": json!({"resources": [set]}).to_string(),
            "imports": [{"name": TEMPLATE_NAME, "content": TEMPLATE}],
        })
    }
}
