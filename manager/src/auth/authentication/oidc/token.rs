//! Parses a JSON Web Token in its compact form (RFC 7515, RFC 7519). Nothing in it is trusted before the signature is
//! verified.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub struct Token<'a> {
    pub header: Header,
    pub claims: Map<String, Value>,
    /// The signed text: header and claims as they were sent.
    pub signed: &'a [u8],
    pub signature: Vec<u8>,
}

#[derive(Deserialize)]
pub struct Header {
    pub alg: String,
    pub kid: Option<String>,
    /// Extensions that a reader must understand or refuse. None is supported.
    crit: Option<Value>,
}

impl<'a> Token<'a> {
    pub fn read(token: &'a str) -> Result<Self, &'static str> {
        let no_token = "it is not a JSON Web Token";
        let (signed, signature) = token.rsplit_once('.').ok_or(no_token)?;
        let (header, claims) = signed.split_once('.').ok_or(no_token)?;
        let header: Header = part(header).ok_or(no_token)?;
        if header.crit.is_some() {
            return Err("it has a critical header that is not understood here");
        }
        Ok(Self {
            header,
            claims: part(claims).ok_or(no_token)?,
            signed: signed.as_bytes(),
            signature: URL_SAFE_NO_PAD.decode(signature).map_err(|_| no_token)?,
        })
    }
}

fn part<T: DeserializeOwned>(text: &str) -> Option<T> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    serde_json::from_slice(&bytes).ok()
}
