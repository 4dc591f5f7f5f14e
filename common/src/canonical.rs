//! One spelling for every value, and digests over it.
//!
//! Values keep the order of their keys, because an expansion shows them as its author wrote them. Comparisons and
//! digests must not depend on that order: here keys are sorted by their bytes, and there is no white space. This module
//! does not know what is compared, or why.
//!
//! Numbers keep their kind: `1` and `1.0` are different values with different digests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// JSON with sorted keys and without white space.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    append(value, &mut out);
    out
}

fn append(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, out);
                append(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                separate(index, out);
                append_text(key, out);
                out.push(':');
                append(value, out);
            }
            out.push('}');
        }
        Value::String(text) => append_text(text, out),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

/// Quotes a text: `"`, `\` and control characters are escaped, all other characters stay.
fn append_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// The SHA-256 of some bytes, spelled `sha256:<64 hex digits>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// Text that is not a digest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a digest; expected 'sha256:' and 64 lowercase hex digits")]
pub struct InvalidDigest(String);

/// The digest of a value's canonical JSON.
pub fn digest(value: &Value) -> Digest {
    digest_bytes(canonical_json(value).as_bytes())
}

/// The digest of unchanged bytes.
pub fn digest_bytes(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The prefix of a digest. Digests are stored: another algorithm needs another prefix.
const PREFIX: &str = "sha256:";

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix(PREFIX).and_then(parse_hex);
        hex.map(Digest)
            .ok_or_else(|| InvalidDigest(text.to_owned()))
    }
}

fn parse_hex(hex: &str) -> Option<[u8; 32]> {
    let lowercase = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if hex.len() != 64 || !hex.bytes().all(lowercase) {
        return None;
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_and_that_of_items_does() {
        let one = json!({"b": [1, 2], "a": {"d": null, "c": "é\n\""}});
        let other = json!({"a": {"c": "é\n\"", "d": null}, "b": [1, 2]});
        let expected = r#"{"a":{"c":"é\n\"","d":null},"b":[1,2]}"#;
        assert_eq!(canonical_json(&one), expected);
        assert_eq!(digest(&one), digest(&other));
        assert_ne!(digest(&json!([1, 2])), digest(&json!([2, 1])));
        assert_ne!(digest(&json!(1)), digest(&json!(1.0)));
    }

    #[test]
    fn canonical_json_is_json() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        let value = json!({text.clone(): [text, 1.5, -1, u64::MAX, true, {}, []]});
        let read: Value = serde_json::from_str(&canonical_json(&value)).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn a_digest_is_told_and_read_as_sha256_and_hex() {
        let digest = digest_bytes(b"");
        let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(serde_json::to_value(digest).unwrap(), json!(text));
        let read: Digest = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(read, digest);
    }

    #[test]
    fn text_that_is_no_digest_is_refused() {
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [
            hex,
            "",
            "sha256:",
            &format!("sha1:{hex}"),
            &format!("sha256:{hex}0"),
        ] {
            assert_eq!(text.parse::<Digest>(), Err(InvalidDigest(text.to_owned())));
        }
        let upper = format!("sha256:{}", hex.to_uppercase());
        assert!(upper.parse::<Digest>().is_err());
    }
}
