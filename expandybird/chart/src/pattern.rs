//! Patterns of paths: what the two grammars, Go's `filepath.Match` and the one of `.Files.Glob`, have in common.
//!
//! A pattern is matched by the set of places that it may have reached, so no pattern takes exponential time.

use std::collections::BTreeSet;

/// One part of a pattern.
#[derive(Debug)]
pub enum Part {
    /// This character.
    Char(char),
    /// One character, but no `/`.
    AnyInSegment,
    /// Any characters, but no `/`.
    Segment,
    /// Any characters.
    Anything,
    /// One character in one of the ranges, or in none of them.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
        /// Whether a `/` can be in the class.
        crosses: bool,
    },
    /// One of these patterns.
    OneOf(Vec<Vec<Part>>),
}

/// Whether the pattern matches the whole path.
pub fn matches(pattern: &[Part], path: &str) -> bool {
    let path: Vec<char> = path.chars().collect();
    advance(pattern, BTreeSet::from([0]), &path).contains(&path.len())
}

/// The places after the pattern, from these places.
fn advance(pattern: &[Part], mut places: BTreeSet<usize>, path: &[char]) -> BTreeSet<usize> {
    for part in pattern {
        if places.is_empty() {
            break;
        }
        places = match part {
            Part::Anything => (places.first().copied().unwrap_or(0)..=path.len()).collect(),
            Part::Segment => segments(&places, path),
            Part::OneOf(patterns) => {
                let after = patterns
                    .iter()
                    .map(|pattern| advance(pattern, places.clone(), path));
                after.flatten().collect()
            }
            one => {
                let fits =
                    |&&place: &&usize| path.get(place).is_some_and(|&found| takes(one, found));
                places.iter().filter(fits).map(|place| place + 1).collect()
            }
        };
    }
    places
}

/// All places up to the next `/`.
fn segments(places: &BTreeSet<usize>, path: &[char]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    for &place in places {
        let rest = path.get(place..).unwrap_or_default();
        let length = rest.iter().take_while(|&&found| found != '/').count();
        reached.extend(place..=place + length);
    }
    reached
}

fn takes(part: &Part, found: char) -> bool {
    match part {
        Part::Char(wanted) => *wanted == found,
        Part::AnyInSegment => found != '/',
        Part::Class {
            negated,
            ranges,
            crosses,
        } => {
            let is_in = ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&found));
            is_in != *negated && (*crosses || found != '/')
        }
        Part::Segment | Part::Anything | Part::OneOf(_) => false,
    }
}
