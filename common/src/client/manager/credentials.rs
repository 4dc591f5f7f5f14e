//! Credentials of registries. The secret is never returned.

use reqwest::Method;

use super::{ManagerClient, READ};
use crate::api::manager::CredentialSummary;
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::model::{Credential, CredentialName};

impl ManagerClient {
    pub async fn credentials(
        &self,
        page: &PageQuery,
    ) -> Result<Page<CredentialSummary>, ClientError> {
        self.endpoint.get(&["credentials"], page, READ).await
    }

    pub async fn credential(
        &self,
        name: &CredentialName,
    ) -> Result<CredentialSummary, ClientError> {
        self.read(&["credentials", name.as_str()]).await
    }

    /// Creates the credential, or gives it a new secret.
    pub async fn set_credential(
        &self,
        name: &CredentialName,
        credential: &Credential,
    ) -> Result<CredentialSummary, ClientError> {
        let path = ["credentials", name.as_str()];
        let request = self.endpoint.request(Method::POST, &path);
        self.endpoint
            .fetch(request.json(credential), READ.into())
            .await
    }

    pub async fn delete_credential(
        &self,
        name: &CredentialName,
    ) -> Result<CredentialSummary, ClientError> {
        let path = ["credentials", name.as_str()];
        let request = self.endpoint.request(Method::DELETE, &path);
        self.endpoint.fetch(request, READ.into()).await
    }
}
