//! Random bytes from a seed: the same seed, scope and name give the same bytes.
//!
//! The stream of a name is HMAC-SHA256 of the scope, the name and a counter, with the seed as its key. Without
//! this key nobody can predict the bytes of a name, not even from the bytes of other names.

use std::collections::HashMap;

use ring::hmac;

use crate::values::Values;

/// Values from a seed. Nothing is kept, unless it is given.
#[derive(Debug)]
pub struct Seeded {
    key: hmac::Key,
    scope: String,
    kept: HashMap<String, String>,
    /// Blocks that were taken of each name's stream.
    taken: HashMap<String, u64>,
}

impl Seeded {
    /// `scope` distinguishes the users of one seed: the place of a template instance, for example.
    pub fn new(seed: &[u8], scope: &str, kept: HashMap<String, String>) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, seed),
            scope: scope.to_owned(),
            kept,
            taken: HashMap::new(),
        }
    }

    fn block(&self, name: &str, counter: u64) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [self.scope.as_bytes(), name.as_bytes()] {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.update(&counter.to_le_bytes());
        context.sign()
    }
}

impl Values for Seeded {
    fn kept(&self, parameter: &str) -> Option<&str> {
        self.kept.get(parameter).map(String::as_str)
    }

    fn random(&mut self, parameter: &str, bytes: &mut [u8]) {
        let mut counter = self.taken.get(parameter).copied().unwrap_or_default();
        for chunk in bytes.chunks_mut(32) {
            let block = self.block(parameter, counter);
            chunk.copy_from_slice(&block.as_ref()[..chunk.len()]);
            counter += 1;
        }
        self.taken.insert(parameter.to_owned(), counter);
    }
}
