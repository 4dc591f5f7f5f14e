//! Differences that stay: `known.yaml`, checked against COMPATIBILITY.md.

use common::yaml::{Duplicates, Limits};
use regex::Regex;
use serde::Deserialize;

use super::compare::{self, Difference, Kind};
use super::oracle::Oracle;

const LIST: &str = include_str!("known.yaml");
const DOCUMENT: &str = include_str!("../../COMPATIBILITY.md");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    kind: String,
    /// What the smallest case looks like.
    pattern: String,
    /// What the original's error, or ours, looks like.
    #[serde(default)]
    message: Option<String>,
    /// A case that differs, and that the pattern matches.
    example: String,
    /// A part of the document that says so, with the reason.
    document: String,
}

pub struct Known {
    kind: Kind,
    rules: Vec<(Rule, Regex, Option<Regex>)>,
}

impl Known {
    pub fn read(kind: Kind) -> Self {
        let list = common::yaml::read(LIST, &Limits::DEFAULT, Duplicates::Error)
            .expect("known.yaml is YAML");
        let rules: Vec<Rule> =
            serde_json::from_value(list.value).expect("known.yaml is a list of rules");
        let compiled = |text: &str| Regex::new(text).unwrap_or_else(|error| panic!("{error}"));
        let rules = rules
            .into_iter()
            .filter(|rule| rule.kind == kind.name())
            .map(|rule| {
                let (pattern, message) = (
                    compiled(&rule.pattern),
                    rule.message.as_deref().map(compiled),
                );
                (rule, pattern, message)
            });
        Self {
            kind,
            rules: rules.collect(),
        }
    }

    /// The rule that explains a difference.
    pub fn rule(&self, difference: &Difference) -> Option<&Rule> {
        let shown = difference.to_string();
        let found = self.rules.iter().find(|(_, pattern, message)| {
            pattern.is_match(&difference.source)
                && message
                    .as_ref()
                    .is_none_or(|message| message.is_match(&shown))
        });
        found.map(|(rule, ..)| rule)
    }

    /// Every rule is needed, and the document has it.
    pub fn check(&self, oracle: &mut Oracle) {
        let document = words(DOCUMENT);
        for (rule, pattern, _) in &self.rules {
            let example = &rule.example;
            assert!(
                pattern.is_match(example),
                "{pattern} does not match its example {example:?}"
            );
            let difference = compare::difference(self.kind, oracle, &self.kind.case(example));
            let difference = difference
                .unwrap_or_else(|| panic!("{example:?} does not differ any more: delete its rule"));
            assert!(
                self.rule(&difference).is_some(),
                "no rule explains {difference}"
            );
            assert!(
                document.contains(&words(&rule.document)),
                "COMPATIBILITY.md does not say {:?}",
                rule.document
            );
        }
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
