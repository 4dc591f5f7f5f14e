//! The names in a peer's certificate. The chain is verified before they are read.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Any, Decode, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
/// How many names of one kind are read. No valid client certificate has more.
const NAMES: usize = 100;

/// The names in a verified certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The subject's CN, which Kubernetes uses as the user.
    pub common_name: Option<String>,
    /// The subject's Os, which Kubernetes uses as the groups.
    pub organizations: Vec<String>,
    pub dns_names: Vec<String>,
    /// Such as `spiffe://cluster.local/ns/dm/sa/manager`.
    pub uris: Vec<String>,
    /// SHA-256 of the whole certificate, in hex. Distinguishes certificates with the same names.
    pub fingerprint: String,
}

impl Certificate {
    /// Parses a certificate, or returns the reason why it cannot.
    pub fn read(der: &[u8]) -> Result<Self, String> {
        let certificate =
            x509_cert::Certificate::from_der(der).map_err(|error| error.to_string())?;
        let body = certificate.tbs_certificate();
        let alternatives = body
            .get_extension::<SubjectAltName>()
            .map_err(|error| error.to_string())?
            .map_or_else(Vec::new, |(_, names)| names.0);
        let mut names = Self {
            common_name: texts(body.subject(), COMMON_NAME).into_iter().next(),
            organizations: texts(body.subject(), ORGANIZATION),
            fingerprint: hex(&Sha256::digest(der)),
            ..Self::default()
        };
        for name in alternatives.into_iter().take(NAMES) {
            match name {
                GeneralName::DnsName(name) => names.dns_names.push(name.to_string()),
                GeneralName::UniformResourceIdentifier(uri) => names.uris.push(uri.to_string()),
                _ => {}
            }
        }
        Ok(names)
    }

    /// Whether this is one of its names: its CN, a DNS name or a URI.
    pub fn is(&self, name: &str) -> bool {
        self.common_name.as_deref() == Some(name)
            || self.dns_names.iter().any(|own| own == name)
            || self.uris.iter().any(|own| own == name)
    }
}

fn texts(name: &Name, kind: ObjectIdentifier) -> Vec<String> {
    let attributes = name.iter().filter(|attribute| attribute.oid == kind);
    attributes
        .filter_map(|attribute| text(&attribute.value))
        .take(NAMES)
        .collect()
}

/// UTF-8 or ASCII. Names in UTF-16 are ignored.
fn text(value: &Any) -> Option<String> {
    use x509_cert::der::Tag;
    match value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String => {
            String::from_utf8(value.value().to_vec()).ok()
        }
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    #[test]
    fn the_names_of_a_certificate_are_read() {
        let mut params = CertificateParams::new(vec!["manager.dm.svc".to_owned()]).unwrap();
        let uri = "spiffe://cluster.local/ns/dm/sa/manager";
        params
            .subject_alt_names
            .push(SanType::URI(uri.try_into().unwrap()));
        params
            .distinguished_name
            .push(DnType::CommonName, "ängström");
        params
            .distinguished_name
            .push(DnType::OrganizationName, "system:masters");
        let key = KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap();
        let names = Certificate::read(der.der()).unwrap();
        assert_eq!(names.common_name.as_deref(), Some("ängström"));
        assert_eq!(names.organizations, ["system:masters"]);
        assert_eq!(names.dns_names, ["manager.dm.svc"]);
        assert_eq!(names.uris, [uri]);
        assert_eq!(names.fingerprint.len(), 64);
        assert!(names.is("ängström") && names.is("manager.dm.svc") && names.is(uri));
        assert!(!names.is("system:masters") && !names.is("manager") && !names.is(""));
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        assert!(Certificate::read(b"").is_err());
        assert!(Certificate::read(b"-----BEGIN CERTIFICATE-----").is_err());
    }
}
