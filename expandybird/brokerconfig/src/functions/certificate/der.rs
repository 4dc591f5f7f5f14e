//! A certificate in DER.

use std::time::Duration;

use expandybird_gotemplate::error::Failure;
use jiff::Timestamp;
use sha1::{Digest as _, Sha1};
use x509_cert::Certificate;
use x509_cert::der::asn1::{
    BitString, GeneralizedTime, Ia5String, OctetString, UtcTime, Utf8StringRef,
};
use x509_cert::der::oid::db::rfc5280::{ID_KP_CLIENT_AUTH, ID_KP_SERVER_AUTH};
use x509_cert::der::oid::{AssociatedOid, ObjectIdentifier};
use x509_cert::der::{Decode as _, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages,
    SubjectAltName, SubjectKeyIdentifier,
};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use x509_cert::time::{Time, Validity};

use super::{Alternative, Issuer, Subject, Usage};
use crate::functions::key::Key;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// `[0]` and `[3]`, with a value of their own.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
/// Version 3.
const V3: [u8; 3] = [0x02, 0x01, 0x02];
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// The first second that a `UTCTime` cannot hold: the year 2050.
const YEAR_2050: i64 = 2_524_608_000;

/// The certificate of a key, signed by its issuer, or by the key itself.
pub fn certificate(
    subject: &Subject,
    key: &Key,
    issuer: Option<&Issuer>,
) -> Result<Vec<u8>, Failure> {
    let signer = issuer.map_or(key, |issuer| &issuer.key);
    let own_name = common_name(&subject.name)?;
    let authority = issuer
        .map(|issuer| Certificate::from_der(&issuer.certificate).map_err(unread))
        .transpose()?;
    let issuer_name = match &authority {
        Some(authority) => encoded(authority.tbs_certificate().subject())?,
        None => own_name.clone(),
    };
    let algorithm = signer.algorithm()?;
    let to_sign = value(
        SEQUENCE,
        &[
            &value(VERSION, &[&V3]),
            &serial(subject)?,
            &algorithm,
            &issuer_name,
            &validity(subject)?,
            &own_name,
            &key.public()?,
            &value(
                EXTENSIONS,
                &[&extensions(subject, key, authority.as_ref())?],
            ),
        ],
    );
    let signature = signer.signature(&to_sign)?;
    let signature = BitString::from_bytes(&signature).map_err(failed)?;
    Ok(value(
        SEQUENCE,
        &[&to_sign, &algorithm, &encoded(&signature)?],
    ))
}

fn unread(error: x509_cert::der::Error) -> Failure {
    Failure::new(format!("unable to read the CA certificate: {error}"))
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the certificate cannot be made: {error}"))
}

fn encoded(part: &impl Encode) -> Result<Vec<u8>, Failure> {
    part.to_der().map_err(failed)
}

/// A tag, the length, and the parts.
fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = content.len();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let bytes = length.to_be_bytes();
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let bytes = bytes.get(zeros..).unwrap_or_default();
            out.push(0x80 | u8::try_from(bytes.len()).unwrap_or_default());
            out.extend(bytes);
        }
    }
    out.extend(content);
    out
}

fn serial(subject: &Subject) -> Result<Vec<u8>, Failure> {
    let mut bytes = subject.serial;
    // Positive, and without zeros in front.
    bytes[0] = bytes[0] & 0x7f | 0x01;
    let serial: SerialNumber = SerialNumber::new(&bytes).map_err(failed)?;
    encoded(&serial)
}

fn common_name(name: &str) -> Result<Vec<u8>, Failure> {
    let text = Utf8StringRef::new(name).map_err(failed)?;
    let pair = value(SEQUENCE, &[&encoded(&COMMON_NAME)?, &encoded(&text)?]);
    Ok(value(SEQUENCE, &[&value(SET, &[&pair])]))
}

fn validity(subject: &Subject) -> Result<Vec<u8>, Failure> {
    let validity: Validity = Validity::new(time(subject.from)?, time(subject.to)?);
    encoded(&validity)
}

fn time(moment: Timestamp) -> Result<Time, Failure> {
    let seconds = moment.as_second();
    let since = Duration::from_secs(u64::try_from(seconds).map_err(failed)?);
    match seconds < YEAR_2050 {
        true => UtcTime::from_unix_duration(since)
            .map(Time::UtcTime)
            .map_err(failed),
        false => GeneralizedTime::from_unix_duration(since)
            .map(Time::GeneralTime)
            .map_err(failed),
    }
}

fn extensions(
    subject: &Subject,
    key: &Key,
    authority: Option<&Certificate>,
) -> Result<Vec<u8>, Failure> {
    let is_authority = subject.usage == Usage::Authority;
    let constraints = BasicConstraints {
        ca: is_authority,
        path_len_constraint: None,
    };
    let usages = match subject.usage {
        Usage::Authority => KeyUsages::KeyCertSign | KeyUsages::CRLSign,
        Usage::Server => KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment,
        Usage::Client => KeyUsages::DigitalSignature.into(),
    };
    let mut all = vec![
        extension(&KeyUsage(usages), true)?,
        extension(&constraints, true)?,
        extension(&identifier(&key.public()?)?, false)?,
    ];
    let purpose = match subject.usage {
        Usage::Authority => None,
        Usage::Server => Some(ID_KP_SERVER_AUTH),
        Usage::Client => Some(ID_KP_CLIENT_AUTH),
    };
    if let Some(purpose) = purpose {
        all.push(extension(&ExtendedKeyUsage(vec![purpose]), false)?);
    }
    if let Some(issuer) = authority.map(authority_identifier).transpose()? {
        all.push(extension(&issuer, false)?);
    }
    if !subject.alternatives.is_empty() {
        let names = subject.alternatives.iter().map(general_name);
        let names = SubjectAltName(names.collect::<Result<_, _>>()?);
        all.push(extension(&names, false)?);
    }
    let parts: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
    Ok(value(SEQUENCE, &parts))
}

fn extension<E: Encode + AssociatedOid>(content: &E, critical: bool) -> Result<Vec<u8>, Failure> {
    let oid = encoded(&E::OID)?;
    let octets = OctetString::new(encoded(content)?).map_err(failed)?;
    let octets = encoded(&octets)?;
    let critical = match critical {
        true => encoded(&true)?,
        false => Vec::new(),
    };
    Ok(value(SEQUENCE, &[&oid, &critical, &octets]))
}

/// SHA-1 of the public key, as most issuers have it (RFC 5280, section 4.2.1.2).
fn identifier(public: &[u8]) -> Result<SubjectKeyIdentifier, Failure> {
    let info = SubjectPublicKeyInfoOwned::from_der(public).map_err(failed)?;
    let digest = Sha1::digest(info.subject_public_key.raw_bytes());
    let octets = OctetString::new(digest.to_vec()).map_err(failed)?;
    Ok(SubjectKeyIdentifier(octets))
}

fn authority_identifier(authority: &Certificate) -> Result<AuthorityKeyIdentifier, Failure> {
    let public = encoded(authority.tbs_certificate().subject_public_key_info())?;
    Ok(AuthorityKeyIdentifier {
        key_identifier: Some(identifier(&public)?.0),
        ..AuthorityKeyIdentifier::default()
    })
}

fn general_name(name: &Alternative) -> Result<GeneralName, Failure> {
    let text = |name: &String| Ia5String::new(name).map_err(failed);
    Ok(match name {
        Alternative::Domain(name) => GeneralName::DnsName(text(name)?),
        Alternative::Mail(name) => GeneralName::Rfc822Name(text(name)?),
    })
}
