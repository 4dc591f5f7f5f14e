//! Certificates, as Sprig makes them: a pair of texts, `.Cert` and `.Key`.

use std::net::IpAddr;
use std::rc::Rc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Object, Type, Value};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyUsagePurpose, SanType, SerialNumber,
};
use time::OffsetDateTime;

use super::key::Key;
use super::pem;
use crate::convert::printed;
use crate::encoding::decode;
use crate::made::{Random, once_slowly};

/// The bits of a certificate's own RSA key.
const BITS: usize = 2048;
const SECONDS_OF_A_DAY: i64 = 86_400;
const CERTIFICATE: Type = Type::Named("sprig.certificate");

/// Certificates.
pub const FUNCTIONS: &[Function] = &[
    Function::new("genCA", &[Type::String, Type::INT], |call| {
        an_authority(call, None, None)
    }),
    Function::new(
        "genCAWithKey",
        &[Type::String, Type::INT, Type::String],
        |call| {
            let key = call.string(2)?.to_str().into_owned();
            an_authority(call, None, Some(key))
        },
    ),
    Function::new("genSelfSignedCert", SERVER, |call| {
        a_server(call, None, None)
    }),
    Function::new(
        "genSelfSignedCertWithKey",
        &[
            Type::String,
            Type::LIST,
            Type::LIST,
            Type::INT,
            Type::String,
        ],
        |call| {
            let key = call.string(4)?.to_str().into_owned();
            a_server(call, None, Some(key))
        },
    ),
    Function::new(
        "genSignedCert",
        &[Type::String, Type::LIST, Type::LIST, Type::INT, CERTIFICATE],
        |call| {
            let authority: &Certificate = call.object(4)?;
            a_server(call, Some(authority), None)
        },
    ),
    Function::new(
        "genSignedCertWithKey",
        &[
            Type::String,
            Type::LIST,
            Type::LIST,
            Type::INT,
            CERTIFICATE,
            Type::String,
        ],
        |call| {
            let authority: &Certificate = call.object(4)?;
            let key = call.string(5)?.to_str().into_owned();
            a_server(call, Some(authority), Some(key))
        },
    ),
    Function::new("buildCustomCert", &[Type::String, Type::String], custom),
];

const SERVER: &[Type] = &[Type::String, Type::LIST, Type::LIST, Type::INT];

/// A certificate with its key, both in PEM.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    cert: String,
    key: String,
}

impl Object for Certificate {
    fn type_name(&self) -> &str {
        "sprig.certificate"
    }

    fn field_names(&self) -> &'static [&'static str] {
        &["Cert", "Key"]
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.as_str().into()),
            "Key" => Some(self.key.as_str().into()),
            _ => None,
        }
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// What a certificate is for.
struct Names {
    common: String,
    addresses: Vec<IpAddr>,
    domains: Vec<String>,
    days: i64,
    is_authority: bool,
}

impl Names {
    fn authority(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self {
            common: call.string(0)?.to_str().into_owned(),
            addresses: Vec::new(),
            domains: Vec::new(),
            days: call.int(1)?,
            is_authority: true,
        })
    }

    fn server(call: &mut Call<'_>) -> Result<Self, Failure> {
        let mut addresses = Vec::new();
        for item in call.list(1)?.items() {
            let text = text(call, item, "error parsing ip")?;
            let address = text.parse();
            let wrong = |_| Failure::new(format!("error parsing ip: {text}"));
            addresses.push(address.map_err(wrong)?);
        }
        let domains = call.list(2)?.items().iter();
        let wrong = "error processing alternate dns name";
        let domains: Result<_, _> = domains.map(|item| text(call, item, wrong)).collect();
        Ok(Self {
            common: call.string(0)?.to_str().into_owned(),
            addresses,
            domains: domains?,
            days: call.int(3)?,
            is_authority: false,
        })
    }

    fn params(&self, random: &mut Random<'_>) -> Result<CertificateParams, Failure> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        let name = self.common.as_str();
        params.distinguished_name.push(DnType::CommonName, name);
        let mut serial = [0; 16];
        random.fill(&mut serial);
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        let now = random.time().as_second();
        let end = self
            .days
            .checked_mul(SECONDS_OF_A_DAY)
            .and_then(|days| now.checked_add(days));
        let moment = |seconds: Option<i64>| {
            let time =
                seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
            time.ok_or_else(|| Failure::new("the certificate would end after the year 9999"))
        };
        params.not_before = moment(Some(now))?;
        params.not_after = moment(end)?;
        let domains = self.domains.iter().map(|name| {
            let name = name.as_str().try_into();
            name.map(SanType::DnsName)
        });
        let domains: Result<Vec<_>, _> = domains.collect();
        let wrong = |error| Failure::new(format!("error creating certificate: {error}"));
        params.subject_alt_names = domains.map_err(wrong)?;
        let addresses = self.addresses.iter().copied().map(SanType::IpAddress);
        params.subject_alt_names.extend(addresses);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
        ];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        params.is_ca = IsCa::ExplicitNoCa;
        if self.is_authority {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages.push(KeyUsagePurpose::KeyCertSign);
        }
        Ok(params)
    }
}

fn text(call: &mut Call<'_>, item: &Value, wrong: &str) -> Result<String, Failure> {
    match item {
        Value::String(text) => Ok(text.to_str().into_owned()),
        other => {
            let other = printed(call.budget(), other)?;
            let other = other.to_str();
            Err(Failure::new(format!("{wrong}: {other} is not a string")))
        }
    }
}

fn an_authority(
    call: &mut Call<'_>,
    authority: Option<&Certificate>,
    key: Option<String>,
) -> Result<Value, Failure> {
    let names = Names::authority(call)?;
    made(call, &names, authority, key)
}

fn a_server(
    call: &mut Call<'_>,
    authority: Option<&Certificate>,
    key: Option<String>,
) -> Result<Value, Failure> {
    let names = Names::server(call)?;
    made(call, &names, authority, key)
}

/// The certificate of this call. It is kept as one text: the certificate, then its key.
fn made(
    call: &mut Call<'_>,
    names: &Names,
    authority: Option<&Certificate>,
    key: Option<String>,
) -> Result<Value, Failure> {
    let both = once_slowly(call, |random| {
        let key = match key {
            Some(pem) => Key::from_pem(&pem)
                .map_err(|error| Failure::new(format!("parsing private key: {error}")))?,
            None => Key::rsa(random, BITS)?,
        };
        let mut params = names.params(random)?;
        let failed = |error| Failure::new(format!("error creating certificate: {error}"));
        let signed = match authority {
            None => params.self_signed(&key),
            Some(authority) => {
                params.use_authority_key_identifier_extension = true;
                params.signed_by(&key, &issuer(authority)?)
            }
        };
        let signed = signed.map_err(failed)?;
        Ok(pem::write("CERTIFICATE", signed.der()) + &key.to_pem()?)
    })?;
    let end = "-----END CERTIFICATE-----\n";
    let at = both.find(end).map_or(both.len(), |at| at + end.len());
    let (cert, key) = both.split_at(at);
    Ok(value(cert, key))
}

fn value(cert: &str, key: &str) -> Value {
    Value::Object(Rc::new(Certificate {
        cert: cert.to_owned(),
        key: key.to_owned(),
    }))
}

fn issuer(authority: &Certificate) -> Result<Issuer<'static, Key>, Failure> {
    if pem::first(&authority.cert).is_none() {
        return Err(Failure::new("unable to decode certificate"));
    }
    let key = Key::from_pem(&authority.key)
        .map_err(|error| Failure::new(format!("error parsing private key: {error}")))?;
    Issuer::from_ca_cert_pem(&authority.cert, key).map_err(unread)
}

fn unread(error: rcgen::Error) -> Failure {
    Failure::new(format!("error parsing certificate: {error}"))
}

fn custom(call: &mut Call<'_>) -> Result<Value, Failure> {
    let decoded = |index: usize, what: &str| {
        let text = call.string(index)?;
        let bytes = decode::base64(text);
        let bytes = bytes.map_err(|_| format!("unable to decode base64 {what}"));
        bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(Failure::new)
    };
    let (cert, key) = (decoded(0, "certificate")?, decoded(1, "private key")?);
    issuer(&Certificate {
        cert: cert.clone(),
        key: key.clone(),
    })?;
    Ok(value(&cert, &key))
}
