//! Makes a failing sequence small: drops moves, simplifies them, and runs each smaller form again to see it fail.
//!
//! The real system has timings that no seed fixes. A form counts as failing if it breaks the same rule in one of two runs,
//! and the report says in how many of five the last one did.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::lane::{self, Outcome};
use crate::moves::Move;
use crate::moves::simplify::{shorter, simpler};
use crate::world::World;
use crate::{fresh_prefix, judged};

const TRIES: usize = 2;
const CONFIRMATIONS: usize = 5;

/// A small sequence that breaks the rule, and the last run that did.
pub struct Shrunk {
    pub moves: Vec<Move>,
    pub outcome: Outcome,
    /// How many of how many runs of it broke the rule.
    pub failed: (usize, usize),
}

/// Nothing if the sequence does not break the rule when it runs alone.
pub async fn shrink(
    world: &Arc<World>,
    moves: &[Move],
    rule: &str,
    time: Duration,
) -> Result<Option<Shrunk>> {
    let deadline = Instant::now() + time;
    let Some(mut outcome) = breaks(world, moves, rule).await? else {
        return Ok(None);
    };
    let mut moves = moves.to_vec();
    let mut size = moves.len() / 2;
    while Instant::now() < deadline {
        let forms = match size {
            0 => simpler(&moves),
            size => shorter(&moves, size),
        };
        match first_failing(world, forms, rule, deadline).await? {
            Some((smaller, seen)) => (moves, outcome) = (smaller, seen),
            None if size == 0 => break,
            None => size /= 2,
        }
    }
    let mut failed = 0;
    for _ in 0..CONFIRMATIONS {
        let again = lane::run(world, &fresh_prefix(), &moves).await?;
        if judged(world, &again)?
            .iter()
            .any(|found| found.rule == rule)
        {
            failed += 1;
            outcome = again;
        }
    }
    Ok(Some(Shrunk {
        moves,
        outcome,
        failed: (failed, CONFIRMATIONS),
    }))
}

async fn first_failing(
    world: &Arc<World>,
    forms: Vec<Vec<Move>>,
    rule: &str,
    deadline: Instant,
) -> Result<Option<(Vec<Move>, Outcome)>> {
    for form in forms {
        if Instant::now() > deadline {
            break;
        }
        if let Some(outcome) = breaks(world, &form, rule).await? {
            return Ok(Some((form, outcome)));
        }
    }
    Ok(None)
}

async fn breaks(world: &Arc<World>, moves: &[Move], rule: &str) -> Result<Option<Outcome>> {
    for _ in 0..TRIES {
        let outcome = lane::run(world, &fresh_prefix(), moves).await?;
        if judged(world, &outcome)?
            .iter()
            .any(|found| found.rule == rule)
        {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}
