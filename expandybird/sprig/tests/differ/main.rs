//! Sprig's functions beside the real Sprig, which a small program of Go runs.
//!
//! Calls are made from the table of functions itself, so a new function takes part at once. `DM_DIFFER_SEED` chooses the
//! calls; `DM_DIFFER_SECONDS` makes more of them, for so long.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod certificates;
mod generator;
#[path = "../../../gotemplate/tests/support/go.rs"]
mod go;
mod original;
mod ours;

use std::time::{Duration, Instant};

use original::Answer;
use regex::Regex;

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Templates that are compared at once.
const BATCH: usize = 6000;

#[test]
fn random_calls_give_what_sprig_gives() {
    let seed = setting("DM_DIFFER_SEED", 1);
    let time = Duration::from_secs(setting("DM_DIFFER_SECONDS", 0));
    println!("templates from DM_DIFFER_SEED={seed}");
    let mut generator = generator::Generator::new(seed);
    let mut templates: Vec<String> = generator::FIXED
        .iter()
        .map(|text| (*text).to_owned())
        .collect();
    let (started, mut differences) = (Instant::now(), 0);
    loop {
        templates.extend((0..BATCH).map(|_| generator.template()));
        differences += compare(&std::mem::take(&mut templates));
        if started.elapsed() >= time {
            break;
        }
    }
    assert_eq!(differences, 0);
}

/// How many of the templates give something else. Each of them is printed.
fn compare(templates: &[String]) -> usize {
    let expected = original::answers(templates, &generator::data());
    assert_eq!(expected.len(), templates.len());
    let died = expected.iter().filter(|answer| **answer == Answer::Died);
    // A handful of maps that contain themselves, and not a program that never answers.
    assert!(
        died.count() <= templates.len() / 100,
        "the original dies too often"
    );
    let mut differences = 0;
    for (template, expected) in templates.iter().zip(expected) {
        let found = ours::answer(template);
        if !agrees(&expected, &found) {
            differences += 1;
            println!("{template}\n  Sprig: {expected:?}\n  ours:  {found:?}");
        }
    }
    differences
}

/// The same output or the same error. For bytes that are not UTF-8, Helm 4 writes the character U+FFFD into JSON, and we do,
/// too, where Sprig alone writes its escape.
fn agrees(expected: &Answer, found: &Answer) -> bool {
    match (expected, found) {
        (Answer::Output(expected), Answer::Output(found)) => {
            let escape = Regex::new(r"\\+ufffd").expect("it is an expression");
            escape.replace_all(expected, "\u{fffd}") == *found
        }
        (Answer::Error(expected), Answer::Error(found)) => expected == found,
        (Answer::Died, _) | (_, Answer::Died) => true,
        _ => false,
    }
}
