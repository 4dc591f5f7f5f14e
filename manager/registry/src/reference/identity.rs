//! Which template a reference means, in any version and any spelling.

use common::model::{RegistryDefinition, RegistryType};

use super::TemplateVersion;

/// Equal for `redis:v1`, `default/redis:v2` and the full reference of the same template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    registry_type: RegistryType,
    url: String,
    /// A branch or a tag of the repository is a registry of its own.
    reference: Option<String>,
    collection: Option<String>,
    template: String,
}

impl Identity {
    /// A chart, in any version.
    pub(crate) fn of_chart(definition: RegistryDefinition, chart: String) -> Self {
        Self {
            registry_type: definition.registry_type,
            url: definition.url,
            reference: None,
            collection: None,
            template: chart,
        }
    }

    /// `collection` is the collection of references that name none.
    pub(crate) fn new(
        definition: RegistryDefinition,
        collection: Option<String>,
        wanted: TemplateVersion,
    ) -> Self {
        Self {
            registry_type: definition.registry_type,
            url: definition.url,
            reference: definition.reference,
            collection: wanted.collection.or(collection),
            template: wanted.template,
        }
    }
}
