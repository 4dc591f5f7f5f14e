//! Manifests and layouts.

use super::*;
use crate::http::deployments::manifests::{LayoutQuery, ManifestDiffQuery};

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("List the manifests of a deployment, oldest first")
        .query::<PageQuery>(of)
        .answers::<Page<ManifestSummary>>(200, "A page of the list.", of)
        .fails(&[NotFound])
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("Get a manifest with its contents")
        .answers::<Manifest>(200, "It.", of)
        .fails(&[NotFound])
}

pub fn diff(of: &mut SchemaGenerator) -> Description {
    Description::new("Compare two manifests. The cluster is not asked")
        .query::<ManifestDiffQuery>(of)
        .answers::<ManifestDiff>(200, "Every resource, with the fields that differ.", of)
        .fails(&[NotFound])
}

pub fn layout(of: &mut SchemaGenerator) -> Description {
    Description::new("Get the layout of a manifest, or one node of it")
        .query::<LayoutQuery>(of)
        .answers::<LayoutAnswer>(200, "The layout, or the node at the path.", of)
        .fails(&[NotFound])
}

#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum LayoutAnswer {
    Node(Box<common::model::LayoutNode>),
    ClusterScoped(common::model::Layout),
}
