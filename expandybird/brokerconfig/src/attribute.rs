//! Dynamic attributes: strings that begin with `{{`. Each is a Go template whose output is JSON, and that value takes the
//! place of the string.
//!
//! Every attribute of a configuration is a template of one set, named by its place in the document. So an error shows
//! where the attribute stands, and a snippet runs in the budget of what asked for it.

use common::node::{Fault, escaped};
use expandybird_gotemplate::Set;
use expandybird_gotemplate::error::ParseError;
use expandybird_gotemplate::function_table::Callee;
use expandybird_gotemplate::parse::{Branch, Command, Node, Operand, Pipe, Tree};
use expandybird_gotemplate::value::Function;
use serde_json::Value;

use crate::functions;
use crate::render::is_dynamic;

/// What was found in the attributes of a value.
#[derive(Debug, Default)]
pub struct Found {
    /// The snippets that attributes name, each with the place of the attribute.
    pub snippets: Vec<(String, String)>,
    pub faults: Vec<Fault>,
    /// Texts that look like attributes and are none.
    pub warnings: Vec<Fault>,
}

/// Reads all attributes below a value into the set. The recursion is as deep as the YAML, whose depth is limited.
pub fn read_all(set: &mut Set, value: &Value, pointer: &str, found: &mut Found) {
    match value {
        Value::String(text) => read_text(set, text, pointer, found),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                read_all(set, item, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                read_all(set, value, &format!("{pointer}/{}", escaped(key)), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reads a text, which may be an attribute, into the set.
pub fn read_text(set: &mut Set, text: &str, pointer: &str, found: &mut Found) {
    if !is_dynamic(text) {
        if text.contains("{{") {
            let message = "the text has {{ and does not begin with it, so it stays as it is";
            found.warnings.push(fault(pointer, message));
        }
        return;
    }
    if !text.ends_with("}}") {
        let message = format!("dynamic attribute '{text}' malformed: it must end with }}}}");
        return found.faults.push(fault(pointer, message));
    }
    let mut snippets = Vec::new();
    let parsed = set.parse_with(pointer, text, |tree| change(tree, pointer, &mut snippets));
    match parsed {
        Err(Refused(message)) => found.faults.push(fault(pointer, message)),
        Ok(()) => {
            let named = snippets.into_iter();
            found
                .snippets
                .extend(named.map(|name| (name, pointer.to_owned())));
        }
    }
}

fn fault(pointer: &str, message: impl Into<String>) -> Fault {
    Fault {
        pointer: pointer.to_owned(),
        message: message.into(),
    }
}

/// Why a text is no attribute.
struct Refused(String);

impl From<ParseError> for Refused {
    fn from(error: ParseError) -> Self {
        Self(error.message)
    }
}

/// Lets every action that prints print JSON.
fn change(tree: &mut Tree, pointer: &str, snippets: &mut Vec<String>) -> Result<(), Refused> {
    if *tree.name != *pointer {
        return Err(Refused("an attribute cannot define templates".to_owned()));
    }
    changed(&mut tree.nodes, functions::JSON, snippets)
}

fn changed(nodes: &mut [Node], json: Function, snippets: &mut Vec<String>) -> Result<(), Refused> {
    let refused = |what: &str| {
        Err(Refused(format!(
            "an attribute cannot use {what}: it is one value; use snippetArray for lists"
        )))
    };
    for node in nodes {
        match node {
            Node::Action(pipe) => {
                named_in(pipe, snippets);
                if pipe.variables.is_empty() {
                    pipe.commands.push(printing(pipe.position, json));
                }
            }
            Node::If(branch) | Node::With(branch) => branched(branch, json, snippets)?,
            Node::Text(_) => {}
            Node::Range(_) | Node::Break | Node::Continue => return refused("range"),
            Node::Template(_) => return refused("template"),
        }
    }
    Ok(())
}

fn branched(
    branch: &mut Branch,
    json: Function,
    snippets: &mut Vec<String>,
) -> Result<(), Refused> {
    named_in(&branch.pipe, snippets);
    changed(&mut branch.body, json, snippets)?;
    let otherwise = branch.otherwise.iter_mut();
    let mut otherwise = otherwise.map(|nodes| changed(nodes, json, snippets));
    otherwise.next().unwrap_or(Ok(()))
}

/// `| json`
fn printing(position: usize, json: Function) -> Command {
    Command {
        position,
        operands: vec![Operand::Function {
            position,
            callee: Callee::Registered(json),
        }],
    }
}

/// The snippets that a pipeline calls by a literal name.
fn named_in(pipe: &Pipe, snippets: &mut Vec<String>) {
    for command in &pipe.commands {
        if let [
            Operand::Function { callee, .. },
            Operand::String { value, .. },
            ..,
        ] = command.operands.as_slice()
            && functions::SNIPPETS.contains(&callee.name())
        {
            snippets.push(value.to_str().into_owned());
        }
        command
            .operands
            .iter()
            .for_each(|operand| within(operand, snippets));
    }
}

fn within(operand: &Operand, snippets: &mut Vec<String>) {
    match operand {
        Operand::Pipe(pipe) => named_in(pipe, snippets),
        Operand::Chain(chain) => within(&chain.operand, snippets),
        _ => {}
    }
}
