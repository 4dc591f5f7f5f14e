//! Checks what is left, in which order the cluster was written to, and what callers had to bear.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::audit::{AuditLog, AuditedWrite};

use super::super::load::Outcome;
use super::super::managers::Call;
use super::disturbances::Part;
use super::parts::Fleet;

/// `wait` is the longest that a caller may wait whose manager has died, if that is judged.
pub async fn faults(
    fleet: &Fleet,
    outcome: &Outcome,
    wait: Option<Duration>,
) -> Result<Vec<String>> {
    let mut faults = outcome.faults.clone();
    faults.extend(super::super::verdict::faults(&fleet.stack, &outcome.expected).await?);
    faults.extend(outcome.calls.iter().flat_map(|call| failures(fleet, call)));
    faults.extend(
        outcome
            .calls
            .iter()
            .filter_map(|call| long_pause(call, wait?)),
    );
    let log = fleet.stack.cluster.audit_log()?;
    let mut writes = AuditLog::open(&log, false)?.more()?;
    writes.retain(|write| write.namespace == fleet.stack.namespace && write.operation().is_some());
    writes.sort_by(|one, other| one.received.cmp(&other.received));
    faults.extend(late_writes(outcome, &writes)?);
    Ok(faults)
}

/// The longest wait of all callers, for people.
pub fn waits(outcome: &Outcome) -> String {
    let longest = outcome.calls.iter().map(pause).max().unwrap_or_default();
    format!(
        "{} calls tried another manager, the longest for {:.1} s",
        outcome.calls.len(),
        longest.as_secs_f32()
    )
}

/// Tries that failed at a manager to which nothing was done.
fn failures(fleet: &Fleet, call: &Call) -> Vec<String> {
    let undisturbed = call.failed.iter().filter(|one| {
        !fleet
            .disturbances
            .cover(Part::Manager(one.manager), one.begun, one.ended)
    });
    undisturbed
        .map(|one| {
            format!(
                "a request at manager {}, to which nothing was done, failed after {:.1} s: {}",
                one.manager,
                (one.ended - one.begun).as_secs_f32(),
                one.error
            )
        })
        .collect()
}

/// From the failure of the first try to the answer.
fn pause(call: &Call) -> Duration {
    let first = call.failed.first();
    first.map_or(Duration::ZERO, |first| call.ended - first.ended)
}

fn long_pause(call: &Call, longest: Duration) -> Option<String> {
    let pause = pause(call);
    (pause > longest).then(|| {
        let seconds = pause.as_secs_f32();
        format!(
            "a caller waited {seconds:.1} s for another manager: {:?}",
            call.failed
        )
    })
}

/// Writes of an operation after the first one of the next operation of its deployment.
fn late_writes(outcome: &Outcome, writes: &[AuditedWrite]) -> Result<Vec<String>> {
    let mut places = BTreeMap::new();
    for (deployment, operations) in &outcome.history {
        for (number, operation) in operations.iter().enumerate() {
            places.insert(operation.to_string(), (deployment, number));
        }
    }
    let (mut last, mut late) = (BTreeMap::new(), Vec::new());
    for write in writes {
        let operation = write.operation().context("no operation")?;
        let Some((deployment, number)) = places.get(operation) else {
            late.push(format!("a write of an unknown operation: {write:?}"));
            continue;
        };
        let last = last.entry(deployment).or_insert(0);
        if number < last {
            late.push(format!(
                "a write of an older operation came late: {write:?}"
            ));
        }
        *last = (*last).max(*number);
    }
    Ok(late)
}
