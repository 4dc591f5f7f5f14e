//! Asks both sides, and says where they differ.

use std::fmt;

use serde_json::{Value, json};

use super::oracle::{Answer, Oracle};
use super::tree::Node;
use super::{jinja, ours, schema, signatures, yaml};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Jinja,
    Yaml,
    Json,
    Schema,
}

/// Texts by name; the first one is the case itself.
#[derive(Debug, Clone)]
pub struct Case(pub Vec<(&'static str, Node)>);

pub trait Grammar {
    fn derive(&self, seed: u64) -> Case;
}

impl Case {
    pub fn length(&self) -> usize {
        self.0.iter().map(|(_, node)| node.to_string().len()).sum()
    }

    /// Of the text that is the case itself.
    pub fn source_length(&self) -> usize {
        self.0[0].1.to_string().len()
    }

    pub fn smaller(&self) -> Vec<Self> {
        let mut found = Vec::new();
        for (index, (name, node)) in self.0.iter().enumerate() {
            for smaller in node.smaller() {
                let mut texts = self.0.clone();
                texts[index] = (*name, smaller);
                found.push(Self(texts));
            }
        }
        found
    }

    fn text(&self, name: &str) -> String {
        let found = self.0.iter().find(|(own, _)| *own == name);
        found.map(|(_, node)| node.to_string()).unwrap_or_default()
    }
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Jinja, Self::Yaml, Self::Json, Self::Schema];

    pub fn name(self) -> &'static str {
        match self {
            Self::Jinja => "jinja",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Schema => "schema",
        }
    }

    /// How many `make test` runs: a few seconds' worth.
    pub fn cases(self) -> usize {
        match self {
            Self::Jinja | Self::Yaml => 1500,
            Self::Json => 500,
            Self::Schema => 300,
        }
    }

    pub fn grammar(self, oracle: &mut Oracle) -> Box<dyn Grammar> {
        match self {
            Self::Jinja => Box::new(jinja::Templates::new(signatures::read(oracle))),
            Self::Yaml => Box::new(yaml::Documents),
            Self::Json => Box::new(yaml::Json),
            Self::Schema => Box::new(schema::Schemas),
        }
    }

    /// The case with the text alone, as the list of known differences has it.
    pub fn case(self, text: &str) -> Case {
        let mut case = match self {
            Self::Jinja => jinja::files(),
            Self::Yaml | Self::Json | Self::Schema => Case(vec![("t.jinja", Node::text(""))]),
        };
        match (self, text.split_once("\n---\n")) {
            (Self::Schema, Some((schema, properties))) => {
                case = Case(vec![
                    ("schema", Node::text(schema)),
                    ("properties", Node::text(properties)),
                ]);
            }
            _ => case.0[0].1 = Node::text(text),
        }
        case
    }

    fn request(self, case: &Case) -> Value {
        match self {
            Self::Jinja => {
                let files = case
                    .0
                    .iter()
                    .map(|(name, node)| ((*name).to_owned(), Value::from(node.to_string())));
                json!({ "files": Value::Object(files.collect()), "env": jinja::env(), "properties": jinja::properties() })
            }
            Self::Yaml | Self::Json => json!({ "text": case.0[0].1.to_string() }),
            Self::Schema => {
                let value =
                    |name| serde_json::from_str::<Value>(&case.text(name)).unwrap_or_default();
                json!({ "schema": value("schema"), "properties": value("properties") })
            }
        }
    }
}

/// One case with two results.
#[derive(Debug)]
pub struct Difference {
    pub source: String,
    pub original: Answer,
    pub ours: Answer,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            original,
            ours,
        } = self;
        let shown = |answer: &Answer| match answer {
            Answer::Ok(value) => format!("ok    {value}"),
            Answer::Error(message) => format!("error {message}"),
            Answer::Skip(reason) => format!("skip  {reason}"),
        };
        write!(
            f,
            "{source}\n    source:   {source:?}\n    original: {}\n    ours:     {}",
            shown(original),
            shown(ours)
        )
    }
}

/// Those of the cases that differ.
pub fn different(kind: Kind, oracle: &mut Oracle, cases: Vec<(u64, Case)>) -> Vec<(u64, Case)> {
    let requests: Vec<Value> = cases.iter().map(|(_, case)| kind.request(case)).collect();
    let answers: Vec<Answer> = oracle.ask(kind.name(), &requests);
    let pairs = cases.into_iter().zip(requests.iter().zip(&answers));
    let found =
        pairs.filter(|(_, (request, answer))| !is_same(answer, &ours::answer(kind, request)));
    found.map(|(case, _)| case).collect()
}

pub fn difference(kind: Kind, oracle: &mut Oracle, case: &Case) -> Option<Difference> {
    let request = kind.request(case);
    let original = oracle
        .ask::<Vec<Answer>>(kind.name(), std::slice::from_ref(&request))
        .remove(0);
    let ours = ours::answer(kind, &request);
    let mut source = case.0[0].1.to_string();
    for (name, node) in &case.0[1..] {
        if kind == Kind::Schema || source.contains(name) {
            source.push_str(&format!("\n--- {name}\n{node}"));
        }
    }
    (!is_same(&original, &ours)).then_some(Difference {
        source,
        original,
        ours,
    })
}

fn is_same(original: &Answer, ours: &Answer) -> bool {
    match (original, ours) {
        (Answer::Skip(_), _) | (_, Answer::Skip(_)) | (Answer::Error(_), Answer::Error(_)) => true,
        (Answer::Ok(original), Answer::Ok(ours)) => original == ours,
        _ => false,
    }
}
