//! Chaos: every process is killed at random instants under a mixed load, and nothing of it may be seen afterwards.
//!
//! ```text
//! saboteur ──kill -9, start again──► manager, expandybird, resourcifier, its kubectl
//! load     ──create, update, rollback, delete──► manager      (knows what each deployment must come to)
//! verdict  ──compares──► operations, deployments, objects in the cluster, the store
//! ```
//!
//! The actions, their targets and their times follow from a random seed, which a failure prints: `DM_CHAOS_SEED`
//! repeats it, as far as the timing of the machine allows. `DM_CHAOS_KILLS` is the number of kills of `make chaos`.

mod fleet;
mod load;
mod managers;
mod saboteur;
mod verdict;

use anyhow::{Context, Result, ensure};
use common::client::ManagerClient;
use e2e::Stack;
use tokio::sync::watch;

use load::Load;
use saboteur::Saboteur;

/// In every run of the tests, at the same instants in each.
const FEW: usize = 10;
const FIXED: u64 = 7;
/// In `make chaos`.
const MANY: usize = 300;

#[tokio::test]
async fn no_kill_of_a_process_changes_how_operations_end() -> Result<()> {
    run(FEW, number("DM_CHAOS_SEED")?.unwrap_or(FIXED)).await
}

#[tokio::test]
#[ignore = "takes many minutes: make chaos"]
async fn hundreds_of_kills_change_nothing_either() -> Result<()> {
    let kills = number("DM_CHAOS_KILLS")?.map_or(Ok(MANY), usize::try_from)?;
    let seed = number("DM_CHAOS_SEED")?.unwrap_or_else(|| fastrand::u64(..));
    run(kills, seed).await
}

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn number(variable: &str) -> Result<Option<u64>> {
    match std::env::var(variable) {
        Ok(text) => {
            Ok(Some(text.parse().with_context(|| {
                format!("{variable}={text:?} is not a number")
            })?))
        }
        Err(_) => Ok(None),
    }
}

async fn run(kills: usize, seed: u64) -> Result<()> {
    println!("chaos: {kills} kills, DM_CHAOS_SEED={seed}");
    let mut stack = Stack::start().await?;
    let client = ManagerClient::new(&stack.manager.url())?;
    let (stop, stopped) = watch::channel(false);
    let load = Load::new(vec![client], &stack.namespace, seed, stopped);
    let mut saboteur = Saboteur::new(&mut stack, seed);
    let sabotage = async {
        let done = saboteur.kill(kills).await;
        let _ = stop.send(true);
        done
    };
    let (sabotaged, outcome) = tokio::join!(sabotage, load.run());
    let log = saboteur.into_log();
    sabotaged?;
    let mut faults = outcome.faults;
    stack.ready().await?;
    faults.extend(verdict::faults(&stack, &outcome.expected).await?);
    println!(
        "chaos: {kills} kills, {} operations, {} deployments at the end",
        outcome.operations,
        outcome.expected.len()
    );
    ensure!(
        faults.is_empty(),
        "{} faults with DM_CHAOS_SEED={seed}:\n{}\nkills:\n{}",
        faults.len(),
        faults.join("\n"),
        log.join("\n")
    );
    Ok(())
}
