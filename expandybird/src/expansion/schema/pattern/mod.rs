//! Patterns of schemas: translates Python's `re` to the syntax of the validator.
//!
//! Responsible for the meaning of a pattern. The validator limits how long matching may take. A feature without a
//! translation is an error that names it: atomic groups, possessive repetition, conditions and names of characters.

mod escape;
mod flags;
mod parse;
mod set;
mod tree;
mod write;

/// Characters of a pattern. Its translation may be a hundred times as long.
const CHARACTERS: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (before position {at})")]
pub struct PatternError {
    pub problem: Problem,
    /// The position in characters, from 0.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("a ) closes nothing")]
    Unbalanced,
    #[error("a ( is not closed")]
    Unterminated,
    #[error("a [ is not closed")]
    UnterminatedSet,
    #[error("a backslash and what follows it mean nothing")]
    Escape,
    #[error("a range in [ ] has no characters at its ends, or they are in the wrong order")]
    Range,
    #[error("there is nothing to repeat")]
    NothingToRepeat,
    #[error("what is repeated already is repeated again; put brackets around it")]
    MultipleRepeat,
    #[error("a number of repetitions is too large, or the least is more than the most")]
    Repeats,
    #[error("what follows (? means nothing")]
    Extension,
    #[error("the flags are unknown or contradict each other")]
    Flags,
    #[error("flags of the whole pattern must stand at its start")]
    LateFlags,
    #[error("a group's name is already used, or is not a name")]
    GroupName,
    #[error("there is no such group")]
    UnknownGroup,
    #[error("a group cannot refer to itself")]
    OpenGroup,
    #[error("it has too many groups within groups")]
    TooDeep,
    #[error("it has more than {CHARACTERS} characters")]
    TooLong,
    #[error("{0} is not supported")]
    Unsupported(&'static str),
}

/// In the common syntax of ECMA and the regex engine.
pub fn translate(pattern: &str) -> Result<String, PatternError> {
    if pattern.chars().nth(CHARACTERS).is_some() {
        return Err(PatternError {
            problem: Problem::TooLong,
            at: CHARACTERS,
        });
    }
    parse::parse(pattern).map(|pattern| write::write(&pattern))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::expansion::schema::matcher;

    /// Results of Python's `re`, from `facts.py`.
    const FACTS: &str = include_str!("../../../../tests/patterns/facts.json");
    /// Valid in Python, and rejected here.
    const UNSUPPORTED: [&str; 5] = [r"\N{DIGIT ONE}", "a*+", "a++", "(?>a)b", "(a)?(?(1)b|c)"];

    #[derive(Deserialize)]
    struct Facts {
        texts: Vec<String>,
        facts: Vec<Fact>,
    }

    #[derive(Deserialize)]
    struct Fact {
        pattern: String,
        /// Matching positions in texts. `None` if Python rejects the pattern.
        found: Option<Vec<usize>>,
    }

    fn found(pattern: &str, texts: &[String]) -> Option<Vec<usize>> {
        let validator = matcher(&translate(pattern).ok()?)?;
        let texts = texts.iter().enumerate();
        let found = texts.filter(|(_, text)| validator.is_valid(&json!(text)));
        Some(found.map(|(index, _)| index).collect())
    }

    #[test]
    fn patterns_find_what_python_finds() {
        let facts: Facts = serde_json::from_str(FACTS).unwrap();
        let mut failures = Vec::new();
        for fact in &facts.facts {
            let found = found(&fact.pattern, &facts.texts);
            let is_unsupported = UNSUPPORTED.contains(&fact.pattern.as_str());
            if (found == fact.found) == is_unsupported || is_unsupported && found.is_some() {
                let (pattern, expected) = (&fact.pattern, &fact.found);
                let written = translate(pattern);
                failures.push(format!("{pattern}: {expected:?}\n  {found:?} {written:?}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn what_cannot_be_said_is_named() {
        for (pattern, named) in [
            ("(?>a)", "(?>…)"),
            ("a++", "possessive"),
            ("(a", "not closed"),
            (r"a\q", "backslash"),
            ("a(?i)", "start"),
            (&"(".repeat(60), "too many groups"),
            (&"a".repeat(10_001), "10000"),
        ] {
            let error = translate(pattern).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    /// The parts of generated patterns.
    fn pattern() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "^",
            "$",
            "|",
            "*",
            "+",
            "?",
            ".",
            "-",
            ",",
            "\\",
            "(?",
            "(?P<",
            "(?P=",
            "(?:",
            "(?=",
            "(?!",
            "(?<=",
            "(?<!",
            "(?#",
            "(?i)",
            "(?x)",
            "(?a-i:",
            ">",
            "<",
            "a",
            "b",
            "Z",
            "0",
            "1",
            "7",
            "9",
            "\\1",
            "\\d",
            "\\W",
            "\\S",
            "\\b",
            "\\x4",
            "\\u00e",
            "\\U0010ffff",
            "\\Z",
            "é",
            "\u{1f600}",
            " ",
            "\n",
            "#",
            "&&",
            "--",
            "{2,",
            "{99999999999}",
        ]);
        prop_oneof![
            9 => prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat()),
            1 => any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

        #[test]
        fn translating_ends_without_a_panic_and_is_valid_whatever_the_pattern(pattern in pattern()) {
            if let Ok(written) = translate(&pattern) {
                let is_valid = matcher(&written).is_some();
                // Only the limits of the engine and look-behinds of variable length are rejected.
                prop_assert!(is_valid || pattern.contains("(?<") || pattern.contains('{'), "{written}");
            }
        }
    }
}
