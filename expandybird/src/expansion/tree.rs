//! The tree of an expansion: template instances, and primitives as its leaves.

use common::model::{LayoutNode, LayoutPath, Output, ResourceName, TypeName};
use serde_json::{Map, Value};

#[derive(Debug)]
pub struct Node {
    pub name: ResourceName,
    pub type_name: TypeName,
    pub metadata: Option<Value>,
    pub body: Body,
    /// The file that has the resource: the configuration, or a template.
    pub file: String,
    pub path: LayoutPath,
}

#[derive(Debug)]
pub enum Body {
    Primitive(Option<Value>),
    Template {
        properties: Option<Value>,
        children: Vec<Node>,
        outputs: Vec<Output>,
    },
}

impl Node {
    /// As the original laid it out: `properties` and `resources` only where there are sub-resources.
    pub fn into_layout(self) -> LayoutNode {
        let (properties, resources) = match self.body {
            Body::Template {
                properties,
                children,
                ..
            } if !children.is_empty() => {
                let resources = children.into_iter().map(Node::into_layout).collect();
                (
                    Some(properties.unwrap_or_else(|| Value::Object(Map::new()))),
                    Some(resources),
                )
            }
            Body::Template { .. } | Body::Primitive(_) => (None, None),
        };
        LayoutNode {
            name: self.name,
            type_name: self.type_name,
            properties,
            resources,
        }
    }
}
