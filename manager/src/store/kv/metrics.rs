//! Metrics of the store: how long commits take, and whether this manager has the store.

use std::sync::LazyLock;
use std::time::Duration;

use common::server::observe::metrics::register;
use prometheus::{HistogramOpts, HistogramVec, IntGauge};

use super::KvError;

const DONE: &str = "done";
const CONFLICT: &str = "conflict";
const FAILED: &str = "failed";

static COMMITS: LazyLock<Option<HistogramVec>> = LazyLock::new(|| {
    let opts = HistogramOpts::new(
        "dm_store_commit_seconds",
        "Time of a commit, by outcome: done, conflict (another write came first, and the commit is made again), failed.",
    );
    let histogram = HistogramVec::new(opts, &["outcome"]).ok()?;
    for outcome in [DONE, CONFLICT, FAILED] {
        histogram.with_label_values(&[outcome]);
    }
    register(histogram.clone());
    Some(histogram)
});

static OWNER: LazyLock<Option<IntGauge>> = LazyLock::new(|| {
    let help = "1 if this manager has the store and works, 0 while another one has it.";
    let gauge = IntGauge::new("dm_store_owner", help).ok()?;
    register(gauge.clone());
    Some(gauge)
});

/// Shows the metrics of commits before the first one.
pub fn show() {
    LazyLock::force(&COMMITS);
}

/// Says whether this manager has the store.
pub fn owns(is_owner: bool) {
    if let Some(owner) = &*OWNER {
        owner.set(is_owner.into());
    }
}

pub(in crate::store) fn committed(outcome: &Result<(), KvError>, took: Duration) {
    let outcome = match outcome {
        Ok(()) => DONE,
        Err(KvError::Conflict) => CONFLICT,
        Err(_) => FAILED,
    };
    if let Some(commits) = &*COMMITS {
        commits
            .with_label_values(&[outcome])
            .observe(took.as_secs_f64());
    }
}
