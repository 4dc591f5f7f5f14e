//! Charts beside the real Helm, which a small program of Go runs.
//!
//! `tests/cases/` has charts that exercise one thing each. More are made at random: `DM_DIFFER_SEED` chooses them, and
//! `DM_DIFFER_SECONDS` makes more of them, for so long. `DM_DIFFER_CHARTS` names a folder of further charts.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod case;
mod generator;
#[path = "../../../gotemplate/tests/support/go.rs"]
mod go;
mod original;
mod ours;

use std::time::{Duration, Instant};

use case::Case;
use original::Answer;

/// Charts that are compared at once.
const BATCH: usize = 300;

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

#[test]
fn charts_written_by_hand_give_what_helm_gives() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("there is a folder of cases")
        .map(|entry| entry.expect("it is readable").path())
        .collect();
    paths.sort();
    let cases: Vec<Case> = paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("it is text");
            Case::read(&path.display().to_string(), &text)
        })
        .collect();
    assert!(cases.len() > 10);
    assert_eq!(differences(&cases), 0);
}

/// `DM_DIFFER_CHARTS` names a folder: each folder in it is a chart, compared with its defaults.
#[test]
fn charts_of_others_give_what_helm_gives() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
    let Some(folder) = std::env::var_os("DM_DIFFER_CHARTS") else {
        return;
    };
    let charts = std::fs::read_dir(folder).expect("there is a folder of charts");
    let cases: Vec<Case> = charts
        .map(|entry| Case::folder(&entry.expect("it is readable").path()))
        .collect();
    assert_eq!(differences(&cases), 0);
}

#[test]
fn random_charts_give_what_helm_gives() {
    let seed = setting("DM_DIFFER_SEED", 1);
    let time = Duration::from_secs(setting("DM_DIFFER_SECONDS", 0));
    println!("charts from DM_DIFFER_SEED={seed}");
    let mut generator = generator::Generator::new(seed);
    let (started, mut found) = (Instant::now(), 0);
    loop {
        let cases: Vec<Case> = (0..BATCH).map(|_| generator.case()).collect();
        found += differences(&cases);
        if started.elapsed() >= time {
            break;
        }
    }
    assert_eq!(found, 0);
}

/// How many cases give something else. Each of them is printed.
fn differences(cases: &[Case]) -> usize {
    let expected = original::answers(cases);
    assert_eq!(expected.len(), cases.len());
    let mut differences = 0;
    for (case, expected) in cases.iter().zip(expected) {
        let found = ours::answer(case);
        if !agree(&expected, &found) {
            differences += 1;
            print(case, &expected, &found);
        }
    }
    println!("{} charts compared", cases.len());
    differences
}

/// The same output or the same error. Errors about YAML come from different readers.
fn agree(expected: &Answer, found: &Answer) -> bool {
    let is_yaml = |answer: &Answer| answer.error.contains("YAML") || answer.error.contains("yaml:");
    match (expected.error.is_empty(), found.error.is_empty()) {
        (false, false) if is_yaml(expected) => is_yaml(found),
        (false, false) => sorted(&expected.error) == sorted(&found.error),
        (true, true) => {
            let list = |answer: &Answer| format!("{answer:?}").replace("None", "Some([])");
            list(expected) == list(found)
        }
        _ => false,
    }
}

/// Helm lists the faults of a schema in the order of Go's maps, which is random.
fn sorted(error: &str) -> Vec<&str> {
    let mut parts = vec![error];
    if error.starts_with("values don't meet") {
        parts = error.split(['\n', ',']).collect();
        parts.iter_mut().for_each(|part| {
            let word = part.rsplit("additional properties ").next();
            *part = word.unwrap_or(part).trim().trim_end_matches(" not allowed");
        });
        parts.sort_unstable();
    }
    // Helm prints the value with a verb that does not fit.
    if error.starts_with("type mismatch on ") {
        parts = error.split(':').take(1).collect();
    }
    parts
}

fn print(case: &Case, expected: &Answer, found: &Answer) {
    println!("\n==== {}\nvalues: {}", case.name, case.values);
    if case.name.starts_with("random") {
        for (path, data) in &case.files {
            println!("-- {path} --\n{}", String::from_utf8_lossy(data));
        }
    }
    let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
    for line in expected
        .lines()
        .filter(|line| !found.contains(line.trim_end_matches(',')))
    {
        println!("  Helm: {line}");
    }
    for line in found
        .lines()
        .filter(|line| !expected.contains(line.trim_end_matches(',')))
    {
        println!("  ours: {line}");
    }
}
