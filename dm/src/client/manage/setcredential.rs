//! `dm setcredential`: stores a registry's credential in the manager.
//!
//! The secret comes from a file or from standard input, never from the command line, because shell histories and process lists
//! show command lines.

use std::fs::File;

use clap::Args;
use common::model::{Credential, CredentialName, Secret};

use super::getcredential;
use crate::bundle::files::{self, ReadError};
use crate::client::session::Session;
use crate::error::Failure;

/// Set a registry's credential: a token, or a password with --username; read from a file or standard input.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm setcredential shop-token < token.txt
  dm setcredential shop --username deployer password.txt
  dm setcredential google --service-account key.json")]
pub struct SetCredential {
    /// Name of the credential.
    pub name: CredentialName,
    /// File with the secret; - or nothing means standard input.
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    /// User name; the secret is then this user's password.
    #[arg(long, value_name = "USER")]
    pub username: Option<String>,
    /// The secret is the key file of a Google service account.
    #[arg(long, conflicts_with = "username")]
    pub service_account: bool,
}

impl SetCredential {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let file = self.file.as_deref().filter(|file| *file != "-");
        let read = match file {
            Some(path) => File::open(path)
                .map_err(|error| ReadError::Other(error.to_string()))
                .and_then(files::text),
            None => files::text(&mut *session.terminal.stdin),
        };
        let text = read.map_err(|reason| {
            let from = file.unwrap_or("standard input");
            Failure::failed(format!("{from} cannot be read: {reason}"))
        })?;
        let credential = self.credential(&text);
        let set = session
            .client
            .set_credential(&self.name, &credential)
            .await?;
        getcredential::show(&set, session)
    }

    /// A final newline, which editors add, is not part of the secret.
    fn credential(&self, text: &str) -> Credential {
        let secret = Secret::new(text.trim_end_matches(['\r', '\n']));
        match &self.username {
            Some(username) => Credential::Basic {
                username: username.clone(),
                password: secret,
            },
            None if self.service_account => Credential::ServiceAccount(secret),
            None => Credential::Token(secret),
        }
    }
}
