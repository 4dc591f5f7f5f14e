//! Which format is in force: what shapes of records the manager writes.
//!
//! A store says its format. A manager reads the format before its own newest one too, and writes the one that is in force, so
//! an older manager can have the store again. `dm admin upgrade` puts the newest one in force.
//!
//! | format | since then |
//! |---|---|
//! | 1 | manifests are in numbered pieces of their own |
//! | 2 | manifests of a deployment share their pieces, types are counted in numbers that are added to, and operations that ended have no journal |
//! | 3 | instances do not name their manifest, and many recorded objects are in pieces |

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The newest format that this program reads and writes. A new store has it.
pub const NEWEST: u32 = 3;
/// The oldest format that this program reads.
pub const FIRST: u32 = 1;
/// The oldest format that this program writes. A store of an older one is brought to this one when it is opened: no other
/// manager can wait for it, for only stores in folders are so old.
pub const OLDEST: u32 = 2;
/// The first format whose records of instances and objects an update writes only where they change.
pub const LEAN: u32 = 3;

/// The format in force. Clones share it.
#[derive(Debug, Clone)]
pub struct Format(Arc<AtomicU32>);

impl Default for Format {
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(NEWEST)))
    }
}

impl Format {
    pub fn number(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// The store says so.
    pub fn is(&self, number: u32) {
        self.0.store(number, Ordering::SeqCst);
    }

    /// Whether an update writes records of instances and objects only where they change.
    pub fn is_lean(&self) -> bool {
        self.number() >= LEAN
    }
}
