//! The `registry.yaml` of a registry, with the folders of its collections.

use common::registry::collections::FILE;

pub use common::registry::collections::Collections;

use crate::RegistryError;
use crate::adapter::Registry;
use crate::catalog::fetch;
use common::registry::FilePath;

pub async fn read(registry: &dyn Registry) -> Result<Collections, RegistryError> {
    let Some(file) = fetch::text(registry, &FilePath::parse(FILE)?).await? else {
        return Ok(Collections::default());
    };
    Collections::parse(&file.content).map_err(|faults| RegistryError::Metadata {
        file: registry.path_of(&file.path),
        faults,
    })
}
