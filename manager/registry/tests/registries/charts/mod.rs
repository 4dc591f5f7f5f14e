//! Helm charts: in chart repositories, in OCI registries, and as folders in each kind of registry.

mod folders;
mod oci;
mod repositories;

use common::model::TypeName;
use manager_registry::{RegistryError, ResolvedTemplate};

use crate::support::alone::Alone;

const FILES: [&str; 4] = [
    "Chart.yaml",
    "templates/a.yaml",
    "values.schema.json",
    "values.yaml",
];

fn type_name(text: &str) -> TypeName {
    TypeName::parse(text).unwrap()
}

async fn resolve(alone: &Alone, reference: &str) -> Result<ResolvedTemplate, RegistryError> {
    alone.resolve(&type_name(reference)).await
}

async fn version(alone: &Alone, reference: &str) -> String {
    let resolved = resolve(alone, reference).await.unwrap();
    resolved.resolved.version.unwrap()
}
