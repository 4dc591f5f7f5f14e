//! Credentials of registries. A stored secret is never returned.

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::manager::CredentialSummary;
use common::api::page::{Page, PageQuery};
use common::model::limits::SECRET_BYTES;
use common::model::{Credential, CredentialName};
use jiff::Timestamp;

use crate::credentials::Vault;
use crate::error::Error;
use crate::service::pages::by_name;
use crate::store::deployments::clusters;
use crate::store::{Store, registries};

pub struct Credentials {
    pub vault: Arc<Vault>,
    pub store: Store,
}

impl Credentials {
    pub async fn list(&self, page: &PageQuery) -> Result<Page<CredentialSummary>, Error> {
        let all = self.vault.list().await?;
        Ok(by_name(all, |credential| credential.name.as_str(), page)?)
    }

    pub async fn get(&self, name: &CredentialName) -> Result<CredentialSummary, Error> {
        Ok(self.vault.get(name).await?)
    }

    /// Creates the credential, or replaces its secret, which registries use from then on. Returns whether it is new.
    pub async fn set(
        &self,
        name: &CredentialName,
        credential: &Credential,
    ) -> Result<(CredentialSummary, bool), Error> {
        check(credential)?;
        let (summary, new) = self.vault.set(name, credential, Timestamp::now()).await?;
        tracing::info!(credential = %name, kind = summary.credential_type.as_str(), "set credential {name}");
        Ok((summary, new))
    }

    pub async fn delete(&self, name: &CredentialName) -> Result<CredentialSummary, Error> {
        let registries = registries::list(&self.store).await?.into_iter();
        let registries: Vec<_> = registries
            .filter(|(_, definition)| definition.credential.as_ref() == Some(name))
            .map(|(registry, _)| registry.to_string())
            .collect();
        unused(name, "registries", &registries)?;
        let clusters = clusters::list(&self.store).await?.into_iter();
        let clusters: Vec<_> = clusters
            .filter(|cluster| cluster.credential.as_ref() == Some(name))
            .map(|cluster| cluster.name.to_string())
            .collect();
        unused(name, "clusters", &clusters)?;
        Ok(self.vault.delete(name).await?)
    }
}

fn unused(name: &CredentialName, what: &str, users: &[String]) -> Result<(), Error> {
    if users.is_empty() {
        return Ok(());
    }
    let message = format!(
        "credential '{name}' is used by {what}: {}; remove them first",
        users.join(", ")
    );
    Err(Error::new(ErrorCode::InUse, message))
}

fn check(credential: &Credential) -> Result<(), Error> {
    let (secret, username) = match credential {
        Credential::Token(secret) | Credential::ServiceAccount(secret) => (secret, None),
        Credential::Basic { username, password } => (password, Some(username.as_str())),
    };
    if secret.reveal().trim().is_empty() {
        return Err(Error::invalid(&"the secret is empty"));
    }
    if secret.reveal().len() > SECRET_BYTES {
        return Err(Error::invalid(&"the secret has more than 64 KiB"));
    }
    if username
        .is_some_and(|name| name.is_empty() || name.chars().count() > 255 || name.contains(':'))
    {
        return Err(Error::invalid(
            &"a username has 1 to 255 characters and no ':'",
        ));
    }
    manager_registry::check_credential(credential).map_err(|error| Error::invalid(&error))
}
