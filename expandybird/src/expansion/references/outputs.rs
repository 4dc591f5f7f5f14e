//! Puts the outputs of templates in where they are referred to.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::super::error::Fault;
use super::super::tree::Body;
use super::scope::{Scope, Tree};
use super::syntax::{self, Malformed, Piece, Step, Written};

/// An output of a template instance: the instance, and the output's place in its list.
type OutputId = (usize, usize);

#[derive(Debug, Clone)]
enum Known {
    /// Being resolved: to come back here is a cycle.
    Visiting,
    Resolved(Value, BTreeSet<usize>),
}

#[derive(Debug)]
pub struct Resolver<'t> {
    tree: &'t Tree<'t>,
    known: HashMap<OutputId, Known>,
    /// The outputs on the way to the one that is resolved now.
    trail: Vec<OutputId>,
}

enum Target {
    Primitive(usize),
    Output(OutputId, Vec<Step>),
}

impl<'t> Resolver<'t> {
    pub fn new(tree: &'t Tree<'t>) -> Self {
        Self {
            tree,
            known: HashMap::new(),
            trail: Vec::new(),
        }
    }

    /// The value with outputs put in; `needed` gets the primitives that it refers to.
    pub fn value(
        &mut self,
        value: &Value,
        scope: Scope,
        needed: &mut BTreeSet<usize>,
    ) -> Result<Value, Fault> {
        Ok(match value {
            Value::String(text) if syntax::mentions_reference(text) => {
                self.text(text, scope, needed)?
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item, scope, needed));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.value(value, scope, needed)?)));
                Value::Object(entries.collect::<Result<_, Fault>>()?)
            }
            other => other.clone(),
        })
    }

    /// A string that is one reference takes the output's value with its type; else all is text.
    fn text(
        &mut self,
        text: &str,
        scope: Scope,
        needed: &mut BTreeSet<usize>,
    ) -> Result<Value, Fault> {
        let pieces = syntax::pieces(text)?;
        if let [Piece::Reference(written)] = pieces[..] {
            return self.reference(&written, scope, needed);
        }
        let mut whole = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => whole.push_str(text),
                Piece::Reference(written) => {
                    whole.push_str(&as_text(&self.reference(&written, scope, needed)?))
                }
            }
        }
        Ok(Value::String(whole))
    }

    fn reference(
        &mut self,
        written: &Written<'_>,
        scope: Scope,
        needed: &mut BTreeSet<usize>,
    ) -> Result<Value, Fault> {
        written.check()?;
        let target = match self.target(written, scope) {
            // It is checked when the rest of the tree is there.
            Err(Fault::UnknownReference { .. } | Fault::UnknownOutput { .. })
                if self.tree.may_grow() =>
            {
                return Ok(Value::from(written.whole));
            }
            target => target?,
        };
        match target {
            Target::Primitive(id) => {
                needed.insert(id);
                Ok(Value::from(written.whole))
            }
            Target::Output(output, rest) => {
                let (value, needs) = self.output(output)?;
                needed.extend(needs);
                within(value, &rest, written)
            }
        }
    }

    fn target(&self, written: &Written<'_>, scope: Scope) -> Result<Target, Fault> {
        let mut instance = None;
        for (name, path) in written.splits() {
            let found = self.tree.find(name, scope);
            if found.is_empty() {
                continue;
            }
            let steps = written.path(path)?;
            let fitting: Vec<_> = found
                .iter()
                .filter_map(|&id| Some((id, self.fit(id, &steps)?)))
                .collect();
            match fitting.len() {
                0 => instance = instance.or(found.first().copied()),
                count if self.tree.distance(fitting[0].0, scope) == usize::MAX && count > 1 => {
                    return Err(Fault::AmbiguousReference {
                        text: written.whole.to_owned(),
                        name: name.to_owned(),
                        count,
                    });
                }
                _ => {
                    let nearest = fitting.into_iter().next().map(|(_, target)| target);
                    return nearest.ok_or_else(|| unknown(written));
                }
            }
        }
        // Also tells a path that is wrong in itself, which an unknown name must not hide.
        written.path(written.splits().last().map_or("", |(_, path)| path))?;
        Err(instance.map_or_else(|| unknown(written), |id| self.no_such_output(id, written)))
    }

    fn fit(&self, id: usize, steps: &[Step]) -> Option<Target> {
        match &self.tree.node(id).body {
            Body::Primitive(_) => Some(Target::Primitive(id)),
            Body::Template { outputs, .. } => {
                let (Step::Key(first), rest) = steps.split_first()? else {
                    return None;
                };
                let place = outputs.iter().position(|output| output.name == *first)?;
                Some(Target::Output((id, place), rest.to_vec()))
            }
        }
    }

    fn output(&mut self, id: OutputId) -> Result<(Value, BTreeSet<usize>), Fault> {
        match self.known.get(&id) {
            Some(Known::Resolved(value, needs)) => return Ok((value.clone(), needs.clone())),
            Some(Known::Visiting) => return Err(self.cycle(id)),
            None => {}
        }
        let Body::Template { outputs, .. } = &self.tree.node(id.0).body else {
            return Ok((Value::Null, BTreeSet::new()));
        };
        self.known.insert(id, Known::Visiting);
        self.trail.push(id);
        let mut needs = BTreeSet::new();
        let value = self.value(&outputs[id.1].value, Scope::Within(id.0), &mut needs)?;
        self.trail.pop();
        self.known
            .insert(id, Known::Resolved(value.clone(), needs.clone()));
        Ok((value, needs))
    }

    fn cycle(&self, id: OutputId) -> Fault {
        let from = self
            .trail
            .iter()
            .position(|&visited| visited == id)
            .unwrap_or(0);
        let round = self.trail[from..].iter().chain([&id]);
        let names: Vec<_> = round.map(|&id| self.output_name(id)).collect();
        Fault::Cycle {
            chain: names.join(" -> "),
        }
    }

    fn output_name(&self, (instance, place): OutputId) -> String {
        let node = self.tree.node(instance);
        match &node.body {
            Body::Template { outputs, .. } => format!("{}.{}", node.name, outputs[place].name),
            Body::Primitive(_) => node.name.to_string(),
        }
    }

    fn no_such_output(&self, id: usize, written: &Written<'_>) -> Fault {
        let node = self.tree.node(id);
        let names: Vec<_> = match &node.body {
            Body::Template { outputs, .. } => {
                outputs.iter().map(|output| output.name.as_str()).collect()
            }
            Body::Primitive(_) => Vec::new(),
        };
        Fault::UnknownOutput {
            text: written.whole.to_owned(),
            name: node.name.to_string(),
            outputs: match names.is_empty() {
                true => "no outputs".to_owned(),
                false => format!("the outputs {}", names.join(", ")),
            },
        }
    }
}

fn unknown(written: &Written<'_>) -> Fault {
    Fault::UnknownReference {
        text: written.whole.to_owned(),
        name: written.first_name().to_owned(),
    }
}

/// What lies at the path within an output's value. Where the value is itself a reference to a
/// primitive, the path goes on from there.
fn within(value: Value, rest: &[Step], written: &Written<'_>) -> Result<Value, Fault> {
    let Some((first, further)) = rest.split_first() else {
        return Ok(value);
    };
    if let Value::String(text) = &value
        && let Ok(pieces) = syntax::pieces(text)
        && let [Piece::Reference(reference)] = pieces[..]
    {
        let path: String = rest.iter().map(ToString::to_string).collect();
        return Ok(Value::String(format!("$(ref.{}{path})", reference.inner)));
    }
    let inner = match first {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    };
    let inner = inner.cloned().ok_or_else(|| Fault::NoSuchPath {
        text: written.whole.to_owned(),
        segment: first.to_string().trim_start_matches('.').to_owned(),
    })?;
    within(inner, further, written)
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::MalformedReference {
            text: malformed.text,
            reason: malformed.reason,
        }
    }
}
