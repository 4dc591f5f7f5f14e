//! Random templates, YAML, JSON and schemas: what the originals make of them, ours makes of them too.
//!
//! Jinja2, PyYAML and jsonschema run in one long-lived Python process ([`oracle`]). Grammars derive the cases from a
//! seed ([`tree`], [`jinja`], [`yaml`], [`schema`]); the calls in them come from the signatures that the real Jinja2
//! reports. A case with another result is shrunk and printed with its seed. `known.yaml` lists the differences that
//! stay, each with its reason; a rule that matches no difference any more fails.
//!
//! `make differ SECONDS=600 SEED=7` runs longer; `make test` runs a fixed number of cases from a fixed seed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod compare;
mod jinja;
mod known;
mod oracle;
mod ours;
mod schema;
mod shrink;
mod signatures;
mod tree;
mod yaml;

use std::time::{Duration, Instant};

use compare::Kind;
use known::Known;
use oracle::Oracle;

/// Cases that travel to the originals together.
const BATCH: usize = 100;
/// Differences to show before a run ends, unless `DM_DIFFER_SHOWN` says more.
const SHOWN: usize = 15;

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")),
    )
}

fn run(kind: Kind) {
    let seed = setting("DM_DIFFER_SEED").unwrap_or(1);
    let end =
        setting("DM_DIFFER_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut oracle = Oracle::start();
    let grammar = kind.grammar(&mut oracle);
    let known = Known::read(kind);
    let shown = setting("DM_DIFFER_SHOWN").map_or(SHOWN, |shown| usize::try_from(shown).unwrap());
    let mut differences = Vec::new();
    let mut run = 0;
    let is_over = |run: usize| end.map_or(run >= kind.cases(), |end| Instant::now() >= end);
    while !is_over(run) && differences.len() < shown {
        let seeds =
            (run..run + BATCH).map(|case| seed.wrapping_mul(1_000_003).wrapping_add(case as u64));
        let cases = seeds
            .map(|seed| (seed, grammar.derive(seed)))
            .collect::<Vec<_>>();
        for (seed, case) in compare::different(kind, &mut oracle, cases) {
            let case = shrink::shrink(kind, &mut oracle, &known, case);
            let difference =
                compare::difference(kind, &mut oracle, &case).expect("a shrunk case differs");
            if known.rule(&difference).is_none() {
                println!("case {seed}: {difference}\n");
                differences.push(seed);
            }
        }
        run += BATCH;
    }
    println!(
        "{kind:?}: {run} cases from seed {seed}, {} new differences",
        differences.len()
    );
    assert!(
        differences.is_empty(),
        "cases {differences:?} differ, see above"
    );
}

#[test]
fn templates_print_what_the_real_jinja2_prints() {
    run(Kind::Jinja);
}

#[test]
fn yaml_reads_as_the_real_pyyaml_reads_it() {
    run(Kind::Yaml);
}

#[test]
fn json_reads_as_python_reads_it() {
    run(Kind::Json);
}

#[test]
fn properties_fit_schemas_as_the_real_jsonschema_says() {
    run(Kind::Schema);
}

#[test]
fn templates_that_differed_once_print_what_jinja2_prints() {
    let list = common::yaml::read(
        include_str!("mended.yaml"),
        &common::yaml::Limits::DEFAULT,
        common::yaml::Duplicates::Error,
    );
    let list: Vec<String> = serde_json::from_value(list.unwrap().value).unwrap();
    let mut oracle = Oracle::start();
    let found: Vec<String> = list
        .iter()
        .filter_map(|text| compare::difference(Kind::Jinja, &mut oracle, &Kind::Jinja.case(text)))
        .map(|difference| difference.to_string())
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// Python breaks nothing off within one operation.
#[test]
fn what_the_original_does_not_end_is_left_out_and_the_next_case_compared() {
    let mut oracle = Oracle::start();
    let cases = ["{{ 9 ** (9 ** 9) > 1 }}", "{{ nope() }}"].map(|text| (0, Kind::Jinja.case(text)));
    assert!(compare::different(Kind::Jinja, &mut oracle, cases.to_vec()).is_empty());
}

#[test]
fn every_known_difference_is_still_one_and_has_its_line_in_the_document() {
    let mut oracle = Oracle::start();
    for kind in Kind::ALL {
        Known::read(kind).check(&mut oracle);
    }
}
