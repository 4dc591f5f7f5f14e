//! Kubernetes objects as the resources of a level.
//!
//! Each is a primitive. Its type is its kind, and its properties are the whole object. Its kind is never the name of a
//! template, because the author of the objects does not know the templates.

use common::kubernetes_secret;
use common::manifests::{self, Object};
use common::model::{LayoutPath, ResourceName, TypeName};
use serde_json::json;

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

    /// The nodes of objects that wait for each other, in their order.
    pub(super) fn placed(
        &mut self,
        placed: Vec<Placed>,
        parent: &LayoutPath,
    ) -> Result<Vec<Node>, Fault> {
        let (objects, plans): (Vec<_>, Vec<_>) = placed
            .into_iter()
            .map(|placed| (placed.object, (placed.metadata, placed.after)))
            .unzip();
        let nodes = self.objects(objects, parent);
        let mut nodes = nodes.map_err(|(_, fault)| fault)?;
        let names: Vec<String> = nodes.iter().map(|node| node.name.to_string()).collect();
        for (node, (metadata, after)) in nodes.iter_mut().zip(plans) {
            let first: Vec<&String> = after.iter().filter_map(|&index| names.get(index)).collect();
            node.source = Some(node.file.clone());
            let mut metadata = metadata.unwrap_or_else(|| json!({}));
            if !first.is_empty() {
                metadata["dependsOn"] = json!(first);
            }
            node.metadata = metadata
                .as_object()
                .is_some_and(|all| !all.is_empty())
                .then_some(metadata);
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
            file: object.place.file,
            path,
            source: None,
        })
    }
}
