//! `generateCertificate`: certificates of X.509, signed by their own key or by that of an authority.
//!
//! The parts come from `x509-cert`. Its builder takes no keys of several kinds, so they are put together here.

mod der;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use expandybird_sprig::made::{Random, once_slowly};
use expandybird_sprig::parse_duration;
use jiff::Timestamp;

use super::key::Key;
use super::pem;

const NANOSECONDS: i64 = 1_000_000_000;

pub const FUNCTIONS: &[Function] = &[Function::new(
    "generateCertificate",
    &[
        Type::String,
        Type::String,
        Type::String,
        Type::String,
        Type::Any,
        Type::Any,
        Type::Any,
    ],
    generate,
)];

/// What a certificate is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    Authority,
    Server,
    Client,
}

/// Another name of the subject.
pub enum Alternative {
    Domain(String),
    Mail(String),
}

/// What a certificate says.
pub struct Subject {
    pub name: String,
    pub usage: Usage,
    pub alternatives: Vec<Alternative>,
    pub from: Timestamp,
    pub to: Timestamp,
    pub serial: [u8; 16],
}

/// The key that signs, and the certificate that it belongs to.
pub struct Issuer {
    pub key: Key,
    pub certificate: Vec<u8>,
}

fn generate(call: &mut Call<'_>) -> Result<Value, Failure> {
    let key = Key::read(&call.string(0)?.to_str())?;
    let name = call.string(1)?.to_str().into_owned();
    let lifetime = parse_duration(&call.string(2)?.to_str()).map_err(Failure::new)?;
    let usage = usage(&call.string(3)?.to_str())?;
    let alternatives = alternatives(call.argument(4)?)?;
    let issuer = issuer(call.argument(5)?, call.argument(6)?)?;
    // An Ed25519 key is refused before anything is made.
    key.public()?;
    let made = once_slowly(call, |random| {
        let subject = subject(name, usage, alternatives, lifetime, random)?;
        let der = der::certificate(&subject, &key, issuer.as_ref())?;
        Ok(pem::write("CERTIFICATE", &der))
    });
    Ok(made?.into())
}

fn usage(name: &str) -> Result<Usage, Failure> {
    match name {
        "CA" => Ok(Usage::Authority),
        "Server" => Ok(Usage::Server),
        "Client" => Ok(Usage::Client),
        _ => Err(Failure::new(format!("unknown usage type {name}"))),
    }
}

/// `DNS:name` or `EMAIL:address`.
fn alternatives(argument: &Value) -> Result<Vec<Alternative>, Failure> {
    let malformed = || Failure::new("malformed SAN");
    let items = match argument {
        Value::Nil => return Ok(Vec::new()),
        Value::List(list) => list.items(),
        _ => return Err(malformed()),
    };
    let read = |item: &Value| {
        let Value::String(text) = item else {
            return Err(malformed());
        };
        let text = text.to_str();
        let (kind, name) = text.split_once(':').ok_or_else(malformed)?;
        match kind {
            "DNS" => Ok(Alternative::Domain(name.to_owned())),
            "EMAIL" => Ok(Alternative::Mail(name.to_owned())),
            _ => Err(Failure::new(format!("unsupported SAN type {kind}"))),
        }
    };
    items.iter().map(read).collect()
}

/// None: the certificate is signed by its own key.
fn issuer(key: &Value, certificate: &Value) -> Result<Option<Issuer>, Failure> {
    let text = |value: &Value, what: &str| match value {
        Value::String(text) => Ok(text.to_str().into_owned()),
        _ => Err(Failure::new(format!("{what} is not a string"))),
    };
    if key.is_nil() {
        return Ok(None);
    }
    let key = Key::read(&text(key, "CA key")?)?;
    let certificate = text(certificate, "CA certificate")?;
    let block = pem::first(&certificate).filter(|(label, _)| label == "CERTIFICATE");
    let (_, certificate) =
        block.ok_or_else(|| Failure::new("unable to decode PEM of the CA certificate"))?;
    Ok(Some(Issuer { key, certificate }))
}

fn subject(
    name: String,
    usage: Usage,
    alternatives: Vec<Alternative>,
    lifetime: i64,
    random: &mut Random<'_>,
) -> Result<Subject, Failure> {
    let mut serial = [0; 16];
    random.fill(&mut serial);
    let from = random.time();
    let late = |_| Failure::new("the certificate would end after the year 9999");
    let end = from.as_second().saturating_add(lifetime / NANOSECONDS);
    Ok(Subject {
        name,
        usage,
        alternatives,
        from,
        to: Timestamp::from_second(end).map_err(late)?,
        serial,
    })
}
