//! The header with which one manager proves to another that it passes a request on, and for which peer.
//!
//! It is sealed with the store's newest key, which only managers have, and bound to the method and the path. It is valid
//! for some minutes, so that one that was read on the network is soon worth nothing.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::server::{Peer, Relays};
use jiff::Timestamp;
use ring::aead::{Aad, NONCE_LEN, Nonce};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::keys::Ring;

/// The header.
pub const HEADER: &str = "dm-relayed";
/// Two machines' clocks may differ by as much.
const VALID: Duration = Duration::from_secs(300);
/// A certificate has at most some hundred names.
const LONGEST: usize = 24 * 1024;
const ID_BYTES: usize = 8;

#[derive(Serialize, Deserialize)]
struct Statement {
    peer: Peer,
    until: Timestamp,
}

/// Makes the header, and verifies it.
#[derive(Debug, Clone)]
pub struct Proof(Arc<Ring>);

impl Proof {
    pub fn new(ring: Arc<Ring>) -> Self {
        Self(ring)
    }

    /// The header for a request; none if the system has no random numbers.
    pub fn of(&self, peer: Peer, method: &str, target: &str) -> Option<String> {
        let until = Timestamp::now() + VALID;
        self.sealed(&Statement { peer, until }, method, target)
    }

    fn sealed(&self, statement: &Statement, method: &str, target: &str) -> Option<String> {
        let key = self.0.newest().ok()?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut text = serde_json::to_vec(statement).ok()?;
        let fresh = Nonce::assume_unique_for_key(nonce);
        let bound = Aad::from(bound(method, target));
        key.cipher
            .seal_in_place_append_tag(fresh, bound, &mut text)
            .ok()?;
        Some(URL_SAFE_NO_PAD.encode([key.id.0.as_slice(), &nonce, &text].concat()))
    }

    fn opened(&self, header: &str, method: &str, target: &str) -> Option<Peer> {
        if header.len() > LONGEST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(header).ok()?;
        let (id, rest) = bytes.split_at_checked(ID_BYTES)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        // Not Ring::find: that reads the file for an unknown key, and strangers choose the id.
        let key = self.0.keys().into_iter().find(|key| key.id.0 == id)?;
        let (nonce, mut text) = (Nonce::assume_unique_for_key(*nonce), sealed.to_vec());
        let bound = Aad::from(bound(method, target));
        let plain = key.cipher.open_in_place(nonce, bound, &mut text).ok()?;
        let statement: Statement = serde_json::from_slice(plain).ok()?;
        (statement.until > Timestamp::now()).then_some(statement.peer)
    }
}

impl Relays for Proof {
    fn first_peer(&self, request: &HttpRequest) -> Option<Peer> {
        let header = request.headers().get(HEADER)?.to_str().ok()?;
        let target = request.uri().path_and_query()?.as_str();
        self.opened(header, method(request), target)
    }
}

/// `HEAD` counts as `GET`: the server answers it so.
pub fn method(request: &HttpRequest) -> &str {
    match request.method().as_str() {
        "HEAD" => "GET",
        method => method,
    }
}

fn bound(method: &str, target: &str) -> Vec<u8> {
    format!("{HEADER} {method} {target}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyPlace;

    fn proof() -> Proof {
        Proof::new(Arc::new(Ring::open(KeyPlace::Memory, false).unwrap()))
    }

    fn peer() -> Peer {
        Peer {
            address: Some([192, 0, 2, 7].into()),
            certificate: None,
        }
    }

    #[test]
    fn only_the_request_that_it_was_made_for_and_only_managers_with_the_key_accept_it() {
        let (proof, other) = (proof(), proof());
        let header = proof.of(peer(), "GET", "/types?limit=1").unwrap();
        let open = |proof: &Proof, method, target| proof.opened(&header, method, target);
        assert_eq!(open(&proof, "GET", "/types?limit=1"), Some(peer()));
        assert_eq!(open(&proof, "POST", "/types?limit=1"), None);
        assert_eq!(open(&proof, "GET", "/types"), None);
        assert_eq!(open(&other, "GET", "/types?limit=1"), None);
    }

    #[test]
    fn a_changed_or_old_header_is_worth_nothing() {
        let proof = proof();
        let header = proof.of(peer(), "GET", "/").unwrap();
        for at in 0..header.len() {
            let mut changed = header.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last character of base64 may have bits that count for nothing: then nothing was changed.
            let same = URL_SAFE_NO_PAD.decode(&changed) == URL_SAFE_NO_PAD.decode(&header);
            assert!(same || proof.opened(&changed, "GET", "/").is_none(), "{at}");
        }
        for garbage in ["", "A", "!", &"A".repeat(40), &"A".repeat(LONGEST + 1)] {
            assert_eq!(proof.opened(garbage, "GET", "/"), None);
        }
        let old = Statement {
            peer: peer(),
            until: Timestamp::now() - Duration::from_secs(1),
        };
        let old = proof.sealed(&old, "GET", "/").unwrap();
        assert_eq!(proof.opened(&old, "GET", "/"), None);
    }
}
