//! Template registries.

use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;

use super::{ManagerClient, READ};
use crate::api::manager::{RefreshedRegistry, RegistrySummary, TemplateSummary};
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::model::{RegistryDefinition, RegistryName};

impl ManagerClient {
    pub async fn registries(&self, page: &PageQuery) -> Result<Page<RegistrySummary>, ClientError> {
        self.endpoint.get(&["registries"], page, READ).await
    }

    pub async fn registry(&self, name: &str) -> Result<RegistrySummary, ClientError> {
        self.read(&["registries", name]).await
    }

    pub async fn create_registry(
        &self,
        name: &RegistryName,
        definition: &RegistryDefinition,
    ) -> Result<RegistrySummary, ClientError> {
        let path = ["registries", name.as_str()];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint
            .fetch(request.json(definition), READ.into())
            .await
    }

    pub async fn delete_registry(
        &self,
        name: &RegistryName,
    ) -> Result<RegistrySummary, ClientError> {
        let path = ["registries", name.as_str()];
        let request = self.endpoint.request(Method::DELETE, &path);
        self.endpoint.fetch(request, READ.into()).await
    }

    /// Has the manager ask the registry anew, before its answers are old.
    pub async fn refresh_registry(&self, name: &str) -> Result<RefreshedRegistry, ClientError> {
        let path = ["registries", name, "refresh"];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint.fetch(request, READ.into()).await
    }

    /// The templates whose names the regular expression matches. Without one, all templates.
    pub async fn templates(
        &self,
        registry: &str,
        regex: Option<&str>,
        page: &PageQuery,
    ) -> Result<Page<TemplateSummary>, ClientError> {
        #[derive(Serialize)]
        struct Query<'a> {
            #[serde(flatten)]
            page: &'a PageQuery,
            #[serde(skip_serializing_if = "Option::is_none")]
            regex: Option<&'a str>,
        }
        self.endpoint
            .get(
                &["registries", registry, "types"],
                &Query { page, regex },
                READ,
            )
            .await
    }

    /// A file, by its path from the registry's root.
    pub async fn download(&self, registry: &str, file: &str) -> Result<Bytes, ClientError> {
        let path = ["registries", registry, "download"];
        let request = self
            .endpoint
            .with_query(Method::GET, &path, &[("file", file)]);
        let response = self.endpoint.send(request, READ.into()).await?;
        let failed = |error| self.endpoint.failed(&error, READ.into());
        response.bytes().await.map_err(failed)
    }

    /// The registry that a template reference belongs to.
    pub async fn registry_of(&self, type_name: &str) -> Result<RegistrySummary, ClientError> {
        self.read(&["types", type_name, "registry"]).await
    }
}
