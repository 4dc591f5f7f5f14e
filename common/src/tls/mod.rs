//! TLS by rustls and ring, for servers and clients alike: who we are ([`pair`]), whom we trust ([`trust`]), and what a
//! peer's certificate says of it ([`certificate`]). Each file is read again when it changes.
//!
//! It refuses to know who may do what: a name that was verified is all it gives. A certificate is taken back by a
//! revocation list in a file; none is fetched from anywhere.

pub mod certificate;
pub mod pair;
pub mod trust;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use certificate::Certificate;

/// ring: no C library beside it, and the same everywhere.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
