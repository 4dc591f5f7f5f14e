//! Label selectors as Kubernetes writes them: `tier=front,team!=a,app in (web, db),!old`.
//!
//! Not the crate k8s-openapi or kube: their selectors are for objects of a cluster, and this is one function.

use std::collections::BTreeMap;

/// All of its requirements must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    /// Also of what lacks the label.
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the label selector has {0:?}, which is not a requirement: write KEY=VALUE, KEY!=VALUE, KEY, !KEY, KEY in (A,B) or KEY notin (A,B)"
)]
pub struct SelectorError(String);

impl Selector {
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let parts = split(text).into_iter();
        let parts = parts.map(str::trim).filter(|part| !part.is_empty());
        parts.map(requirement).collect::<Result<_, _>>().map(Self)
    }

    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = |key: &String| labels.get(key);
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => value(key).is_some_and(|found| values.contains(found)),
            Requirement::NotIn(key, values) => {
                !value(key).is_some_and(|found| values.contains(found))
            }
            Requirement::Exists(key) => value(key).is_some(),
            Requirement::Absent(key) => value(key).is_none(),
        })
    }
}

/// At the commas that are not within parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(text: &str) -> Result<Requirement, SelectorError> {
    let refused = || SelectorError(text.chars().take(80).collect());
    let key = |key: &str| {
        let key = key.trim();
        let fits =
            !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || "()=!,".contains(c));
        fits.then(|| key.to_owned()).ok_or_else(refused)
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some((name, value)) = text.split_once("!=") {
        return Ok(Requirement::NotIn(key(name)?, one(value)));
    }
    if let Some((name, value)) = text.split_once('=') {
        let value = value.strip_prefix('=').unwrap_or(value);
        return Ok(Requirement::In(key(name)?, one(value)));
    }
    if let Some(name) = text.strip_prefix('!') {
        return Ok(Requirement::Absent(key(name)?));
    }
    let Some((name, list)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
        return Ok(Requirement::Exists(key(text)?));
    };
    let values = list
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect();
    match name.trim().rsplit_once(char::is_whitespace) {
        Some((name, "in")) => Ok(Requirement::In(key(name)?, values)),
        Some((name, "notin")) => Ok(Requirement::NotIn(key(name)?, values)),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_requirements_must_hold() {
        let labels = [("tier", "front"), ("app", "web")];
        let labels = labels
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        for (selector, expected) in [
            ("", true),
            ("tier=front", true),
            ("tier==front,app=web", true),
            ("tier=front,app=db", false),
            ("tier!=back", true),
            ("team!=a", true),
            ("app", true),
            ("team", false),
            ("!team", true),
            ("!app", false),
            ("app in (db, web),tier notin (back,middle)", true),
            ("team notin (a)", true),
            ("team in (a)", false),
        ] {
            let selector = Selector::parse(selector).unwrap();
            assert_eq!(selector.matches(&labels), expected, "{selector:?}");
        }
    }

    #[test]
    fn what_is_no_requirement_is_named() {
        for bad in ["a b", "=a", "a in b)", "a of (b)", "!", "a(b"] {
            assert!(Selector::parse(bad).is_err(), "{bad}");
        }
    }
}
