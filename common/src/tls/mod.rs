//! TLS by rustls and ring, for servers and clients: the own certificate ([`pair`]), the trusted authorities ([`trust`]), and the
//! names in a peer's certificate ([`certificate`]). Each file is read again when it changes.
//!
//! It refuses to know permissions: it only returns verified names. Certificates are revoked by revocation lists in files; no list
//! is fetched.

pub mod certificate;
pub mod pair;
pub mod trust;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use certificate::Certificate;

/// ring, because it needs no C library and is the same on all platforms.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
