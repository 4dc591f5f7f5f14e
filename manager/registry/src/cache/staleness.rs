//! How old a cached value is, and why it is used.

use std::fmt;

use jiff::Timestamp;

/// An old value is used, because the registry did not give a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staleness {
    /// The time when the registry gave it.
    pub given: Timestamp,
    /// Why there is no new one.
    pub reason: String,
}

impl fmt::Display for Staleness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = Timestamp::now().duration_since(self.given).as_secs().max(0);
        let (count, unit) = match age {
            0..120 => (age, "s"),
            120..7200 => (age / 60, "min"),
            7200..172_800 => (age / 3600, "h"),
            _ => (age / 86_400, "days"),
        };
        let (given, reason) = (self.given, &self.reason);
        write!(
            f,
            "its contents from {count} {unit} ago, at {given}, are used: {reason}"
        )
    }
}
