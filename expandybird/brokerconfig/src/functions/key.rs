//! Private keys: `generatePrivateKey`, and the keys of certificates.

mod curve;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, Type, Value};
use expandybird_sprig::made::{Random, once_slowly};
use rsa::RsaPrivateKey;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _};
use rsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, LineEnding};
use rsa::signature::{SignatureEncoding as _, Signer as _};

use self::curve::EllipticKey;

/// What comes before the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410, section 7).
const ED25519: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// Shorter keys are broken, longer ones take minutes.
const RSA_BITS: std::ops::RangeInclusive<i64> = 1024..=4096;
/// sha256WithRSAEncryption, as an algorithm identifier in DER.
const RSA_SHA256: [u8; 15] = [
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b, 0x05, 0x00,
];

pub const FUNCTIONS: &[Function] = &[Function::new(
    "generatePrivateKey",
    &[Type::String, Type::String, Type::Any],
    generate,
)];

/// A private key.
pub enum Key {
    Rsa(Box<RsaPrivateKey>),
    Elliptic(EllipticKey),
    Ed25519([u8; 32]),
}

/// How a key is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Pkcs1,
    Pkcs8,
    Sec1,
}

fn generate(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (kind, encoding) = (call.string(0)?.to_str(), call.string(1)?.to_str());
    let bits = bits(call.argument(2)?)?;
    let encoding = Encoding::of(&encoding)?;
    check(&kind, encoding, bits)?;
    let made = once_slowly(call, |random| {
        Key::generated(&kind, bits, random)?.written(encoding)
    });
    Ok(made?.into())
}

fn bits(argument: &Value) -> Result<Option<i64>, Failure> {
    match argument {
        Value::Nil => Ok(None),
        Value::Int(_, bits) => Ok(Some(*bits)),
        // Numbers of parameters and of the registry.
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in range")]
        Value::Float(bits) if bits.fract() == 0.0 && bits.abs() < 1e6 => Ok(Some(*bits as i64)),
        _ => Err(Failure::new("bits is not an integer")),
    }
}

/// Whether there is such a key in this encoding.
fn check(kind: &str, encoding: Encoding, bits: Option<i64>) -> Result<(), Failure> {
    let is_rsa = kind == "RSA";
    let is_elliptic = EllipticKey::is_kind(kind);
    if !is_rsa && !is_elliptic && kind != "ED25519" {
        return Err(Failure::new(format!("invalid key type {kind}")));
    }
    match encoding {
        Encoding::Pkcs1 if !is_rsa => Err(Failure::new("invalid key for PKCS#1 encoding")),
        Encoding::Sec1 if !is_elliptic => Err(Failure::new("invalid key for EC encoding")),
        _ if !is_rsa => Ok(()),
        _ => match bits {
            None => Err(Failure::new("RSA key length not specified")),
            Some(bits) if RSA_BITS.contains(&bits) => Ok(()),
            Some(_) => Err(Failure::new(format!(
                "RSA keys have {} to {} bits",
                RSA_BITS.start(),
                RSA_BITS.end()
            ))),
        },
    }
}

impl Encoding {
    fn of(name: &str) -> Result<Self, Failure> {
        match name {
            "PKCS#1" | "PKCS1" => Ok(Self::Pkcs1),
            "PKCS#8" | "PKCS8" => Ok(Self::Pkcs8),
            "SEC 1" | "SEC1" => Ok(Self::Sec1),
            _ => Err(Failure::new(format!("invalid encoding type {name}"))),
        }
    }
}

impl Key {
    fn generated(kind: &str, bits: Option<i64>, random: &mut Random<'_>) -> Result<Self, Failure> {
        if kind == "ED25519" {
            let mut seed = [0; 32];
            random.fill(&mut seed);
            return Ok(Self::Ed25519(seed));
        }
        if kind == "RSA" {
            let bits = bits.and_then(|bits| usize::try_from(bits).ok());
            let key = RsaPrivateKey::new(random, bits.unwrap_or_default());
            return Ok(Self::Rsa(Box::new(key.map_err(unusable)?)));
        }
        EllipticKey::generated(kind, random).map(Self::Elliptic)
    }

    fn written(&self, encoding: Encoding) -> Result<String, Failure> {
        Ok(match (self, encoding) {
            (Self::Rsa(key), Encoding::Pkcs1) => {
                let pem = key.to_pkcs1_pem(LineEnding::LF);
                pem.map_err(unusable)?.to_string()
            }
            (Self::Rsa(key), _) => {
                let pem = key.to_pkcs8_pem(LineEnding::LF);
                pem.map_err(unusable)?.to_string()
            }
            (Self::Elliptic(key), Encoding::Sec1) => key.sec1()?,
            (Self::Elliptic(key), _) => key.pkcs8()?,
            (Self::Ed25519(seed), _) => {
                super::pem::write("PRIVATE KEY", &[&ED25519[..], seed].concat())
            }
        })
    }

    /// Reads a key in PKCS#1, PKCS#8 or SEC 1.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let unread = || Failure::new("unable to decode PEM of the private key");
        let (label, der) = super::pem::first(text).ok_or_else(unread)?;
        let rsa = match label.as_str() {
            "RSA PRIVATE KEY" => RsaPrivateKey::from_pkcs1_der(&der).ok(),
            _ => RsaPrivateKey::from_pkcs8_der(&der).ok(),
        };
        if let Some(key) = rsa {
            return Ok(Self::Rsa(Box::new(key)));
        }
        if let Some(seed) = der.strip_prefix(&ED25519) {
            let seed: [u8; 32] = seed.try_into().map_err(unusable)?;
            return Ok(Self::Ed25519(seed));
        }
        let key = EllipticKey::read(&label, &der).map(Self::Elliptic);
        key.ok_or_else(|| Failure::new("the private key is of no known type"))
    }

    /// The public key as certificates have it, in DER.
    pub fn public(&self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Rsa(key) => {
                let der = key.to_public_key().to_public_key_der();
                Ok(der.map_err(unusable)?.as_bytes().to_vec())
            }
            Self::Elliptic(key) => key.public(),
            Self::Ed25519(_) => Err(no_certificate()),
        }
    }

    /// The signature of a message.
    pub fn signature(&self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Rsa(key) => {
                let key = rsa::pkcs1v15::SigningKey::<rsa::sha2::Sha256>::new((**key).clone());
                Ok(key.try_sign(message).map_err(unusable)?.to_vec())
            }
            Self::Elliptic(key) => key.signature(message),
            Self::Ed25519(_) => Err(no_certificate()),
        }
    }

    /// The algorithm of [`Self::signature`], as an identifier in DER.
    pub fn algorithm(&self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Rsa(_) => Ok(RSA_SHA256.to_vec()),
            Self::Elliptic(key) => Ok(key.algorithm()),
            Self::Ed25519(_) => Err(no_certificate()),
        }
    }
}

fn no_certificate() -> Failure {
    Failure::new("cannot use ed25519 keys for x.509 certificates")
}

pub fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the private key cannot be used: {error}"))
}
