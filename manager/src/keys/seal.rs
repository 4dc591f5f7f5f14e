//! Sealing with ChaCha20-Poly1305, with a new nonce each time. A sealed value is bound to the credential's name, so
//! that it cannot replace another record.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::model::{Credential, CredentialName};
use ring::aead::{Aad, NONCE_LEN, Nonce};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};

use super::key::Key;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sealed {
    nonce: String,
    text: String,
}

/// `None` if the system has no random numbers.
pub fn seal(key: &Key, name: &CredentialName, credential: &Credential) -> Option<Sealed> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let mut bytes = serde_json::to_vec(credential).ok()?;
    let aad = Aad::from(name.as_str());
    let fresh = Nonce::assume_unique_for_key(nonce);
    key.cipher
        .seal_in_place_append_tag(fresh, aad, &mut bytes)
        .ok()?;
    Some(Sealed {
        nonce: STANDARD.encode(nonce),
        text: STANDARD.encode(bytes),
    })
}

/// `None` if it was sealed with another key or for another name, or was changed.
pub fn open(key: &Key, name: &CredentialName, sealed: &Sealed) -> Option<Credential> {
    let nonce: [u8; NONCE_LEN] = STANDARD.decode(&sealed.nonce).ok()?.try_into().ok()?;
    let mut bytes = STANDARD.decode(&sealed.text).ok()?;
    let aad = Aad::from(name.as_str());
    let plain = key
        .cipher
        .open_in_place(Nonce::assume_unique_for_key(nonce), aad, &mut bytes)
        .ok()?;
    serde_json::from_slice(plain).ok()
}

#[cfg(test)]
mod tests {
    use common::model::Secret;

    use super::*;

    #[test]
    fn only_the_key_and_the_name_open_it_and_nothing_repeats() {
        let (key, other) = (Key::random().unwrap(), Key::random().unwrap());
        let (a, b) = (
            CredentialName::parse("a").unwrap(),
            CredentialName::parse("b").unwrap(),
        );
        let credential = Credential::Token(Secret::new("t"));
        let sealed = seal(&key, &a, &credential).unwrap();
        assert_eq!(open(&key, &a, &sealed), Some(credential.clone()));
        assert_eq!(open(&other, &a, &sealed), None);
        assert_eq!(open(&key, &b, &sealed), None);
        let again = seal(&key, &a, &credential).unwrap();
        assert_ne!((&sealed.nonce, &sealed.text), (&again.nonce, &again.text));
        let changed = Sealed {
            text: again.text,
            ..sealed
        };
        assert_eq!(open(&key, &a, &changed), None);
    }
}
