//! Blocks of PEM: base 64 between two lines. Not a crate: the ones for keys want to know the label beforehand.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The first block of a text: its label and its bytes.
pub fn first(text: &str) -> Option<(String, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_whitespace().collect();
    let bytes = BASE64_STANDARD.decode(body).ok()?;
    Some((label.to_owned(), bytes))
}

/// A block with lines of 64 characters.
pub fn write(label: &str, bytes: &[u8]) -> String {
    let mut out = format!("-----BEGIN {label}-----\n");
    for line in BASE64_STANDARD.encode(bytes).as_bytes().chunks(64) {
        out.push_str(&String::from_utf8_lossy(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}
