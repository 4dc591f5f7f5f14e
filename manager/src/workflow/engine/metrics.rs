//! Metrics of operations: how many wait and run, how old the oldest one is, and how they ended.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use common::model::{Operation, OperationId, OperationType};
use common::server::observe::metrics::register;
use jiff::Timestamp;
use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts};

const WAITING: &str = "waiting";
const RUNNING: &str = "running";
/// The code of an operation that did not fail.
const NONE: &str = "none";

static METRICS: LazyLock<Option<Metrics>> = LazyLock::new(|| Metrics::new().ok());

struct Metrics {
    unfinished: IntGaugeVec,
    oldest: IntGauge,
    ended: IntCounterVec,
    starts: Mutex<BTreeSet<(Timestamp, OperationId)>>,
}

impl Metrics {
    fn new() -> prometheus::Result<Self> {
        let unfinished = Opts::new(
            "dm_operations",
            "Operations that have not ended, by state: waiting for one of the places (--operations-at-once), or running.",
        );
        let ended = Opts::new(
            "dm_operations_ended_total",
            "Operations that have ended since the start of the process, by type and error code (none: without an error).",
        );
        let metrics = Self {
            unfinished: IntGaugeVec::new(unfinished, &["state"])?,
            oldest: IntGauge::new(
                "dm_oldest_operation_start_time_seconds",
                "When the oldest operation that has not ended was accepted, as Unix time. 0: every operation has ended.",
            )?,
            ended: IntCounterVec::new(ended, &["type", "code"])?,
            starts: Mutex::default(),
        };
        for state in [WAITING, RUNNING] {
            metrics.unfinished.with_label_values(&[state]);
        }
        for shown in [
            OperationType::Create,
            OperationType::Update,
            OperationType::Delete,
        ] {
            metrics.ended.with_label_values(&[shown.name(), NONE]);
        }
        register(metrics.unfinished.clone());
        register(metrics.oldest.clone());
        register(metrics.ended.clone());
        Ok(metrics)
    }

    fn starts(&self) -> MutexGuard<'_, BTreeSet<(Timestamp, OperationId)>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show_oldest(&self, starts: &BTreeSet<(Timestamp, OperationId)>) {
        let oldest = starts.first().map_or(0, |(start, _)| start.as_second());
        self.oldest.set(oldest);
    }
}

/// Shows all metrics before the first operation.
pub fn show() {
    LazyLock::force(&METRICS);
}

/// An operation is counted as long as this lives.
pub struct Unfinished {
    key: (Timestamp, OperationId),
    state: &'static str,
}

impl Unfinished {
    pub fn new(operation: &Operation) -> Self {
        let key = (operation.start_time, operation.id.clone());
        if let Some(metrics) = &*METRICS {
            metrics.unfinished.with_label_values(&[WAITING]).inc();
            let mut starts = metrics.starts();
            starts.insert(key.clone());
            metrics.show_oldest(&starts);
        }
        Self {
            key,
            state: WAITING,
        }
    }

    pub fn runs(&mut self) {
        if let Some(metrics) = &*METRICS {
            metrics.unfinished.with_label_values(&[self.state]).dec();
            metrics.unfinished.with_label_values(&[RUNNING]).inc();
        }
        self.state = RUNNING;
    }

    pub fn ended(self, operation: &Operation) {
        if let Some(metrics) = &*METRICS {
            let code = operation
                .error
                .as_ref()
                .map_or(NONE, |error| error.code.as_str());
            let labels = [operation.operation_type.name(), code];
            metrics.ended.with_label_values(&labels).inc();
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(metrics) = &*METRICS {
            metrics.unfinished.with_label_values(&[self.state]).dec();
            let mut starts = metrics.starts();
            starts.remove(&self.key);
            metrics.show_oldest(&starts);
        }
    }
}
