//! The port to registered registries and their credentials. The user of this package stores them.

use async_trait::async_trait;
use common::model::{Credential, CredentialName, RegistryDefinition, RegistryName};
use jiff::Timestamp;

/// Why something cannot be read, for the chain of an error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Registered registries, and the credentials that they name. Each call reads the present registrations.
#[async_trait]
pub trait Registrations: Send + Sync {
    /// `None` if no registry of this name is registered.
    ///
    /// # Errors
    /// What is registered cannot be read.
    async fn definition(&self, name: &RegistryName)
    -> Result<Option<RegistryDefinition>, BoxError>;

    /// All of them, in the order of their names.
    ///
    /// # Errors
    /// What is registered cannot be read.
    async fn definitions(&self) -> Result<Vec<(RegistryName, RegistryDefinition)>, BoxError>;

    /// A credential in clear text, and when it was set.
    ///
    /// # Errors
    /// There is no such credential, or it cannot be opened.
    async fn credential(&self, name: &CredentialName) -> Result<(Credential, Timestamp), BoxError>;
}
