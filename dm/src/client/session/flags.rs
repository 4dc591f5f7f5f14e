//! The flags that every command takes.

use std::time::Duration;

use common::model::Namespace;

use crate::client::context::command::Files;
use crate::client::context::{self, ContextError};
use crate::client::identity::IdentityFlags;
use crate::terminal::format::{Output, OutputParser};

/// They may stand before and after the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Flags {
    /// URL of the manager; several on one etcd with commas between them: dm goes on at the next one when one cannot be reached [default: that of the current context, or http://127.0.0.1:8080].
    #[arg(long, global = true, value_name = "URL", env = "DM_SERVICE")]
    pub service: Option<String>,
    /// Format of results; name prints the names alone, jsonpath=EXPRESSION and go-template=TEMPLATE print what they find.
    #[arg(short, long, global = true, value_parser = OutputParser, default_value = "table")]
    pub output: Output,
    /// Time limit for the whole command, like 90s or 5m [default for writes: the manager's].
    #[arg(long, global = true, value_name = "DURATION", value_parser = super::duration::parse)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub identity: IdentityFlags,
}

/// The manager, if neither a flag nor a context names one.
const SERVICE: &str = "http://127.0.0.1:8080";

/// The manager to work with, and how.
pub struct ManagerTarget {
    pub service: String,
    pub identity: IdentityFlags,
    /// For objects and lists, if a command names none.
    pub namespace: Option<Namespace>,
}

impl Default for ManagerTarget {
    fn default() -> Self {
        Self {
            service: SERVICE.to_owned(),
            identity: IdentityFlags::default(),
            namespace: None,
        }
    }
}

impl Flags {
    /// The files of the identity.
    pub fn files(&self) -> Files {
        Files {
            ca: self.identity.ca_file.clone(),
            token: self.identity.token_file.clone(),
            client_cert: self.identity.client_cert.clone(),
            client_key: self.identity.client_key.clone(),
        }
    }

    /// What the flags name, or the current context. Flags for the identity override those of the context.
    pub fn target(&self) -> Result<ManagerTarget, ContextError> {
        let identity = self.identity.clone();
        if let Some(service) = &self.service {
            return Ok(ManagerTarget {
                service: service.clone(),
                identity,
                namespace: None,
            });
        }
        let Some((_, context)) = context::active()? else {
            return Ok(ManagerTarget {
                identity,
                ..ManagerTarget::default()
            });
        };
        let IdentityFlags {
            token_file,
            ca_file,
            client_cert,
            client_key,
            send_token_in_clear,
        } = identity;
        Ok(ManagerTarget {
            identity: IdentityFlags {
                token_file: token_file.or(context.token_file),
                ca_file: ca_file.or(context.ca_file),
                client_cert: client_cert.or(context.client_cert),
                client_key: client_key.or(context.client_key),
                send_token_in_clear,
            },
            service: context.url,
            namespace: context.namespace,
        })
    }
}
