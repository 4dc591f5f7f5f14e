//! Sequences that once broke a rule, each found by the tester and shrunk. They are run first when something changes.

mod manifests;
mod ownership;
mod rights;
mod stops;

use anyhow::{Result, ensure};

use crate::lane;
use crate::moves::Move;
use crate::world::World;
use crate::{fresh_prefix, judged};

/// Runs the moves alone in a world of their own. A broken rule is an error with all that was done.
async fn holds(moves: impl IntoIterator<Item = Move>) -> Result<()> {
    let world = World::start().await?;
    let moves: Vec<_> = moves.into_iter().collect();
    let outcome = lane::run(&world, &fresh_prefix(), &moves).await?;
    let found = judged(&world, &outcome)?;
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    println!("{}", outcome.script);
    ensure!(found.is_empty(), "{}", found.join("\n"));
    Ok(())
}
