//! Which template a reference means, whatever its version and however it is spelt.

use common::model::RegistryType;

use super::places::Place;
use super::reference::TemplateVersion;

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
    pub(super) fn new(place: &Place, wanted: TemplateVersion) -> Self {
        let definition = place.registry.summary().definition;
        Self {
            registry_type: definition.registry_type,
            url: definition.url,
            reference: definition.reference,
            collection: wanted.collection.or_else(|| place.collection.clone()),
            template: wanted.template,
        }
    }
}
