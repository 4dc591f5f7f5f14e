//! An issuer's public keys (JWK, RFC 7517 and 7518), and the signatures that each may verify.
//!
//! The type of a key limits the algorithms, and a token can only choose among these. So there is no `none`, and a
//! public key is never used as a shared secret (`HS256`).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    self, EcdsaVerificationAlgorithm, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

use super::token::Token;

/// The maximum number of keys of an issuer. Real ones have a handful.
const KEYS: usize = 100;

#[derive(Default)]
pub struct Keys(Vec<Key>);

struct Key {
    kid: Option<String>,
    /// The only algorithm for the key, if it names one.
    alg: Option<String>,
    public: Public,
}

enum Public {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
pub struct Document {
    keys: Vec<Jwk>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Keys {
    /// The keys of known types for signatures. Others are ignored.
    pub fn new(document: Document) -> Self {
        let keys = document.keys.into_iter().take(KEYS);
        Self(keys.filter_map(Jwk::key).collect())
    }

    pub fn has(&self, kid: &str) -> bool {
        self.0.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// Whether the named key, or any key if none is named, has signed the token.
    pub fn verify(&self, token: &Token<'_>) -> bool {
        let named = token.header.kid.as_deref();
        let mut keys = self.0.iter();
        keys.any(|key| (named.is_none() || key.kid.as_deref() == named) && key.verify(token))
    }
}

impl Key {
    fn verify(&self, token: &Token<'_>) -> bool {
        let alg = token.header.alg.as_str();
        let is_for = self.alg.as_deref().is_none_or(|own| own == alg);
        is_for && self.public.verify(alg, token.signed, &token.signature)
    }
}

impl Public {
    fn verify(&self, alg: &str, signed: &[u8], signature: &[u8]) -> bool {
        let ecdsa = |point: &[u8], how: &'static EcdsaVerificationAlgorithm| {
            UnparsedPublicKey::new(how, point)
                .verify(signed, signature)
                .is_ok()
        };
        match (self, alg) {
            (Self::Rsa { n, e }, _) => rsa(alg).is_some_and(|how| {
                let key = RsaPublicKeyComponents { n, e };
                key.verify(how, signed, signature).is_ok()
            }),
            (Self::P256(point), "ES256") => ecdsa(point, &signature::ECDSA_P256_SHA256_FIXED),
            (Self::P384(point), "ES384") => ecdsa(point, &signature::ECDSA_P384_SHA384_FIXED),
            (Self::Ed25519(key), "EdDSA") => UnparsedPublicKey::new(&signature::ED25519, key)
                .verify(signed, signature)
                .is_ok(),
            _ => false,
        }
    }
}

/// Keys of less than 2048 bits are refused.
fn rsa(alg: &str) -> Option<&'static RsaParameters> {
    Some(match alg {
        "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
        "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
        "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

impl Jwk {
    fn key(self) -> Option<Key> {
        if self.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let public = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Public::Rsa {
                n: number(&self.n)?,
                e: number(&self.e)?,
            },
            ("EC", Some("P-256")) => Public::P256(self.point()?),
            ("EC", Some("P-384")) => Public::P384(self.point()?),
            ("OKP", Some("Ed25519")) => Public::Ed25519(bytes(&self.x)?),
            _ => return None,
        };
        Some(Key {
            kid: self.kid,
            alg: self.alg,
            public,
        })
    }

    /// Uncompressed point (SEC 1, 2.3.3).
    fn point(&self) -> Option<Vec<u8>> {
        Some([vec![4], bytes(&self.x)?, bytes(&self.y)?].concat())
    }
}

fn bytes(text: &Option<String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text.as_deref()?).ok()
}

/// Without leading zeros, which some issuers add.
fn number(text: &Option<String>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let first = bytes.iter().position(|byte| *byte != 0)?;
    bytes.get(first..).map(<[u8]>::to_vec)
}
