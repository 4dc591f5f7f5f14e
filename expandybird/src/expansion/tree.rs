//! The tree of an expansion: template instances, and primitives as its leaves.

use common::model::{
    HookEvent, InstanceOutputs, LayoutNode, LayoutPath, Origin, Output, OutputKind, PromisedOutput,
    ResourceName, TypeName,
};
use serde_json::{Map, Value};

use super::references::is_reference;

#[derive(Debug)]
pub struct Node {
    pub name: ResourceName,
    pub type_name: TypeName,
    pub metadata: Option<Value>,
    pub body: Body,
    pub origin: Origin,
    pub path: LayoutPath,
    /// The file of a chart that has the resource.
    pub source: Option<String>,
    /// When it runs, if it is a hook.
    pub hook: Vec<HookEvent>,
}

#[derive(Debug)]
pub enum Body {
    Primitive(Option<Value>),
    Template {
        properties: Option<Value>,
        children: Vec<Node>,
        outputs: Vec<Output>,
        /// What the template says to its user.
        message: Option<String>,
        /// What its schema says to its user (`info.notes`), as text.
        notes: Option<String>,
    },
}

impl Node {
    /// The outputs of a template instance, if it has any.
    pub fn promised(&self) -> Option<InstanceOutputs> {
        let Body::Template { outputs, .. } = &self.body else {
            return None;
        };
        let promised = |output: &Output| PromisedOutput {
            name: output.name.clone(),
            kind: kind(&output.value),
        };
        (!outputs.is_empty()).then(|| InstanceOutputs {
            name: self.name.clone(),
            outputs: outputs.iter().map(promised).collect(),
        })
    }

    /// The layout of Google's Deployment Manager: `properties` and `resources` only if there are sub-resources.
    pub fn into_layout(self) -> LayoutNode {
        let (properties, resources, message) = match self.body {
            Body::Template {
                properties,
                children,
                message,
                ..
            } if !children.is_empty() => {
                let resources = children.into_iter().map(Node::into_layout).collect();
                (
                    Some(properties.unwrap_or_else(|| Value::Object(Map::new()))),
                    Some(resources),
                    message,
                )
            }
            Body::Template { message, .. } => (None, None, message),
            Body::Primitive(_) => (None, None, None),
        };
        LayoutNode {
            name: self.name,
            type_name: self.type_name,
            properties,
            resources,
            message,
            source: self.source,
            hook: self.hook,
            origin: Some(self.origin),
        }
    }
}

fn kind(value: &Value) -> OutputKind {
    match value {
        Value::Null => OutputKind::Null,
        Value::Bool(_) => OutputKind::Boolean,
        Value::Number(_) => OutputKind::Number,
        Value::String(text) if is_reference(text) => OutputKind::Reference,
        Value::String(_) => OutputKind::String,
        Value::Array(_) => OutputKind::List,
        Value::Object(_) => OutputKind::Map,
    }
}
