//! Makes the certificates of the services, with an authority that exists only during the call.
//!
//! The key of the authority is not kept. To replace certificates, make all of them again: the services load them without a restart.

use jiff::civil::Date;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Long, so that no certificate expires unnoticed. For a shorter validity, use your own certificates.
const YEARS: i32 = 10;

#[derive(Debug, thiserror::Error)]
#[error("cannot make a certificate: {0}")]
pub struct CertificateError(#[from] rcgen::Error);

/// A key and its certificate, in PEM.
pub struct Certificate {
    pub certificate: String,
    pub key: String,
}

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The authority's own certificate, in PEM.
    pub certificate: String,
    made: Date,
}

impl Authority {
    pub fn new(name: &str, made: Date) -> Result<Self, CertificateError> {
        let mut params = parameters(name, Vec::new(), made)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        Ok(Self {
            certificate: params.self_signed(&key)?.pem(),
            issuer: Issuer::new(params, key),
            made,
        })
    }

    /// A certificate for the service `name`, reachable as any of `hosts`. It is for both sides: server and client.
    pub fn issue(&self, name: &str, hosts: Vec<String>) -> Result<Certificate, CertificateError> {
        let mut params = parameters(name, hosts, self.made)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        Ok(Certificate {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
        })
    }
}

fn parameters(
    name: &str,
    hosts: Vec<String>,
    made: Date,
) -> Result<CertificateParams, CertificateError> {
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let (year, month, day) = (
        i32::from(made.year()),
        number(made.month()),
        number(made.day()),
    );
    // Every month has a 28th day.
    params.not_before = date_time_ymd(year, month, day.min(28));
    params.not_after = date_time_ymd(year + YEARS, month, day.min(28));
    Ok(params)
}

/// A month or a day is never out of range.
fn number(of: i8) -> u8 {
    u8::try_from(of).unwrap_or(1)
}
