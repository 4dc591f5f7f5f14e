//! The memory of all request bodies together. Bytes count when they arrive, and are released when the request is
//! answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::overloaded;
use crate::server::answer::error::ApiError;

/// A body up to this size is small, like nearly all bodies.
const SMALL: usize = 1024 * 1024;

#[derive(Debug)]
pub(in crate::server) struct Bodies {
    most: usize,
    taken: AtomicUsize,
}

impl Bodies {
    pub fn new(most: usize) -> Self {
        Self {
            most,
            taken: AtomicUsize::new(0),
        }
    }

    pub fn begin(self: &Arc<Self>) -> Held {
        Held {
            bodies: self.clone(),
            bytes: 0,
        }
    }
}

/// The memory of one body.
#[derive(Debug)]
pub(in crate::server) struct Held {
    bodies: Arc<Bodies>,
    bytes: usize,
}

impl Held {
    /// Counts more bytes. A quarter is reserved for small bodies, so large ones, which may never end, cannot block all others.
    pub fn add(&mut self, bytes: usize) -> Result<(), ApiError> {
        let room = match self.bytes + bytes > SMALL {
            true => self.bodies.most - self.bodies.most / 4,
            false => self.bodies.most,
        };
        self.bytes += bytes;
        let before = self.bodies.taken.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes <= room {
            return Ok(());
        }
        Err(overloaded(
            "the bodies of all requests have reached the memory limit of the service: retry later"
                .to_owned(),
        ))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.bodies.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_leave_room_for_small_ones_and_all_is_given_back() {
        let bodies = Arc::new(Bodies::new(8 * SMALL));
        let mut large = bodies.begin();
        large.add(6 * SMALL).unwrap();
        assert!(bodies.begin().add(SMALL + 1).is_err());
        let mut small = bodies.begin();
        small.add(SMALL).unwrap();
        drop(large);
        bodies.begin().add(5 * SMALL).unwrap();
        drop(small);
        assert_eq!(bodies.taken.load(Ordering::Relaxed), 0);
    }
}
