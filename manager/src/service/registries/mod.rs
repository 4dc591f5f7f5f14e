//! Registries and the templates in them.

pub mod credentials;

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::manager::{
    RefreshedRegistry, RegistrySummary, TemplateDescription, TemplateSummary,
};
use common::api::page::{Page, PageQuery};
use common::model::{RegistryDefinition, RegistryName, TypeName};
use manager_registry::{DEFAULT, Registries};

use super::pages::by_name;
use crate::credentials::{Vault, VaultError};
use crate::error::Error;
use crate::store::operations::answers;
use crate::store::{Store, registries};

pub struct Catalog {
    pub registries: Arc<Registries>,
    pub store: Store,
    pub vault: Arc<Vault>,
}

impl Catalog {
    pub async fn list(&self, page: &PageQuery) -> Result<Page<RegistrySummary>, Error> {
        let all = self.registries.list().await?;
        Ok(by_name(all, |registry| &registry.name, page)?)
    }

    /// The registry is not contacted: it can be registered while it is unavailable.
    pub async fn create(
        &self,
        name: RegistryName,
        definition: RegistryDefinition,
    ) -> Result<RegistrySummary, Error> {
        if name.as_str() == DEFAULT {
            let message =
                "registry 'default' is set by the manager's --registry; choose another name";
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        }
        self.registries.check(&definition)?;
        if let Some(credential) = &definition.credential {
            let found = self.vault.get(credential).await;
            found.map_err(|error| match error {
                VaultError::Unknown(_) => Error::invalid(&error),
                error => error.into(),
            })?;
        }
        let summary = RegistrySummary {
            name: name.clone().into(),
            definition,
        };
        answers::created(&summary)?;
        let definition = &summary.definition;
        match registries::create(&self.store, &name, definition).await {
            Err(error) if error.is_conflict() => {
                let message = format!("registry '{name}' exists");
                Err(Error::new(ErrorCode::AlreadyExists, message))
            }
            created => {
                created?;
                tracing::info!(registry = %name, url = definition.url, "registered registry {name}");
                Ok(summary)
            }
        }
    }

    /// What was deployed from the registry stays: manifests hold the expanded resources.
    pub async fn delete(&self, name: RegistryName) -> Result<RegistrySummary, Error> {
        let found = registries::get(&self.store, &name).await?;
        let Some(definition) = found else {
            return Err(self.registries.unknown(name.as_str()).await.into());
        };
        let summary = RegistrySummary {
            name: name.clone().into(),
            definition,
        };
        answers::done(&summary)?;
        registries::delete(&self.store, &name).await?;
        tracing::info!(registry = %name, "removed registry {name}");
        Ok(summary)
    }

    pub async fn get(&self, name: &str) -> Result<RegistrySummary, Error> {
        let known = self.registries.list().await?;
        let found = known.into_iter().find(|registry| registry.name == name);
        match found {
            Some(found) => Ok(found),
            None => Err(self.registries.unknown(name).await.into()),
        }
    }

    pub async fn templates(
        &self,
        registry: &str,
        regex: Option<&str>,
        page: &PageQuery,
    ) -> Result<Page<TemplateSummary>, Error> {
        let all = self.registries.templates(registry, regex).await?;
        Ok(by_name(all, |template| &template.name, page)?)
    }

    /// Asks the registry anew.
    pub async fn refresh(&self, registry: &str) -> Result<RefreshedRegistry, Error> {
        let templates = self.registries.refreshed(registry).await?;
        Ok(RefreshedRegistry {
            name: registry.to_owned(),
            templates: templates.len(),
            versions: templates
                .iter()
                .map(|template| template.versions.len())
                .sum(),
        })
    }

    /// A template by the name that references within its registry use, such as `redis:v1`.
    pub async fn template(
        &self,
        registry: &str,
        template: &str,
    ) -> Result<TemplateDescription, Error> {
        let reference = TypeName::parse(format!("{registry}/{template}"))
            .map_err(|error| Error::invalid(&error))?;
        Ok(self.registries.describe(&reference).await?)
    }

    pub async fn download(&self, registry: &str, file: &str) -> Result<Vec<u8>, Error> {
        Ok(self.registries.download(registry, file).await?)
    }

    pub async fn describe(&self, type_name: &TypeName) -> Result<TemplateDescription, Error> {
        self.check(type_name)?;
        Ok(self.registries.describe(type_name).await?)
    }

    pub async fn registry_of(&self, type_name: &TypeName) -> Result<RegistrySummary, Error> {
        self.describe(type_name).await?;
        Ok(self.registries.registry_of(type_name).await?)
    }

    fn check(&self, type_name: &TypeName) -> Result<(), Error> {
        if self.registries.recognises(type_name.as_str()) {
            return Ok(());
        }
        let message = format!(
            "type {:?} is not a template reference: no registry holds it",
            type_name.as_str()
        );
        Err(Error::new(ErrorCode::NotFound, message))
    }
}
