//! Keys on the curves P-224, P-256, P-384 and P-521.

use expandybird_gotemplate::error::Failure;
use expandybird_sprig::made::Random;
use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use p256::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, LineEnding};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::unusable;

/// ecdsa-with-SHA256, -SHA384 and -SHA512 differ in the last byte.
const ECDSA: [u8; 11] = [
    0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03,
];

pub enum EllipticKey {
    P224(p224::SecretKey),
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    P521(p521::SecretKey),
}

/// The same for the key of each curve.
macro_rules! each {
    ($key:expr, $name:ident => $do:expr) => {
        match $key {
            EllipticKey::P224($name) => $do,
            EllipticKey::P256($name) => $do,
            EllipticKey::P384($name) => $do,
            EllipticKey::P521($name) => $do,
        }
    };
}

impl EllipticKey {
    pub fn is_kind(kind: &str) -> bool {
        [
            "EllipticP224",
            "EllipticP256",
            "EllipticP384",
            "EllipticP521",
        ]
        .contains(&kind)
    }

    pub fn generated(kind: &str, random: &mut Random<'_>) -> Result<Self, Failure> {
        // Nearly every number of the right length is a key.
        loop {
            let found = match kind {
                "EllipticP224" => p224::SecretKey::from_slice(&bytes::<28>(random, 0xff))
                    .ok()
                    .map(Self::P224),
                "EllipticP256" => p256::SecretKey::from_slice(&bytes::<32>(random, 0xff))
                    .ok()
                    .map(Self::P256),
                "EllipticP384" => p384::SecretKey::from_slice(&bytes::<48>(random, 0xff))
                    .ok()
                    .map(Self::P384),
                "EllipticP521" => p521::SecretKey::from_slice(&bytes::<66>(random, 0x01))
                    .ok()
                    .map(Self::P521),
                _ => return Err(Failure::new(format!("invalid key type {kind}"))),
            };
            if let Some(key) = found {
                return Ok(key);
            }
        }
    }

    /// A key in SEC 1 or PKCS#8.
    pub fn read(label: &str, der: &[u8]) -> Option<Self> {
        if label == "EC PRIVATE KEY" {
            let p224 = || Some(Self::P224(p224::SecretKey::from_sec1_der(der).ok()?));
            let p256 = || Some(Self::P256(p256::SecretKey::from_sec1_der(der).ok()?));
            let p384 = || Some(Self::P384(p384::SecretKey::from_sec1_der(der).ok()?));
            let p521 = || Some(Self::P521(p521::SecretKey::from_sec1_der(der).ok()?));
            return p256().or_else(p384).or_else(p521).or_else(p224);
        }
        let p224 = || Some(Self::P224(p224::SecretKey::from_pkcs8_der(der).ok()?));
        let p256 = || Some(Self::P256(p256::SecretKey::from_pkcs8_der(der).ok()?));
        let p384 = || Some(Self::P384(p384::SecretKey::from_pkcs8_der(der).ok()?));
        let p521 = || Some(Self::P521(p521::SecretKey::from_pkcs8_der(der).ok()?));
        p256().or_else(p384).or_else(p521).or_else(p224)
    }

    pub fn sec1(&self) -> Result<String, Failure> {
        let pem = each!(self, key => key.to_sec1_pem(LineEnding::LF));
        Ok(pem.map_err(unusable)?.to_string())
    }

    pub fn pkcs8(&self) -> Result<String, Failure> {
        let pem = each!(self, key => key.to_pkcs8_pem(LineEnding::LF));
        Ok(pem.map_err(unusable)?.to_string())
    }

    pub fn public(&self) -> Result<Vec<u8>, Failure> {
        let der = each!(self, key => key.public_key().to_public_key_der());
        Ok(der.map_err(unusable)?.as_bytes().to_vec())
    }

    /// As Go signs: SHA-256 up to P-256, SHA-384 and SHA-512 above it.
    pub fn signature(&self, message: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(match self {
            Self::P224(key) => {
                let key = p224::ecdsa::SigningKey::from(key);
                let signed: p224::ecdsa::Signature = key
                    .sign_prehash(&Sha256::digest(message))
                    .map_err(unusable)?;
                signed.to_der().as_bytes().to_vec()
            }
            Self::P256(key) => {
                let key = p256::ecdsa::SigningKey::from(key);
                let signed: p256::ecdsa::Signature = key
                    .sign_prehash(&Sha256::digest(message))
                    .map_err(unusable)?;
                signed.to_der().as_bytes().to_vec()
            }
            Self::P384(key) => {
                let key = p384::ecdsa::SigningKey::from(key);
                let signed: p384::ecdsa::Signature = key
                    .sign_prehash(&Sha384::digest(message))
                    .map_err(unusable)?;
                signed.to_der().as_bytes().to_vec()
            }
            Self::P521(key) => {
                let key = p521::ecdsa::SigningKey::from(key);
                let signed: p521::ecdsa::Signature = key
                    .sign_prehash(&Sha512::digest(message))
                    .map_err(unusable)?;
                signed.to_der().as_bytes().to_vec()
            }
        })
    }

    pub fn algorithm(&self) -> Vec<u8> {
        let last = match self {
            Self::P224(_) | Self::P256(_) => 2,
            Self::P384(_) => 3,
            Self::P521(_) => 4,
        };
        [&ECDSA[..], &[last]].concat()
    }
}

/// Random bytes; only these bits of the first one.
fn bytes<const N: usize>(random: &mut Random<'_>, first: u8) -> [u8; N] {
    let mut bytes = [0; N];
    random.fill(&mut bytes);
    if let Some(byte) = bytes.first_mut() {
        *byte &= first;
    }
    bytes
}
