//! Remembers, by digest, the input that crashed expansion processes: it is not tried again for a while.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::process::Digest;

/// This many crashes are not an accident.
const DEATHS: u32 = 2;
/// Crashes that are this far apart are unrelated. A rejected input is tried again after this time.
const MEMORY: Duration = Duration::from_secs(5 * 60);
/// How many digests are remembered. A caller that makes more of them uses each only once.
const DIGESTS: usize = 256;

/// The table.
#[derive(Debug, Default)]
pub struct Blame {
    entries: Mutex<HashMap<Digest, Entry>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    deaths: u32,
    last: Instant,
}

impl Blame {
    /// Records a crash of a process with this input.
    pub fn died(&self, digest: Digest, now: Instant) {
        let mut entries = self.entries(now);
        if entries.len() >= DIGESTS && !entries.contains_key(&digest) {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.last);
            if let Some(oldest) = oldest.map(|(&digest, _)| digest) {
                entries.remove(&oldest);
            }
        }
        let entry = entries.entry(digest).or_insert(Entry {
            deaths: 0,
            last: now,
        });
        entry.deaths += 1;
        entry.last = now;
    }

    /// The inputs that are not tried now.
    pub fn refused(&self, now: Instant) -> Vec<Digest> {
        let entries = self.entries(now);
        let refused = entries.iter().filter(|(_, entry)| entry.deaths >= DEATHS);
        refused.map(|(&digest, _)| digest).collect()
    }

    fn entries(&self, now: Instant) -> MutexGuard<'_, HashMap<Digest, Entry>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| now.saturating_duration_since(entry.last) < MEMORY);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_twice_is_refused_for_a_while() {
        let (blame, now) = (Blame::default(), Instant::now());
        let (bad, worse) = (Digest::of("bad"), Digest::of("worse"));
        blame.died(bad, now);
        blame.died(worse, now);
        assert_eq!(blame.refused(now), []);
        blame.died(worse, now);
        assert_eq!(blame.refused(now), [worse]);
        assert_eq!(blame.refused(now + MEMORY), []);
    }

    #[test]
    fn the_table_does_not_grow_without_end() {
        let (blame, now) = (Blame::default(), Instant::now());
        for number in 0..2 * DIGESTS {
            blame.died(Digest::of(&number.to_string()), now);
        }
        assert_eq!(blame.entries(now).len(), DIGESTS);
    }
}
