//! The tester: random sequences of every write, with somebody else at work in the cluster, on the real services and a real
//! API server. It knows what must be true at every quiet point, whatever happened before.
//!
//! ```text
//! moves ──► lane ──requests──────► manager ─► resourcifier ─► API server ◄──interference── lane
//!             │                       │                           │
//!           known                   seen: deployments, operations, records, manifests, objects, audit log
//!             └──────────► check ◄────┘          a rule that is broken ─► shrink ─► script
//! ```
//!
//! | room | |
//! |---|---|
//! | `model` | what is asked for: objects, configurations, options (pure) |
//! | `moves` | the moves, their generator, their simpler forms (pure) |
//! | `check` | the rules (pure) |
//! | `world` | the services, the API server, faults, refusals |
//! | `lane` | runs one sequence, and knows what others did |
//! | `shrink` | makes a failing sequence small |
//! | `script` | what was done, as requests that a person can send again |
//! | `rows` | sequences that once failed, each a test |
//!
//! Some sequences run in every `make test`. `make sequences SEED=… MINUTES=…` runs as many as fit into the time. The
//! moves follow from SEED. Timings do not.

mod check;
mod known;
mod lane;
mod model;
mod moves;
mod rows;
mod script;
mod seen;
mod shrink;
mod world;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt as _;

use check::Violation;
use lane::Outcome;
use moves::Move;
use moves::generate::sequence;
use world::World;

/// Moves of a sequence, beside the creations at its start.
const LENGTH: usize = 12;
/// Sequences that run beside each other.
const BESIDE: usize = 3;
/// In every run of the tests.
const FIXED: std::ops::Range<u64> = 0..12;
/// For shrinking, in the tests; `make sequences` takes as long again as it ran.
const SHRINKING: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn random_writes_and_interference_break_no_rule() -> Result<()> {
    let world = World::start().await?;
    run(&world, FIXED, None, SHRINKING).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes as long as it is given: make sequences"]
async fn many_random_sequences_break_no_rule() -> Result<()> {
    let minutes = number("DM_SEQUENCES_MINUTES")?.unwrap_or(10);
    let seed = number("DM_SEQUENCES_SEED")?.unwrap_or_else(|| fastrand::u64(..1_000_000_000));
    let time = Duration::from_secs(60 * minutes);
    let world = World::start().await?;
    run(&world, seed..u64::MAX, Some(Instant::now() + time), time).await
}

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn number(variable: &str) -> Result<Option<u64>> {
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => {
            let number = text.parse();
            Ok(Some(number.with_context(|| {
                format!("{variable}={text:?} is not a number")
            })?))
        }
        _ => Ok(None),
    }
}

/// A sequence that has run.
struct Ran {
    seed: u64,
    moves: Vec<Move>,
    outcome: Outcome,
}

impl Ran {
    /// Writes what it did to a file, and gives its path.
    fn write(&self) -> Result<PathBuf> {
        let path = std::env::temp_dir().join(format!("sequence-{}.txt", self.seed));
        let text = format!("{:#?}\n{}\n", self.moves, self.outcome.script);
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

/// Runs the sequence of each seed, some beside each other, until the time is over.
async fn run(
    world: &Arc<World>,
    seeds: std::ops::Range<u64>,
    until: Option<Instant>,
    shrinking: Duration,
) -> Result<()> {
    let first = seeds.start;
    println!("sequences from DM_SEQUENCES_SEED={first}");
    // The first one runs in any case.
    let in_time = |seed: &u64| *seed == first || until.is_none_or(|until| Instant::now() < until);
    let one = |seed: u64| {
        let world = world.clone();
        async move {
            let moves = sequence(seed, LENGTH);
            let outcome = lane::run(&world, &fresh_prefix(), &moves).await;
            let outcome = outcome.with_context(|| format!("the tester failed with seed {seed}"))?;
            let ran = Ran {
                seed,
                moves,
                outcome,
            };
            if let Some(found) = ran.outcome.violations.first() {
                println!("seed {seed}: {found}; see {}", ran.write()?.display());
            }
            anyhow::Ok(ran)
        }
    };
    let running = futures::stream::iter(seeds.take_while(in_time)).map(one);
    let ended: Vec<_> = running.buffer_unordered(BESIDE).collect().await;
    let (ran, lost): (Vec<_>, Vec<_>) = ended.into_iter().partition(Result::is_ok);
    let ran: Vec<_> = ran.into_iter().flatten().collect();
    for error in lost.iter().filter_map(|lost| lost.as_ref().err()) {
        println!("{error:#}");
    }
    println!(
        "{} sequences, {} moves",
        ran.len(),
        ran.iter().map(|one| one.moves.len()).sum::<usize>()
    );
    let mut failed = Vec::new();
    for one in &ran {
        if let Some(worst) = judged(world, &one.outcome)?.into_iter().next() {
            failed.push((one, worst));
        }
    }
    let Some((one, worst)) = failed.first() else {
        ensure!(lost.is_empty(), "the tester failed {} times", lost.len());
        return Ok(());
    };
    let seeds: Vec<_> = failed
        .iter()
        .map(|(one, worst)| format!("seed {}: {worst}", one.seed))
        .collect();
    let report = report(world, one, worst, shrinking).await?;
    bail!(
        "{} of {} sequences broke a rule:\n{}\n\n{report}",
        failed.len(),
        ran.len(),
        seeds.join("\n")
    )
}

/// The rules that a sequence broke, with calls that came after its end.
fn judged(world: &World, outcome: &Outcome) -> Result<Vec<Violation>> {
    let mut found = outcome.violations.clone();
    let late = outcome.late_calls(world)?;
    found.extend(
        late.into_iter()
            .filter(|late| !outcome.violations.contains(late)),
    );
    Ok(found)
}

async fn report(
    world: &Arc<World>,
    one: &Ran,
    worst: &Violation,
    shrinking: Duration,
) -> Result<String> {
    let seed = one.seed;
    let Some(small) = shrink::shrink(world, &one.moves, worst.rule, shrinking).await? else {
        return Ok(format!(
            "The sequence of seed {seed} breaks no rule when it runs alone. What it did:\n{}",
            one.outcome.script
        ));
    };
    let found: Vec<_> = judged(world, &small.outcome)?
        .iter()
        .map(ToString::to_string)
        .collect();
    Ok(format!(
        "Shrunk from seed {seed}; it failed in {} of {} runs:\n{:#?}\nWhat it did (DM is the manager's address):\n{}\n{}",
        small.failed.0,
        small.failed.1,
        small.moves,
        small.outcome.script,
        found.join("\n")
    ))
}

/// No two runs in one process share a name.
fn fresh_prefix() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("q{}", COUNT.fetch_add(1, Ordering::SeqCst))
}
