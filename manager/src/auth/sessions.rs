//! Sessions of browsers: a cookie stands for a token that the manager keeps in memory.
//!
//! Each request of a session is authenticated by its token again, so a token that is withdrawn ends the session. A restart of the
//! manager ends all of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};

/// A session that nobody uses ends.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// Every session ends. People sign in once a working day.
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// Each holds a token of a few KiB.
const SESSIONS: usize = 10_000;
/// 256 bits.
const ID_BYTES: usize = 32;

/// Why there is no new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("the manager has {SESSIONS} sessions already: try again later, or use a token")]
    TooMany,
    #[error("the system gives no random numbers")]
    NoRandomness,
}

/// Only digests of ids are kept, so that memory that leaks opens no session.
type Digest = [u8; 32];

#[derive(Debug, Default)]
pub struct Sessions {
    sessions: Mutex<HashMap<Digest, Session>>,
}

struct Session {
    token: String,
    began: Instant,
    used: Instant,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    fn is_over(&self) -> bool {
        self.began.elapsed() >= LONGEST || self.used.elapsed() >= IDLE
    }
}

/// A new random text of 256 bits.
pub fn random() -> Result<String, SessionError> {
    let mut bytes = [0; ID_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| SessionError::NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

pub fn digest(id: &str) -> Digest {
    Sha256::digest(id.as_bytes()).into()
}

impl Sessions {
    /// Begins a session, and returns its id for the cookie.
    pub fn begin(&self, token: String) -> Result<String, SessionError> {
        let id = random()?;
        let now = Instant::now();
        let mut sessions = self.sessions();
        if sessions.len() >= SESSIONS {
            sessions.retain(|_, session| !session.is_over());
        }
        if sessions.len() >= SESSIONS {
            return Err(SessionError::TooMany);
        }
        let session = Session {
            token,
            began: now,
            used: now,
        };
        sessions.insert(digest(&id), session);
        Ok(id)
    }

    /// The token of a session that is not over.
    pub fn token(&self, id: &str) -> Option<String> {
        let mut sessions = self.sessions();
        let session = sessions.get_mut(&digest(id))?;
        if session.is_over() {
            sessions.remove(&digest(id));
            return None;
        }
        session.used = Instant::now();
        Some(session.token.clone())
    }

    pub fn end(&self, id: &str) {
        self.sessions().remove(&digest(id));
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Digest, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gives_its_token_until_it_ends_and_to_its_own_id_only() {
        let sessions = Sessions::default();
        let one = sessions.begin("token-1".to_owned()).unwrap();
        let two = sessions.begin("token-2".to_owned()).unwrap();
        assert_ne!(one, two);
        assert_eq!(sessions.token(&one).as_deref(), Some("token-1"));
        assert_eq!(sessions.token("token-1"), None);
        sessions.end(&one);
        assert_eq!(sessions.token(&one), None);
        assert_eq!(sessions.token(&two).as_deref(), Some("token-2"));
        assert!(!format!("{sessions:?}").contains("token-2"));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let sessions = Sessions::default();
        for _ in 0..SESSIONS {
            sessions.begin(String::new()).unwrap();
        }
        assert_eq!(sessions.begin(String::new()), Err(SessionError::TooMany));
    }
}
