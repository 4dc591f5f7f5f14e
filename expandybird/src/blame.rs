//! Remembers which caller crashed expansion processes with which input: the caller's next try waits for a while.
//!
//! A template's text alone is not the cause: the properties of a request are. So a caller never blocks another, whatever
//! harmless template it abuses.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::admission::Caller;
use crate::process::Digest;

/// This many crashes are not an accident.
const DEATHS: u32 = 2;
/// Crashes that are this far apart are unrelated. A rejected input is tried again after this time.
const MEMORY: Duration = Duration::from_secs(5 * 60);
/// How many inputs of all callers are remembered. A caller that makes more of them uses each only once.
const INPUTS: usize = 256;

/// The table.
#[derive(Debug, Default)]
pub struct Blame {
    entries: Mutex<HashMap<Input, Entry>>,
}

type Input = (Caller, Digest);

#[derive(Debug, Clone, Copy)]
struct Entry {
    deaths: u32,
    last: Instant,
}

impl Blame {
    /// Records a crash of a process with this caller's input.
    pub fn died(&self, caller: &Caller, digest: Digest, now: Instant) {
        let mut entries = self.entries(now);
        let input = (caller.clone(), digest);
        if entries.len() >= INPUTS && !entries.contains_key(&input) {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.last);
            if let Some(oldest) = oldest.map(|(input, _)| input.clone()) {
                entries.remove(&oldest);
            }
        }
        let entry = entries.entry(input).or_insert(Entry {
            deaths: 0,
            last: now,
        });
        entry.deaths += 1;
        entry.last = now;
    }

    /// The inputs of this caller that are not tried now.
    pub fn refused(&self, caller: &Caller, now: Instant) -> Vec<Digest> {
        let entries = self.entries(now);
        let refused = entries
            .iter()
            .filter(|((owner, _), entry)| owner == caller && entry.deaths >= DEATHS);
        refused.map(|((_, digest), _)| *digest).collect()
    }

    fn entries(&self, now: Instant) -> MutexGuard<'_, HashMap<Input, Entry>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|_, entry| now.saturating_duration_since(entry.last) < MEMORY);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_twice_is_refused_to_its_caller_for_a_while() {
        let (blame, now) = (Blame::default(), Instant::now());
        let (caller, other) = (Caller::new("a"), Caller::new("b"));
        let (bad, worse) = (Digest::of("bad"), Digest::of("worse"));
        blame.died(&caller, bad, now);
        blame.died(&other, bad, now);
        blame.died(&caller, worse, now);
        assert_eq!(blame.refused(&caller, now), []);
        blame.died(&caller, worse, now);
        assert_eq!(blame.refused(&caller, now), [worse]);
        assert_eq!(blame.refused(&other, now), []);
        assert_eq!(blame.refused(&caller, now + MEMORY), []);
    }

    #[test]
    fn the_table_does_not_grow_without_end() {
        let (blame, now) = (Blame::default(), Instant::now());
        for number in 0..2 * INPUTS {
            blame.died(&Caller::default(), Digest::of(&number.to_string()), now);
        }
        assert_eq!(blame.entries(now).len(), INPUTS);
    }
}
