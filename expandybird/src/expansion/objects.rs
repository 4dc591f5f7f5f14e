//! Kubernetes objects as the resources of a level.
//!
//! Each is a primitive. Its type is its kind, and its properties are the whole object. Its kind is never the name of a
//! template, because the author of the objects does not know the templates.

use common::kubernetes_secret;
use common::manifests::{self, Object};
use common::model::{LayoutPath, ResourceName, TypeName};

use super::Expander;
use super::error::Fault;
use super::tree::{Body, Node};
use crate::engine::EngineError;

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
        })
    }
}
