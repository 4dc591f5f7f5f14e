//! The authorities in a file. A peer's certificate must be signed by one of them.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

use super::pair::certificates;
use super::provider;
use crate::reload::{Unusable, Watched};

/// Verifies client certificates with the current authorities.
#[derive(Debug)]
pub struct Clients {
    verifier: Watched<Arc<dyn ClientCertVerifier>>,
    required: bool,
}

impl Clients {
    /// Without `required`, a client need not send a certificate. A certificate that it sends must be valid.
    ///
    /// With revocation lists, a certificate is valid only if the list of its authority exists and does not contain it. The age of a
    /// list does not matter: the operator is responsible for a current file.
    pub fn open(
        authorities: &Path,
        revoked: Option<&Path>,
        required: bool,
    ) -> Result<Arc<Self>, Unusable> {
        let mut what = what(authorities);
        if let Some(revoked) = revoked {
            what.push_str(&format!(" with the revocation lists {}", revoked.display()));
        }
        let files = [authorities].into_iter().chain(revoked);
        let verifier = Watched::open(what, files.map(Path::to_owned), |contents| {
            let [authorities, revoked @ ..] = contents else {
                return Err("there is no file to it".to_owned());
            };
            let verifier =
                WebPkiClientVerifier::builder_with_provider(roots(authorities)?, provider())
                    .with_crls(revocations(revoked)?)
                    .only_check_end_entity_revocation();
            verifier.build().map_err(|error| error.to_string())
        })?;
        Ok(Arc::new(Self { verifier, required }))
    }
}

/// Verifies server certificates with the current authorities.
#[derive(Debug)]
pub struct Servers(Watched<Arc<dyn ServerCertVerifier>>);

impl Servers {
    pub fn open(authorities: &Path) -> Result<Arc<Self>, Unusable> {
        let verifier = Watched::open(what(authorities), [authorities.to_owned()], |contents| {
            let verifier =
                WebPkiServerVerifier::builder_with_provider(roots(&contents.concat())?, provider())
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

pub fn roots(pem: &[u8]) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(Arc::new(roots))
}

/// The lists of each file, at least one: an empty file is still being written.
fn revocations(files: &[Vec<u8>]) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let mut lists = Vec::new();
    for pem in files {
        let found: Vec<_> = CertificateRevocationListDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("the revocation lists are not PEM: {error}"))?;
        if found.is_empty() {
            return Err("there is no revocation list (X509 CRL, PEM) in the file".to_owned());
        }
        lists.extend(found);
    }
    Ok(lists)
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
