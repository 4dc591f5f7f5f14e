//! Private keys: made of random bytes, written as PEM, and able to sign.

use expandybird_gotemplate::error::Failure;
use p256::ecdsa::signature::Signer as _;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::pkcs8::{DecodePrivateKey as _, LineEnding};
use rcgen::{PublicKeyData, SignatureAlgorithm, SigningKey};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rsa::RsaPrivateKey;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _};
use rsa::pkcs8::DecodePrivateKey as _;
use rsa::signature::SignatureEncoding as _;

use super::pem;
use crate::made::Random;

/// What comes before the 32 bytes of an Ed25519 key in PKCS#8 (RFC 8410, section 7).
const ED25519: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A private key.
pub struct Key {
    kind: Kind,
    /// As a certificate has it.
    public: Vec<u8>,
}

enum Kind {
    Rsa(Box<RsaPrivateKey>),
    Ecdsa(p256::SecretKey),
    Ed25519([u8; 32]),
}

impl Key {
    /// An RSA key of that many bits.
    pub fn rsa(random: &mut Random<'_>, bits: usize) -> Result<Self, Failure> {
        let key = RsaPrivateKey::new(random, bits);
        Self::of(Kind::Rsa(Box::new(key.map_err(unusable)?)))
    }

    /// A key on the curve P-256.
    pub fn ecdsa(random: &mut Random<'_>) -> Result<Self, Failure> {
        loop {
            let mut bytes = [0; 32];
            random.fill(&mut bytes);
            // Nearly every number is a key.
            if let Ok(key) = p256::SecretKey::from_slice(&bytes) {
                return Self::of(Kind::Ecdsa(key));
            }
        }
    }

    pub fn ed25519(random: &mut Random<'_>) -> Result<Self, Failure> {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Self::of(Kind::Ed25519(bytes))
    }

    fn of(kind: Kind) -> Result<Self, Failure> {
        let public = match &kind {
            Kind::Rsa(key) => {
                let der = key.to_public_key().to_pkcs1_der().map_err(unusable)?;
                der.as_bytes().to_vec()
            }
            Kind::Ecdsa(key) => key.public_key().to_sec1_point(false).as_bytes().to_vec(),
            Kind::Ed25519(seed) => {
                let key = Ed25519KeyPair::from_seed_unchecked(seed).map_err(unusable)?;
                key.public_key().as_ref().to_vec()
            }
        };
        Ok(Self { kind, public })
    }

    /// As Go writes it.
    pub fn to_pem(&self) -> Result<String, Failure> {
        match &self.kind {
            Kind::Rsa(key) => {
                let pem = key
                    .to_pkcs1_pem(rsa::pkcs8::LineEnding::LF)
                    .map_err(unusable)?;
                Ok(pem.to_string())
            }
            Kind::Ecdsa(key) => Ok(key
                .to_sec1_pem(LineEnding::LF)
                .map_err(unusable)?
                .to_string()),
            Kind::Ed25519(seed) => Ok(pem::write("PRIVATE KEY", &[&ED25519[..], seed].concat())),
        }
    }

    /// Reads a key in PKCS#1, SEC1 or PKCS#8.
    ///
    /// # Errors
    /// As Sprig says it: there is no key, or of a form that cannot be read.
    pub fn from_pem(text: &str) -> Result<Self, Failure> {
        let (label, der) = pem::first(text).ok_or_else(|| Failure::new("no PEM data in input"))?;
        let kind = match label.as_str() {
            "PRIVATE KEY" => pkcs8(&der),
            "RSA PRIVATE KEY" => {
                let key = RsaPrivateKey::from_pkcs1_der(&der);
                let key = key.map_err(|error| {
                    Failure::new(format!("parsing RSA private key from PEM: {error}"))
                });
                key.map(|key| Kind::Rsa(Box::new(key)))
            }
            "EC PRIVATE KEY" => p256::SecretKey::from_sec1_der(&der)
                .map(Kind::Ecdsa)
                .map_err(|error| Failure::new(format!("parsing EC private key from PEM: {error}"))),
            label => Err(match label.strip_suffix(" PRIVATE KEY") {
                Some(_) => Failure::new(format!("invalid private key type {label}")),
                None => Failure::new(format!("no private key data in PEM block of type {label}")),
            }),
        };
        Self::of(kind?)
    }
}

fn pkcs8(der: &[u8]) -> Result<Kind, Failure> {
    if let Some(seed) = der.strip_prefix(&ED25519) {
        let seed: Result<[u8; 32], _> = seed.get(..32).unwrap_or(seed).try_into();
        return seed.map(Kind::Ed25519).map_err(unusable);
    }
    if let Ok(key) = RsaPrivateKey::from_pkcs8_der(der) {
        return Ok(Kind::Rsa(Box::new(key)));
    }
    let key = p256::SecretKey::from_pkcs8_der(der);
    let unread = |error| Failure::new(format!("decoding PEM as PKCS#8: {error}"));
    key.map(Kind::Ecdsa).map_err(unread)
}

fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the private key cannot be used: {error}"))
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        match self.kind {
            Kind::Rsa(_) => &rcgen::PKCS_RSA_SHA256,
            Kind::Ecdsa(_) => &rcgen::PKCS_ECDSA_P256_SHA256,
            Kind::Ed25519(_) => &rcgen::PKCS_ED25519,
        }
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(match &self.kind {
            Kind::Rsa(key) => {
                let key = rsa::pkcs1v15::SigningKey::<rsa::sha2::Sha256>::new((**key).clone());
                let signature = rsa::signature::Signer::try_sign(&key, message)
                    .map_err(|_| rcgen::Error::RemoteKeyError)?;
                signature.to_vec()
            }
            Kind::Ecdsa(key) => {
                let key = p256::ecdsa::SigningKey::from(key);
                let signature: p256::ecdsa::Signature = key
                    .try_sign(message)
                    .map_err(|_| rcgen::Error::RemoteKeyError)?;
                signature.to_der().as_bytes().to_vec()
            }
            Kind::Ed25519(seed) => {
                let key = Ed25519KeyPair::from_seed_unchecked(seed);
                let key = key.map_err(|_| rcgen::Error::RemoteKeyError)?;
                key.sign(message).as_ref().to_vec()
            }
        })
    }
}
