//! Counts processes that ended during a request: `dm_process_deaths_total`, by process and cause.
//!
//! It does not count processes that were ended because no client waited any more, or that were replaced.

use std::sync::LazyLock;

use common::server::observe::metrics;
use nix::sys::signal::Signal;
use prometheus::{IntCounterVec, Opts};

use crate::process::Cause;
use crate::sandbox::{Exit, HowEnded};

const EXPANSION: &str = "expansion";
const PYTHON: &str = "python";

const DEADLINE: &str = "deadline";
const MEMORY: &str = "memory";
const STACK: &str = "stack";
const PANIC: &str = "panic";
const GARBLED: &str = "garbled";
const FORBIDDEN: &str = "forbidden";
const SIGNAL: &str = "signal";
const EXIT: &str = "exit";
const LOST: &str = "lost";

/// The possible causes for each kind of process.
const SERIES: [(&str, &[&str]); 2] = [
    (
        EXPANSION,
        &[DEADLINE, MEMORY, STACK, PANIC, GARBLED, SIGNAL, EXIT, LOST],
    ),
    (PYTHON, &[DEADLINE, FORBIDDEN, GARBLED, SIGNAL, EXIT, LOST]),
];

static DEATHS: LazyLock<Option<IntCounterVec>> = LazyLock::new(|| {
    let opts = Opts::new(
        "dm_process_deaths_total",
        "Processes that ended in the middle of a request, by process and cause.",
    );
    let counter = IntCounterVec::new(opts, &["process", "cause"]).ok()?;
    for (process, causes) in SERIES {
        for cause in causes {
            counter.with_label_values(&[process, cause]);
        }
    }
    metrics::register(counter.clone());
    Some(counter)
});

/// Shows all series at zero, so that the first increase is visible.
pub fn show() {
    LazyLock::force(&DEATHS);
}

pub fn expansion(cause: Cause) {
    count(
        EXPANSION,
        match cause {
            Cause::Deadline => DEADLINE,
            Cause::Memory => MEMORY,
            Cause::Stack => STACK,
            Cause::Panic => PANIC,
            Cause::Garbled => GARBLED,
            Cause::Signal(_) => SIGNAL,
            Cause::Exit(_) => EXIT,
            Cause::Lost => LOST,
        },
    );
}

pub fn python(how: HowEnded) {
    count(
        PYTHON,
        match how {
            HowEnded::Exit(Exit::Signal(signal)) if signal == Signal::SIGSYS as i32 => FORBIDDEN,
            HowEnded::Exit(Exit::Signal(signal)) if signal == Signal::SIGXCPU as i32 => DEADLINE,
            HowEnded::Exit(Exit::Signal(_)) => SIGNAL,
            HowEnded::Exit(Exit::Code(_)) => EXIT,
            HowEnded::Lost => LOST,
            // It closed its stream and still runs.
            HowEnded::Running => GARBLED,
        },
    );
}

fn count(process: &str, cause: &str) {
    if let Some(deaths) = &*DEATHS {
        deaths.with_label_values(&[process, cause]).inc();
    }
}
