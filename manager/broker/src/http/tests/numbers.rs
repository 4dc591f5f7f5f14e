//! The conformance list numbers its checks. Each is a test with its number in its name.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The numbers of the list, by its sections.
const NUMBERS: [RangeInclusive<u16>; 11] = [
    1..=13,
    20..=27,
    30..=44,
    50..=57,
    60..=66,
    70..=81,
    90..=99,
    100..=112,
    120..=122,
    130..=137,
    140..=140,
];
const SOURCES: [&str; 10] = [
    include_str!("binding.rs"),
    include_str!("deprovision.rs"),
    include_str!("fetch.rs"),
    include_str!("poll.rs"),
    include_str!("provision.rs"),
    include_str!("transport.rs"),
    include_str!("unbind.rs"),
    include_str!("update.rs"),
    include_str!("../../catalog/tests.rs"),
    include_str!("../../service/bindings/credentials.rs"),
];

/// The numbers in the name of a test, such as `t033_to_t036_…` or `t041_t042_…`.
fn numbers(name: &str) -> Vec<u16> {
    let (mut found, mut is_range) = (Vec::new(), false);
    for part in name.split('_') {
        let number = part
            .strip_prefix('t')
            .and_then(|digits| digits.parse().ok());
        match (number, found.last().copied()) {
            (Some(number), Some(last)) if is_range => found.extend(last + 1..=number),
            (Some(number), _) => found.push(number),
            (None, _) if part != "to" => break,
            (None, _) => {}
        }
        is_range = part == "to";
    }
    found
}

#[test]
fn every_number_of_the_list_is_a_test() {
    assert_eq!(numbers("t033_to_t036_a_request"), [33, 34, 35, 36]);
    assert_eq!(numbers("t041_t042_to_be_or_not"), [41, 42]);
    let lines = SOURCES.iter().flat_map(|source| source.lines());
    let names = lines.map(|line| line.trim_start().trim_start_matches("async "));
    let names = names.filter_map(|line| line.strip_prefix("fn "));
    let tested: BTreeSet<u16> = names.flat_map(numbers).collect();
    let all: BTreeSet<u16> = NUMBERS.into_iter().flatten().collect();
    let missing: Vec<_> = all.difference(&tested).collect();
    assert!(missing.is_empty(), "no test has the numbers {missing:?}");
    let unknown: Vec<_> = tested.difference(&all).collect();
    assert!(unknown.is_empty(), "the list has no numbers {unknown:?}");
}
