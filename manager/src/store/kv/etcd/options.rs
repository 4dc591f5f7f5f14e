//! How a store that is a service is called: TLS, and who calls.

use std::path::PathBuf;

use common::client::{ClientAccess, ServiceFlags};

/// The flags of a store that is a service.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct StoreAccess {
    /// PEM file with the authority that signed the certificates of the store's members [default: the machine's
    /// authorities].
    #[arg(long, env = "DM_STORE_CA", value_name = "FILE")]
    pub store_ca: Option<PathBuf>,
    /// PEM file with the client certificate for the store.
    #[arg(
        long,
        env = "DM_STORE_CERT",
        value_name = "FILE",
        requires = "store_key"
    )]
    pub store_cert: Option<PathBuf>,
    /// PEM file with the key of the client certificate.
    #[arg(
        long,
        env = "DM_STORE_KEY",
        value_name = "FILE",
        requires = "store_cert"
    )]
    pub store_key: Option<PathBuf>,
    /// The store's user.
    #[arg(
        long,
        env = "DM_STORE_USER",
        value_name = "USER",
        requires = "store_password_file"
    )]
    pub store_user: Option<String>,
    /// File with the password of the store's user, in its first line; it is read again for each new token.
    #[arg(
        long,
        env = "DM_STORE_PASSWORD_FILE",
        value_name = "FILE",
        requires = "store_user"
    )]
    pub store_password_file: Option<PathBuf>,
}

/// A user of the store, whose password is in a file.
#[derive(Debug, Clone)]
pub struct StoreUser {
    pub name: String,
    pub password_file: PathBuf,
}

impl StoreAccess {
    /// The TLS of the client.
    pub fn client(&self) -> Result<ClientAccess, common::client::access::AccessError> {
        let flags = ServiceFlags {
            service_ca: self.store_ca.clone(),
            service_cert: self.store_cert.clone(),
            service_key: self.store_key.clone(),
            service_token_file: None,
        };
        flags.access()
    }

    pub fn user(&self) -> Option<StoreUser> {
        let (name, password_file) = self
            .store_user
            .clone()
            .zip(self.store_password_file.clone())?;
        Some(StoreUser {
            name,
            password_file,
        })
    }
}
