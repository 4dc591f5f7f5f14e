//! A manager that waits for the store, and the one that has it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::super::super::{Key, Registered};
use crate::keys::Ring;

/// The manager that has the store, as its key says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The host and the process, for people.
    pub name: String,
    /// Where other managers reach its API.
    #[serde(default)]
    pub url: Option<String>,
    /// Where other managers reach its service broker.
    #[serde(default)]
    pub broker: Option<String>,
}

impl Owner {
    /// This process.
    pub fn this(url: Option<String>, broker: Option<String>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!("{} (process {})", host.trim(), std::process::id());
        Self { name, url, broker }
    }

    /// The value of the key. Managers of earlier builds wrote their name alone.
    pub(super) fn read(value: &[u8]) -> Self {
        serde_json::from_slice(value).unwrap_or_else(|_| Self {
            name: String::from_utf8_lossy(value).into_owned(),
            url: None,
            broker: None,
        })
    }
}

/// The keys of a manager.
#[derive(Debug, Clone)]
pub struct Held {
    pub ring: Arc<Ring>,
    /// An entry that the key in force seals.
    pub mark: Key,
}

/// A manager that waits for the store, and what it knows of the one that has it.
#[derive(Debug)]
pub struct Candidate {
    pub(super) own: Owner,
    reads: u32,
    pub(in super::super) keys: Option<Held>,
    owner: watch::Sender<Option<Owner>>,
}

impl Candidate {
    /// `reads` is the newest format of the store that it reads.
    pub fn new(own: Owner, reads: u32) -> Self {
        Self {
            own,
            reads,
            keys: None,
            owner: watch::Sender::new(None),
        }
    }

    /// With its keys, so that the other managers learn which it has.
    #[must_use]
    pub fn holding(self, ring: Arc<Ring>, mark: Key) -> Self {
        Self {
            keys: Some(Held { ring, mark }),
            ..self
        }
    }

    /// What the other managers know of it.
    pub fn registered(&self) -> Registered {
        Registered {
            name: self.own.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            reads: self.reads,
            keys: Vec::new(),
        }
    }

    /// The manager that has the store, from time to time another one.
    pub fn owners(&self) -> watch::Receiver<Option<Owner>> {
        self.owner.subscribe()
    }

    /// Names this manager, when it has the store and serves.
    pub fn announce(&self) {
        self.owner.send_replace(Some(self.own.clone()));
    }

    /// Nobody is known to have the store, when this manager is about to give it up.
    pub fn leaves(&self) {
        self.sees(None);
    }

    pub(super) fn sees(&self, owner: Option<&Owner>) {
        self.owner.send_if_modified(|seen| {
            let is_new = seen.as_ref() != owner;
            if is_new {
                *seen = owner.cloned();
            }
            is_new
        });
    }
}
