//! The keys that may sign the templates of a registry. It does not know what is signed.

mod key;

use common::registry::sums;

use key::PublicKey;
pub use key::SIGNATURE_BYTES;

/// Publishers of one registry.
const PUBLIC_KEYS: usize = 20;

/// The keys that may sign a registry's templates. Without keys, templates need no signature.
#[derive(Debug, Default)]
pub struct Trust {
    keys: Vec<PublicKey>,
    id: String,
}

impl Trust {
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        if texts.len() > PUBLIC_KEYS {
            return Err(format!("it has more than {PUBLIC_KEYS} public keys"));
        }
        let parse = |(number, text): (usize, &String)| {
            let parsed = PublicKey::parse(text);
            parsed.map_err(|reason| format!("its public key {}: {reason}", number + 1))
        };
        let keys: Result<Vec<_>, _> = texts.iter().enumerate().map(parse).collect();
        let id = match texts.is_empty() {
            true => String::new(),
            false => format!("#{}", sums::hex(texts.join("\0").as_bytes())),
        };
        Ok(Self { keys: keys?, id })
    }

    pub fn is_needed(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether one of the keys made this signature. The ending of the file gives the kind of key.
    pub fn has_signed(&self, content: &[u8], ending: &str, signature: &[u8]) -> bool {
        let mut keys = self.keys.iter().filter(|key| key.ending() == ending);
        keys.any(|key| key.has_signed(content, signature))
    }

    /// Identifies this set of keys.
    pub fn id(&self) -> &str {
        &self.id
    }
}
