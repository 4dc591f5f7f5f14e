//! Templates that must be signed.
//!
//! The signature is for the `SHA256SUMS` of a version. This list names every file with its template and version, such as
//! `redis/v1.0.1/redis.py`, so the signature is valid for one version only. No file of a version is read before the
//! signature of its list is verified. Then the version must have exactly the files of the list, with the signed digests.
//!
//! ```text
//! redis/v1.0.1/SHA256SUMS            find redis/v1.0.1 -type f ! -name 'SHA256SUMS*' -exec sha256sum {} +
//! redis/v1.0.1/SHA256SUMS.minisig    minisign -Sm SHA256SUMS
//! redis/v1.0.1/SHA256SUMS.sig        cosign sign-blob, or openssl dgst -sha256 -sign
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use common::registry::sums::{self, FILE, MINISIG, SIG};
use common::registry::{FilePath, VERSION_DEPTH as DEPTH, VERSION_FILES as FILES};
use tokio::sync::OnceCell;

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Files, Registry};
use crate::cache::Staleness;
use crate::catalog::locate::Located;
use crate::catalog::walk::Walk;
use crate::trust::{SIGNATURE_BYTES, Trust};

#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    #[error(
        "'{folder}' is not signed, but its registry requires a signature: it has no {FILE} with a signature beside it; ask its publisher to sign that list with minisign, cosign or openssl"
    )]
    Missing { folder: String },
    #[error(
        "'{folder}' has no signature of its registry's public keys, or its {FILE} was changed after it was signed"
    )]
    Key { folder: String },
    #[error("'{folder}' has a signed {FILE} that cannot be read: {reason}")]
    List { folder: String, reason: String },
    #[error(
        "the signature in '{folder}' is for '{signed}': a signature is valid for one version of one template only"
    )]
    Other { folder: String, signed: String },
    #[error("file '{file}' was changed after its version was signed")]
    Changed { file: String },
    #[error("file '{file}' is not in the signed list of its version")]
    Unlisted { file: String },
    #[error("file '{file}' is in the signed list of its version, but does not exist")]
    Gone { file: String },
    #[error(
        "'{file}' names another digest than that of the chart beside it, which was changed after it was signed"
    )]
    Provenance { file: String },
    #[error("'{folder}' has more than {FILES} files, or folders deeper than {DEPTH}")]
    TooMany { folder: String },
}

/// The files of one version. A file that differs from the signed one is rejected.
pub struct Signed {
    registry: Arc<dyn Registry>,
    trust: Arc<Trust>,
    folder: FilePath,
    /// The template and the version as references and folders name them, `redis/v1.0.1/`. For a package with its
    /// version in `Chart.yaml`, `redis/`.
    subject: String,
    /// It is a package in the folder of its template. The folders of other versions in it do not belong to it.
    is_whole: bool,
    /// The signed digest of each file, read once.
    digests: OnceCell<HashMap<FilePath, String>>,
}

impl Signed {
    pub fn new(
        registry: Arc<dyn Registry>,
        trust: Arc<Trust>,
        located: &Located,
        subject: String,
    ) -> Self {
        Self {
            registry,
            trust,
            folder: located.folder.clone(),
            subject,
            is_whole: located.is_whole,
            digests: OnceCell::new(),
        }
    }

    /// Checks the signature, and that exactly the signed files exist. It does not read the files.
    pub async fn check(&self) -> Result<(), RegistryError> {
        self.digests().await.map(|_| ())
    }

    async fn digests(&self) -> Result<&HashMap<FilePath, String>, RegistryError> {
        self.digests.get_or_try_init(|| self.verify()).await
    }

    async fn verify(&self) -> Result<HashMap<FilePath, String>, RegistryError> {
        let list = self.list().await?;
        let listed = self.parse(&list)?;
        let found = self.walk().await?;
        let name = |path: &FilePath| self.registry.path_of(path);
        if let Some(extra) = found.iter().find(|path| !listed.contains_key(path)) {
            return Err(SignatureError::Unlisted { file: name(extra) }.into());
        }
        if let Some(gone) = listed.keys().find(|path| !found.contains(path)) {
            return Err(SignatureError::Gone { file: name(gone) }.into());
        }
        Ok(listed)
    }

    fn name(&self) -> String {
        self.registry.path_of(&self.folder)
    }

    /// The list, with its signature verified.
    async fn list(&self) -> Result<Vec<u8>, RegistryError> {
        let missing = || SignatureError::Missing {
            folder: self.name(),
        };
        let place = self.folder.join_text(FILE)?;
        let list = self.registry.read(&place).await?.ok_or_else(missing)?;
        let mut is_signed = false;
        for ending in [MINISIG, SIG] {
            let signature = self.registry.read(&place.with_ending(ending)).await?;
            let Some(signature) = signature.filter(|bytes| bytes.len() <= SIGNATURE_BYTES) else {
                continue;
            };
            is_signed = true;
            if self.trust.has_signed(&list, ending, &signature) {
                return Ok(list);
            }
        }
        match is_signed {
            true => Err(SignatureError::Key {
                folder: self.name(),
            }
            .into()),
            false => Err(missing().into()),
        }
    }

    /// The list's entries for the files of this version.
    fn parse(&self, list: &[u8]) -> Result<HashMap<FilePath, String>, RegistryError> {
        let unreadable = |reason: String| SignatureError::List {
            folder: self.name(),
            reason,
        };
        let text = std::str::from_utf8(list).map_err(|error| unreadable(error.to_string()))?;
        let listed = sums::parse(text, FILES).map_err(unreadable)?;
        if listed.is_empty() {
            return Err(unreadable("it lists no file".to_owned()).into());
        }
        let own = |(path, digest): (FilePath, String)| {
            let Some(within) = path.as_str().strip_prefix(&self.subject) else {
                return Err(RegistryError::from(SignatureError::Other {
                    folder: self.name(),
                    signed: path.to_string(),
                }));
            };
            Ok((self.folder.join_listed(within)?, digest))
        };
        listed.into_iter().map(own).collect()
    }

    /// All files of the version, without the list and its signatures.
    async fn walk(&self) -> Result<Vec<FilePath>, RegistryError> {
        let own = [
            FILE.to_owned(),
            [FILE, MINISIG].concat(),
            [FILE, SIG].concat(),
        ];
        let walk = Walk {
            registry: self.registry.as_ref(),
            folder: &self.folder,
            is_whole: self.is_whole,
            files: FILES,
            depth: DEPTH,
        };
        let is_own = |entry: &Entry| entry.kind == EntryKind::File && own.contains(&entry.name);
        let found = walk.run(is_own).await?;
        let too_many = || SignatureError::TooMany {
            folder: self.name(),
        };
        Ok(found.ok_or_else(too_many)?)
    }
}

#[async_trait]
impl Files for Signed {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some(expected) = self.digests().await?.get(file) else {
            return Ok(None);
        };
        let bytes = self.registry.read(file).await?;
        match bytes {
            Some(bytes) if sums::hex(&bytes) == *expected => Ok(Some(bytes)),
            Some(_) => Err(SignatureError::Changed {
                file: self.path_of(file),
            }
            .into()),
            None => Err(SignatureError::Gone {
                file: self.path_of(file),
            }
            .into()),
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.registry.path_of(file)
    }

    fn url_of(&self, file: &FilePath) -> String {
        self.registry.url_of(file)
    }

    fn stale(&self) -> Option<Staleness> {
        self.registry.stale()
    }

    fn expire(&self) {
        self.registry.expire();
    }
}
