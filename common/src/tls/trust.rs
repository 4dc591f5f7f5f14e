//! The authorities in a file: whose certificates a peer may show.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

use super::pair::certificates;
use super::provider;
use crate::reload::{Unusable, Watched};

/// Verifies clients' certificates by the authorities as they are now.
#[derive(Debug)]
pub struct Clients {
    verifier: Watched<Arc<dyn ClientCertVerifier>>,
    required: bool,
}

impl Clients {
    /// Without `required`, a client may come without a certificate; one that it shows must be good all the same.
    pub fn open(authorities: &Path, required: bool) -> Result<Arc<Self>, Unusable> {
        let verifier = Watched::open(what(authorities), [authorities.to_owned()], |contents| {
            WebPkiClientVerifier::builder_with_provider(roots(contents)?, provider())
                .build()
                .map_err(|error| error.to_string())
        })?;
        Ok(Arc::new(Self { verifier, required }))
    }
}

/// Verifies servers' certificates by the authorities as they are now.
#[derive(Debug)]
pub struct Servers(Watched<Arc<dyn ServerCertVerifier>>);

impl Servers {
    pub fn open(authorities: &Path) -> Result<Arc<Self>, Unusable> {
        let verifier = Watched::open(what(authorities), [authorities.to_owned()], |contents| {
            let verifier =
                WebPkiServerVerifier::builder_with_provider(roots(contents)?, provider())
                    .build()
                    .map_err(|error| error.to_string())?;
            Ok(verifier as Arc<dyn ServerCertVerifier>)
        })?;
        Ok(Arc::new(Self(verifier)))
    }
}

fn what(authorities: &Path) -> String {
    format!("the authority {}", authorities.display())
}

fn roots(contents: &[Vec<u8>]) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&contents.concat())? {
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(roots))
}

impl ClientCertVerifier for Clients {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    /// None: hints would be those of the start, and clients here have one certificate.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.verifier
            .get()
            .verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .get()
            .verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .get()
            .verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.get().supported_verify_schemes()
    }
}

impl ServerCertVerifier for Servers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.0
            .get()
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.get().verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.get().verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.get().supported_verify_schemes()
    }
}
