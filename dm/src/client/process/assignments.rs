//! The values and labels that the command line gives for a Template.

use std::collections::BTreeSet;

use crate::error::Failure;

/// Names and values, in the order of the command line.
pub type Assignments = Vec<(String, String)>;

/// Reads `NAME=VALUE`, each name once.
///
/// # Errors
/// An assignment is malformed, or a name occurs twice.
pub fn parse(texts: &[String]) -> Result<Assignments, Failure> {
    let mut found = Assignments::new();
    let mut repeated = BTreeSet::new();
    for text in texts {
        let parts = text.split_once('=').filter(|(name, _)| is_name(name));
        let Some((name, value)) = parts else {
            return Err(Failure::usage(format!(
                "invalid parameter assignment in {text:?}; write NAME=VALUE"
            )));
        };
        if found.iter().any(|(other, _)| other == name) {
            repeated.insert(name);
        }
        found.push((name.to_owned(), value.to_owned()));
    }
    if repeated.is_empty() {
        return Ok(found);
    }
    let repeated: Vec<_> = repeated.into_iter().collect();
    Err(Failure::usage(format!(
        "the following parameters were provided more than once: {}",
        repeated.join(", ")
    )))
}

/// A parameter's name is that of an environment variable.
fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_first) && bytes.all(|byte| is_first(byte) || byte.is_ascii_digit())
}

/// Whether a value looks as if a comma should separate parameters: `b,c=d`.
pub fn has_assignments(value: &str) -> bool {
    let mut others = value.split(',').skip(1);
    others.any(|part| part.split_once('=').is_some_and(|(name, _)| is_name(name)))
}

/// Reads `a=b,c=d`.
///
/// # Errors
/// A label is malformed.
pub fn labels(text: &str) -> Result<Assignments, Failure> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    let label = |part: &str| match part.split_once('=') {
        Some(("", _)) => Err(Failure::usage("unexpected empty label key")),
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(Failure::usage(format!("unexpected label spec: {part}"))),
    };
    parts.map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn an_assignment_is_split_at_its_first_equals_sign() {
        let found = parse(&texts(&["A=b=c,d=e", "B="])).unwrap();
        let expected = [("A", "b=c,d=e"), ("B", "")];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn a_malformed_or_repeated_assignment_is_refused() {
        for (given, message) in [
            (
                &["1A=x"][..],
                "invalid parameter assignment in \"1A=x\"; write NAME=VALUE",
            ),
            (
                &["A"],
                "invalid parameter assignment in \"A\"; write NAME=VALUE",
            ),
            (
                &["B=1", "A=1", "B=2", "A=2"],
                "the following parameters were provided more than once: A, B",
            ),
        ] {
            let refused = parse(&texts(given)).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
    }

    #[test]
    fn labels_are_a_list_of_keys_and_values() {
        assert_eq!(labels("a=b,c=").unwrap().len(), 2);
        assert!(labels("").unwrap().is_empty());
        for (text, message) in [
            ("x", "unexpected label spec: x"),
            ("=x", "unexpected empty label key"),
        ] {
            assert_eq!(labels(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_value_with_further_assignments_is_noticed() {
        for (value, expected) in [
            ("b,c=d", true),
            ("b,c", false),
            ("a=b", false),
            ("b,1=d", false),
        ] {
            assert_eq!(has_assignments(value), expected, "{value}");
        }
    }
}
