//! Makes a case that differs as small as it can be.

use super::compare::{self, Case, Kind};
use super::known::Known;
use super::oracle::Oracle;

/// Rounds of shrinking; each makes the case smaller by one step.
const ROUNDS: usize = 400;
/// A case that is explained and so short need not be smaller.
const SHORT: usize = 60;
/// Candidates that are tried together.
const TOGETHER: usize = 40;

/// The smallest case that differs. A case that is not explained by a known difference stays so.
pub fn shrink(kind: Kind, oracle: &mut Oracle, known: &Known, mut case: Case) -> Case {
    let is_known = |oracle: &mut Oracle, case: &Case| {
        compare::difference(kind, oracle, case).is_some_and(|found| known.rule(&found).is_some())
    };
    let was_known = is_known(oracle, &case);
    for _ in 0..ROUNDS {
        let mut candidates = case.smaller();
        let length = case.length();
        if was_known && case.source_length() <= SHORT {
            break;
        }
        candidates.retain(|candidate| candidate.length() < length);
        candidates.sort_by_key(Case::length);
        let next = candidates.chunks(TOGETHER).find_map(|candidates| {
            let cases = candidates.iter().cloned().map(|case| (0, case)).collect();
            let found = compare::different(kind, oracle, cases)
                .into_iter()
                .map(|(_, case)| case);
            let found = found.collect::<Vec<_>>();
            found
                .into_iter()
                .find(|case| was_known || !is_known(oracle, case))
        });
        match next {
            Some(next) => case = next,
            None => break,
        }
    }
    case
}
