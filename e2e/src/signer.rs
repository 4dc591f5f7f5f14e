//! Tokens of an OpenID Connect issuer, signed by a key of the test's own.

use anyhow::{Result, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// A key of an issuer.
pub struct Signer {
    pub kid: &'static str,
    key: EcdsaKeyPair,
}

impl Signer {
    /// A new key of this id.
    pub fn new(kid: &'static str) -> Result<Self> {
        let random = SystemRandom::new();
        let how = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let failed = |_| anyhow!("no key can be made");
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(how, &random).map_err(failed)?;
        let key = EcdsaKeyPair::from_pkcs8(how, pkcs8.as_ref(), &random);
        let key = key.map_err(|error| anyhow!("no key can be made: {error}"))?;
        Ok(Self { kid, key })
    }

    /// The point of its public half.
    pub fn public(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    /// What the issuer publishes of it.
    pub fn jwk(&self) -> Value {
        let point = self.public();
        let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": self.kid, "x": x, "y": y})
    }

    /// A signed token with these claims.
    pub fn token(&self, claims: &Value) -> Result<String> {
        self.token_of(&json!({"alg": "ES256", "kid": self.kid}), claims)
    }

    /// The same with a head of the caller's own.
    pub fn token_of(&self, header: &Value, claims: &Value) -> Result<String> {
        let signed = unsigned(header, claims);
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| anyhow!("nothing can be signed"))?;
        Ok(format!("{signed}.{}", encoded(signature.as_ref())))
    }
}

/// As tokens are written.
pub fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The head and the claims of a token.
pub fn unsigned(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| encoded(value.to_string().as_bytes());
    format!("{}.{}", part(header), part(claims))
}
