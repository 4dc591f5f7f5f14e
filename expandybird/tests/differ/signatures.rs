//! What the real Jinja2 and Python's types let a template call, by introspection.

use std::collections::BTreeMap;

use expandybird::engine::jinja;
use serde::Deserialize;
use serde_json::Value;

use super::oracle::Oracle;

/// Filters, tests, globals, and methods by type, each by name.
pub type Signatures = BTreeMap<String, BTreeMap<String, Signature>>;

#[derive(Debug, Clone, Deserialize)]
pub struct Signature {
    pub parameters: Vec<Parameter>,
    /// Its result prints as an address and can be looked at once only.
    pub generator: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterKind,
    /// As Python writes it.
    pub default: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ParameterKind {
    PositionalOnly,
    PositionalOrKeyword,
    KeywordOnly,
    VarPositional,
    VarKeyword,
}

/// What the originals have and ours does not, on purpose: COMPATIBILITY.md says why.
pub const MISSING: &[(&str, &[&str])] = &[
    ("filters", &["urlize"]),
    ("str", &["encode", "maketrans", "translate"]),
    (
        "int",
        &[
            "as_integer_ratio",
            "bit_count",
            "bit_length",
            "conjugate",
            "from_bytes",
            "to_bytes",
        ],
    ),
    (
        "float",
        &[
            "as_integer_ratio",
            "conjugate",
            "fromhex",
            "hex",
            "is_integer",
        ],
    ),
];

/// All that the originals report.
pub fn read_all(oracle: &mut Oracle) -> Signatures {
    oracle.ask::<Signatures>("signatures", &[] as &[Value])
}

/// What is to be compared: without what is missing here on purpose.
pub fn read(oracle: &mut Oracle) -> Signatures {
    let mut signatures = read_all(oracle);
    for (group, names) in MISSING {
        if let Some(group) = signatures.get_mut(*group) {
            group.retain(|name, _| !names.contains(&name.as_str()));
        }
    }
    signatures
}

#[test]
fn every_callable_of_the_originals_is_here_with_its_parameters() {
    let mut oracle = Oracle::start();
    let originals = read(&mut oracle);
    let ours: BTreeMap<&str, BTreeMap<&str, &str>> = jinja::callables()
        .into_iter()
        .map(|(group, rows)| (group, rows.into_iter().collect()))
        .collect();
    let mut faults = Vec::new();
    for (group, functions) in &originals {
        for (name, original) in functions {
            let own = ours
                .get(group.as_str())
                .and_then(|rows| rows.get(name.as_str()));
            match own {
                None => faults.push(format!("{group}: {name} is missing")),
                // The original does not say which parameters it has.
                Some(_) if original.is_opaque() => {}
                Some(own) if own_parameters(own) != original.shown() => {
                    faults.push(format!(
                        "{group}: {name}({own}), and the original has {:?}",
                        original.shown()
                    ));
                }
                Some(_) => {}
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

impl Signature {
    fn is_opaque(&self) -> bool {
        self.parameters.iter().any(|parameter| {
            parameter.kind == ParameterKind::VarPositional && parameter.name == "args"
        }) && self
            .parameters
            .first()
            .is_some_and(|parameter| parameter.name == "self")
    }

    /// Name, kind and whether it must be given. The name of one that can be given by place alone does not matter.
    fn shown(&self) -> Vec<(String, ParameterKind, bool)> {
        let shown = self.parameters.iter().map(|parameter| {
            let is_required = parameter.default.is_none()
                && !matches!(
                    parameter.kind,
                    ParameterKind::VarPositional | ParameterKind::VarKeyword
                );
            (
                unnamed(&parameter.name, parameter.kind),
                parameter.kind,
                is_required,
            )
        });
        shown.collect()
    }
}

fn unnamed(name: &str, kind: ParameterKind) -> String {
    match kind {
        ParameterKind::PositionalOnly => String::new(),
        _ => name.to_owned(),
    }
}

/// The parameters of a row of ours, in the same form.
fn own_parameters(signature: &str) -> Vec<(String, ParameterKind, bool)> {
    let mut kind = ParameterKind::PositionalOrKeyword;
    let mut parameters: Vec<(String, ParameterKind, bool)> = Vec::new();
    for part in signature.split(", ").filter(|part| !part.is_empty()) {
        let name = part.split('=').next().unwrap().trim_start_matches('*');
        match part {
            "/" => {
                for (name, kind, _) in &mut parameters {
                    (*name, *kind) = (String::new(), ParameterKind::PositionalOnly);
                }
            }
            "*" => kind = ParameterKind::KeywordOnly,
            _ if part.starts_with("**") => {
                parameters.push((name.to_owned(), ParameterKind::VarKeyword, false))
            }
            _ if part.starts_with('*') => {
                parameters.push((name.to_owned(), ParameterKind::VarPositional, false))
            }
            _ => parameters.push((name.to_owned(), kind, !part.contains('='))),
        }
    }
    parameters
}
