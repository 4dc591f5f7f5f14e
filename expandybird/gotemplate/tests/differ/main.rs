//! Random templates: what Go's own `text/template` makes of them, ours makes of them too, errors included.
//!
//! Go's package runs in one long-lived process ([`oracle`]). A grammar derives the cases from a seed ([`grammar`]). A
//! case with another result is shrunk and printed with its seed.
//!
//! `make differ SECONDS=600 SEED=7` runs longer; `make test` runs a fixed number of cases from a fixed seed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod case;
mod format_string;
mod functions;
#[path = "../support/go.rs"]
mod go;
mod grammar;
mod oracle;
mod shrink;
mod typed;

use std::time::{Duration, Instant};

use case::{Answer, Case};
use oracle::Oracle;

/// Cases in every test run.
const CASES: u64 = 5_000;
/// Differences to show before a run ends.
const SHOWN: usize = 10;

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")),
    )
}

/// Whether ours does what Go does; prints the case if not.
fn is_same(oracle: &mut Oracle, case: Case) -> bool {
    if !differs(oracle, &case) {
        return true;
    }
    let case = shrink::shrink(oracle, case);
    let (go, ours) = (oracle.answer(&case), case.answer());
    println!("{case}\n  Go:   {go:?}\n  ours: {ours:?}\n");
    false
}

fn differs(oracle: &mut Oracle, case: &Case) -> bool {
    let ours = case.answer();
    ours.is_some_and(|ours| {
        let go = oracle.answer(case);
        ours != go && !is_cut(&go, &ours)
    })
}

/// Bytes of a value in our error texts, behind which `...` stands for the rest.
const SHOWN_BYTES: usize = 1024;

/// Whether both are errors that differ in nothing but the cut of a long value.
fn is_cut(go: &Answer, ours: &Answer) -> bool {
    let (Err(go), Err(ours)) = (go, ours) else {
        return false;
    };
    let Some((start, end)) = ours.split_once("...") else {
        return false;
    };
    start.len() >= SHOWN_BYTES
        && go.len() > ours.len()
        && go.starts_with(start)
        && go.ends_with(end)
}

/// Some templates nest deeper than the small stack of a test's thread bears without optimisation.
const STACK: usize = 16 << 20;

#[test]
fn random_templates_give_what_they_give_in_go() {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(compare_random).unwrap().join().unwrap();
}

fn compare_random() {
    let seed = setting("DM_DIFFER_SEED").unwrap_or(1);
    let end =
        setting("DM_DIFFER_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut oracle = Oracle::start();
    let (mut run, mut different) = (0, Vec::new());
    let is_over = |run| end.map_or(run >= CASES, |end| Instant::now() >= end);
    while !is_over(run) && different.len() < SHOWN {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(run);
        if !is_same(&mut oracle, grammar::derive(case_seed)) {
            different.push(case_seed);
        }
        run += 1;
    }
    println!("{run} cases from seed {seed}");
    assert!(
        different.is_empty(),
        "cases {different:?} differ, see above"
    );
}

#[test]
fn templates_of_each_theme_give_what_they_give_in_go() {
    let mut oracle = Oracle::start();
    let lines = include_str!("themes.txt").lines();
    let templates = lines.filter(|line| !line.is_empty() && !line.starts_with("# "));
    let mut different = Vec::new();
    for template in templates {
        for missing_key in ["default", "zero", "error"] {
            let case = Case::of(&template.replace("␤", "\n"), missing_key);
            if !is_same(&mut oracle, case) {
                different.push(template);
            }
        }
    }
    assert!(different.is_empty(), "{different:#?} differ, see above");
}
