//! Public keys for signatures of templates.
//!
//! There are two kinds: minisign (Ed25519), and ECDSA on P-256 from `cosign generate-key-pair` or `openssl ecparam
//! -name prime256v1`. The text of a key shows its kind.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::registry::sums::{MINISIG, SIG};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

const KEY_BYTES: usize = 4096;
/// A signature with its comments.
pub const SIGNATURE_BYTES: usize = 16 * 1024;
const PEM: (&str, &str) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----");
/// The bytes before a P-256 point in its SubjectPublicKeyInfo (RFC 5480): id-ecPublicKey, prime256v1, a bit string.
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// An uncompressed point.
const POINT_BYTES: usize = 65;

#[derive(Clone)]
pub enum PublicKey {
    Minisign(minisign_verify::PublicKey),
    P256(Vec<u8>),
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Minisign(_) => "Minisign",
            Self::P256(_) => "P256",
        })
    }
}

impl PublicKey {
    /// A minisign key with or without its comment, or the text of a PEM file.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.len() > KEY_BYTES {
            return Err("it is too long for a public key");
        }
        if text.contains("PRIVATE KEY") || text.contains("secret key") {
            return Err("it is a secret key; it must not be given away: make a new pair");
        }
        match text.strip_prefix(PEM.0) {
            Some(rest) => rest
                .strip_suffix(PEM.1)
                .and_then(p256)
                .map(Self::P256)
                .ok_or("its PEM holds no key of ECDSA on P-256"),
            None => {
                let line = text.lines().last().unwrap_or_default();
                minisign_verify::PublicKey::from_base64(line.trim())
                    .map(Self::Minisign)
                    .map_err(|_| "it is neither a public key of minisign nor one in PEM")
            }
        }
    }

    /// The ending of files with signatures of this kind of key.
    pub fn ending(&self) -> &'static str {
        match self {
            Self::Minisign(_) => MINISIG,
            Self::P256(_) => SIG,
        }
    }

    pub fn has_signed(&self, content: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Minisign(key) => {
                let signature = std::str::from_utf8(signature).ok();
                let signature =
                    signature.and_then(|text| minisign_verify::Signature::decode(text).ok());
                signature.is_some_and(|signature| key.verify(content, &signature, false).is_ok())
            }
            Self::P256(point) => {
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
                key.verify(content, &asn1(signature)).is_ok()
            }
        }
    }
}

fn p256(base64: &str) -> Option<Vec<u8>> {
    let packed: String = base64.split_whitespace().collect();
    let der = STANDARD.decode(packed).ok()?;
    let point = der.strip_prefix(&P256)?;
    (point.len() == POINT_BYTES).then(|| point.to_vec())
}

/// cosign writes a signature as base64, openssl in binary.
fn asn1(signature: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(signature).ok();
    let decoded = text.and_then(|text| STANDARD.decode(text.trim()).ok());
    decoded.unwrap_or_else(|| signature.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_public_key_says_why() {
        let minisign =
            "untrusted comment: k\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        assert!(PublicKey::parse(minisign).is_ok());
        for (text, reason) in [
            ("", "neither"),
            ("hello", "neither"),
            (
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "P-256",
            ),
            ("-----BEGIN EC PRIVATE KEY-----\nAAAA", "secret"),
            (
                "untrusted comment: minisign encrypted secret key\nRWRTY0Iy",
                "secret",
            ),
            (&"x".repeat(KEY_BYTES + 1), "too long"),
        ] {
            let error = PublicKey::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }
}
