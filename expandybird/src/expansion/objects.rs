//! Kubernetes objects as the resources of a level.
//!
//! Each is a primitive. Its type is its kind, and its properties are the whole object. Its kind is never the name of a
//! template, because the author of the objects does not know the templates.

use common::kubernetes_secret;
use common::manifests::{self, Object};
use common::model::{Hook, LayoutPath, Origin, ResourceName, TypeName};
use serde_json::{Map, Value, json};

use super::Expander;
use super::error::Fault;
use super::tree::{Body, Node};
use crate::engine::{EngineError, Placed};

impl Expander<'_> {
    /// The nodes of a list of objects, in their order. An error has the object that it is about, if there is one.
    pub(super) fn objects(
        &mut self,
        objects: Vec<Object>,
        parent: &LayoutPath,
    ) -> Result<Vec<Node>, (Option<usize>, Fault)> {
        let named = manifests::named(objects)
            .map_err(|error| (None, Fault::from(EngineError::from(error))))?;
        let mut nodes = Vec::with_capacity(named.len());
        for (index, (name, object)) in named.into_iter().enumerate() {
            let node = self.object(name, object, parent.child(index));
            nodes.push(node.map_err(|fault| (Some(index), fault))?);
        }
        Ok(nodes)
    }

    /// The nodes of the objects of a chart, in their order.
    pub(super) fn placed(
        &mut self,
        placed: Vec<Placed>,
        parent: &LayoutPath,
    ) -> Result<Vec<Node>, Fault> {
        let (objects, plans): (Vec<_>, Vec<_>) = placed
            .into_iter()
            .map(|placed| (placed.object, (placed.metadata, placed.hook)))
            .unzip();
        // Only a chart with hooks or definitions has an order of its own.
        let has_order = |(metadata, hook): &(Map<String, Value>, Option<Hook>)| {
            hook.is_some() || metadata.contains_key("shared")
        };
        let chart = plans.iter().any(has_order).then(|| json!(self.around));
        let nodes = self.objects(objects, parent);
        let mut nodes = nodes.map_err(|(_, fault)| fault)?;
        for (node, (mut metadata, hook)) in nodes.iter_mut().zip(plans) {
            node.source = Some(node.origin.file.clone());
            // The line is one of the text that the template printed.
            node.origin.line = None;
            node.hook = hook.map(|hook| hook.events).unwrap_or_default();
            metadata.extend(chart.clone().map(|chart| ("chart".to_owned(), chart)));
            node.metadata = (!metadata.is_empty()).then_some(Value::Object(metadata));
        }
        Ok(nodes)
    }

    fn object(&mut self, name: String, object: Object, path: LayoutPath) -> Result<Node, Fault> {
        self.budget.take_resource()?;
        let values = kubernetes_secret::values(&object.kind, Some(&object.value));
        self.hidden.extend(values.cloned());
        Ok(Node {
            name: ResourceName::parse(name)?,
            type_name: TypeName::parse(object.kind)?,
            metadata: None,
            body: Body::Primitive(Some(object.value)),
            origin: Origin {
                line: u32::try_from(object.place.line).ok(),
                file: object.place.file,
            },
            path,
            source: None,
            hook: Vec::new(),
        })
    }
}
