//! A certificate and its key: the identity of this process for its peers.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::provider;
use crate::reload::{Unusable, Watched};

/// The current certificate and key of two files.
#[derive(Debug)]
pub struct Pair(Watched<Arc<CertifiedKey>>);

impl Pair {
    /// Both files are PEM. The certificate's file may contain its chain, the end entity first.
    pub fn open(certificate: &Path, key: &Path) -> Result<Arc<Self>, Unusable> {
        let what = format!(
            "the certificate {} with the key {}",
            certificate.display(),
            key.display()
        );
        let files = [certificate.to_owned(), key.to_owned()];
        Watched::open(what, files, |contents| match contents {
            [certificate, key] => read(certificate, key).map(Arc::new),
            _ => Err("there are two files to it".to_owned()),
        })
        .map(|watched| Arc::new(Self(watched)))
    }

    fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.get())
    }
}

fn read(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, String> {
    let chain = certificates(certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("the key cannot be read: {error}"))?;
    CertifiedKey::from_der(chain, key, &provider()).map_err(|error| error.to_string())
}

/// A pair that its owner sets and may replace. It is empty at first. For clients only.
#[derive(Debug, Default)]
pub struct Handed(RwLock<Option<Arc<CertifiedKey>>>);

impl Handed {
    /// Both are PEM. An unusable pair changes nothing.
    pub fn hand(&self, certificate: &[u8], key: &[u8]) -> Result<(), String> {
        let pair = read(certificate, key)?;
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *held = Some(Arc::new(pair));
        Ok(())
    }
}

/// All certificates of a PEM text, at least one.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("it is not PEM: {error}"))?;
    match certificates.is_empty() {
        true => Err("it contains no certificate".to_owned()),
        false => Ok(certificates),
    }
}

impl ResolvesServerCert for Pair {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl ResolvesClientCert for Handed {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let held = self.0.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl ResolvesClientCert for Pair {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }

    fn has_certs(&self) -> bool {
        true
    }
}
