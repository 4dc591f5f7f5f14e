//! Chaos with several managers on one store: processes are killed and paused, and ways between any two are cut.
//!
//! ```text
//! saboteur ──kill -9, SIGSTOP, clocks──► three managers        gates: manager ─► each member, expandybird, resourcifier
//! saboteur ──kill -9, SIGSTOP──► three members of etcd                others ─► manager, member ─► member,
//! load     ──writes, at any manager──► managers                       resourcifier ─► API server
//! verdict  ──compares──► operations, objects, the store, the order of writes, the waits of callers
//! ```
//!
//! One saboteur disturbs managers and their ways, and another one the members: never two members at once, for two of
//! three are needed. The faults follow from a random seed, which is printed: `DM_CHAOS_SEED` repeats it, as far as the
//! timing of the machine allows. `DM_CHAOS_FAULTS` is the number of faults of `make chaos-cluster`.

mod clock;
mod disturbances;
mod drain;
mod fault;
mod handover;
#[expect(clippy::unwrap_used, reason = "the store's own tests have it")]
#[path = "../../../../../manager/tests/etcd_members/mod.rs"]
mod members;
mod parts;
mod reads;
mod saboteur;
mod takeover;
mod traced;
mod upgrade;
mod verdict;

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::sync::watch;

use super::load::{Load, Outcome};
use super::managers::ANSWER;
use super::number;
use parts::Fleet;

/// In every run of the tests, at the same instants in each.
const FEW: usize = 10;
const FIXED: u64 = 3;
/// In `make chaos-cluster`.
const MANY: usize = 300;
/// How much is done, and what callers may have to bear.
struct Extent {
    faults: usize,
    /// Seconds of the longest pause of a manager.
    longest: u64,
    /// A user asks another manager after so long without an answer.
    answer: Duration,
    /// The longest wait of a caller whose manager has died. None where other tests keep the machine busy.
    wait: Option<Duration>,
}

#[tokio::test(flavor = "multi_thread")]
async fn no_fault_of_three_managers_on_etcd_changes_how_operations_end() -> Result<()> {
    let seed = number("DM_CHAOS_SEED")?.unwrap_or(FIXED);
    let extent = Extent {
        faults: FEW,
        longest: 12,
        // Longer than a manager waits for the one that has the store.
        answer: Duration::from_secs(45),
        wait: None,
    };
    run(&extent, seed).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes the better part of an hour: make chaos-cluster"]
async fn hundreds_of_faults_change_nothing_either() -> Result<()> {
    let faults = number("DM_CHAOS_FAULTS")?.map_or(Ok(MANY), usize::try_from)?;
    let seed = number("DM_CHAOS_SEED")?.unwrap_or_else(|| fastrand::u64(..));
    let extent = Extent {
        faults,
        longest: 60,
        answer: ANSWER,
        wait: Some(Duration::from_secs(15)),
    };
    run(&extent, seed).await
}

async fn run(extent: &Extent, seed: u64) -> Result<()> {
    let faults = extent.faults;
    println!("chaos of a fleet: {faults} faults, DM_CHAOS_SEED={seed}");
    let fleet = Fleet::start().await?;
    let (outcome, log) = disturbed(&fleet, extent, seed).await?;
    let found = verdict::faults(&fleet, &outcome, extent.wait).await?;
    println!(
        "chaos of a fleet: {faults} faults, {} operations, {} deployments at the end, {}",
        outcome.operations,
        outcome.expected.len(),
        verdict::waits(&outcome)
    );
    ensure!(
        found.is_empty(),
        "{} faults with DM_CHAOS_SEED={seed}:\n{}\nwhat was done:\n{}\n{}",
        found.len(),
        found.join("\n"),
        log.join("\n"),
        fleet.logs()
    );
    Ok(())
}

/// The load while the fleet is disturbed, and what was done to it.
async fn disturbed(fleet: &Fleet, extent: &Extent, seed: u64) -> Result<(Outcome, Vec<String>)> {
    let (stop, stopped) = watch::channel(false);
    let load = Load::new(fleet.clients()?, &fleet.stack.namespace, seed, stopped);
    let load = load.with_answer(extent.answer);
    let sabotage = async {
        let log = saboteur::disturb(fleet, extent.faults, seed, extent.longest).await;
        let healed = fleet.heal().await;
        let _ = stop.send(true);
        log.and_then(|log| healed.map(|()| log))
    };
    let work = async { tokio::join!(sabotage, load.run()) };
    let (log, outcome) = tokio::select! {
        done = work => done,
        error = fleet.supervise(extent.wait.is_none()) => return Err(error),
        never = fleet.disturbances.watch_machine() => match never {},
    };
    Ok((outcome, log?))
}
