//! The certificates by which the services know each other, from an authority that exists only while they are made.
//!
//! Its key is kept nowhere: whoever wants other certificates makes all of them anew, and the services take them without a
//! restart.

use jiff::civil::Date;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// Nobody is to be woken up by a certificate's end. Who wants shorter lives brings certificates of their own.
const YEARS: i32 = 10;

#[derive(Debug, thiserror::Error)]
#[error("a certificate cannot be made: {0}")]
pub struct CertificateError(#[from] rcgen::Error);

/// A key and what vouches for it, in PEM.
pub struct Certificate {
    pub certificate: String,
    pub key: String,
}

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate, in PEM.
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

    /// For a service that is called `name` by its peers and reached by any of `hosts`; it serves and asks with it.
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
    // The 28th for all later days: there is one in every February.
    params.not_before = date_time_ymd(year, month, day.min(28));
    params.not_after = date_time_ymd(year + YEARS, month, day.min(28));
    Ok(params)
}

/// Of a month or a day, so it is never out of range.
fn number(of: i8) -> u8 {
    u8::try_from(of).unwrap_or(1)
}
