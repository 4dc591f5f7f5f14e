//! Registries and the templates that they hold.

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::manager::{RegistrySummary, TemplateDescription, TemplateSummary};
use common::api::page::Page;
use common::model::TypeName;

use crate::error::Error;
use crate::registry::Registries;

pub struct Catalog {
    pub registries: Arc<Registries>,
}

impl Catalog {
    pub async fn list(&self) -> Page<RegistrySummary> {
        Page::whole(self.registries.list().await)
    }

    pub async fn get(&self, name: &str) -> Result<RegistrySummary, Error> {
        let known = self.registries.list().await;
        let found = known.into_iter().find(|registry| registry.name == name);
        found.ok_or_else(|| {
            Error::new(
                ErrorCode::NotFound,
                format!("there is no registry '{name}'"),
            )
        })
    }

    pub async fn templates(
        &self,
        registry: &str,
        regex: Option<&str>,
    ) -> Result<Page<TemplateSummary>, Error> {
        Ok(Page::whole(
            self.registries.templates(registry, regex).await?,
        ))
    }

    /// A template as references within its registry name it, such as `redis:v1`.
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
        self.check(type_name)?;
        Ok(self.registries.registry_of(type_name).await?)
    }

    fn check(&self, type_name: &TypeName) -> Result<(), Error> {
        if self.registries.recognises(type_name.as_str()) {
            return Ok(());
        }
        let message = format!(
            "type {:?} is no template reference: no registry holds it",
            type_name.as_str()
        );
        Err(Error::new(ErrorCode::NotFound, message))
    }
}
