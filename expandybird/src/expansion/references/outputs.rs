//! Replaces references to outputs of templates.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value;

use super::super::error::Fault;
use super::super::tree::Body;
use super::scope::{Scope, Tree};
use super::syntax::{self, Malformed, PathSegment, Piece, Written};

/// An output of a template instance: the instance, and the index of the output in its list.
type OutputId = (usize, usize);

/// Steps of following references: checked candidates, inherited dependencies of outputs, lengths of paths. The maximum
/// takes some seconds.
const STEPS: usize = 10_000_000;
/// Values that references to outputs and names in `dependsOn` add: as many as one YAML text may have. Each reference
/// adds a copy, and outputs of outputs double at each level.
const BROUGHT_IN: usize = 1_000_000;
/// Bytes of text that count as one value.
const BYTES_OF_A_VALUE: usize = 64;

/// The value of an output, and the primitives that it refers to.
#[derive(Debug)]
struct Resolved {
    value: Value,
    needs: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
enum Known {
    /// Being resolved: reaching it again is a cycle.
    Visiting,
    Resolved(Rc<Resolved>),
}

#[derive(Debug)]
pub struct Resolver<'t> {
    tree: &'t Tree<'t>,
    known: HashMap<OutputId, Known>,
    /// The outputs that lead to the one being resolved.
    trail: Vec<OutputId>,
    steps: usize,
    brought_in: usize,
}

enum ReferenceTarget {
    Primitive(usize),
    Output(OutputId, Vec<PathSegment>),
}

impl<'t> Resolver<'t> {
    pub fn new(tree: &'t Tree<'t>) -> Self {
        Self {
            tree,
            known: HashMap::new(),
            trail: Vec::new(),
            steps: 0,
            brought_in: 0,
        }
    }

    /// Counts steps of following references.
    pub fn take_steps(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps > STEPS {
            true => Err(Fault::TooManyReferences { limit: STEPS }),
            false => Ok(()),
        }
    }

    /// Counts names that `dependsOn` adds. A name of a template counts as all its primitives.
    pub fn take_dependencies(&mut self, count: usize) -> Result<(), Fault> {
        self.bring_in(count)
    }

    fn bring_in(&mut self, values: usize) -> Result<(), Fault> {
        self.brought_in = self.brought_in.saturating_add(values);
        match self.brought_in > BROUGHT_IN {
            true => Err(Fault::TooMuchBroughtIn { limit: BROUGHT_IN }),
            false => Ok(()),
        }
    }

    /// A copy of an output's value, within the limit for all references.
    fn brought_in(&mut self, value: Cow<'_, Value>) -> Result<Value, Fault> {
        self.bring_in(weight(&value))?;
        Ok(value.into_owned())
    }

    /// The value with its outputs replaced. `needed` receives the primitives that it refers to.
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

    /// A string that is exactly one reference becomes the output's value with its type. Otherwise the value becomes
    /// text.
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
            // It is checked when the rest of the tree is complete.
            Err(Fault::UnknownReference { .. } | Fault::UnknownOutput { .. })
                if self.tree.may_grow() =>
            {
                return Ok(Value::from(written.whole));
            }
            target => target?,
        };
        match target {
            ReferenceTarget::Primitive(id) => {
                needed.insert(id);
                Ok(Value::from(written.whole))
            }
            ReferenceTarget::Output(output, rest) => {
                let resolved = self.output(output)?;
                self.take_steps(resolved.needs.len())?;
                needed.extend(&resolved.needs);
                self.brought_in(within(&resolved.value, &rest, written)?)
            }
        }
    }

    fn target(&mut self, written: &Written<'_>, scope: Scope) -> Result<ReferenceTarget, Fault> {
        let tree = self.tree;
        let mut instance = None;
        for (name, path) in written.splits(tree.lengths()) {
            let bearers = tree.bearers(name);
            if bearers.is_empty() {
                continue;
            }
            self.take_steps(1 + path.len() / BYTES_OF_A_VALUE)?;
            let steps = written.path(path)?;
            let outwards = tree.outwards_named(name, scope);
            if let Some(nearest) = outwards.iter().find_map(|&id| self.fit(id, &steps)) {
                return Ok(nearest);
            }
            self.take_steps(bearers.len())?;
            let elsewhere = bearers.iter().filter(|id| !outwards.contains(id));
            let mut fitting = elsewhere.filter_map(|&id| self.fit(id, &steps));
            match (fitting.next(), fitting.count()) {
                (Some(only), 0) => return Ok(only),
                (Some(_), others) => {
                    return Err(Fault::AmbiguousReference {
                        text: written.whole.to_owned(),
                        name: name.to_owned(),
                        count: others + 1,
                    });
                }
                (None, _) => instance = instance.or(tree.nearest(name, scope)),
            }
        }
        // Also reports a malformed path, which an unknown name must not hide.
        written.path(written.longest_path())?;
        Err(instance.map_or_else(|| unknown(written), |id| self.no_such_output(id, written)))
    }

    fn fit(&self, id: usize, steps: &[PathSegment]) -> Option<ReferenceTarget> {
        match &self.tree.node(id).body {
            Body::Primitive(_) => Some(ReferenceTarget::Primitive(id)),
            Body::Template { .. } => {
                let (PathSegment::Key(first), rest) = steps.split_first()? else {
                    return None;
                };
                let place = self.tree.output(id, first)?;
                Some(ReferenceTarget::Output((id, place), rest.to_vec()))
            }
        }
    }

    fn output(&mut self, id: OutputId) -> Result<Rc<Resolved>, Fault> {
        match self.known.get(&id) {
            Some(Known::Resolved(resolved)) => return Ok(resolved.clone()),
            Some(Known::Visiting) => return Err(self.cycle(id)),
            None => {}
        }
        let mut needs = BTreeSet::new();
        let value = match &self.tree.node(id.0).body {
            Body::Primitive(_) => Value::Null,
            Body::Template { outputs, .. } => {
                self.known.insert(id, Known::Visiting);
                self.trail.push(id);
                let value = self.value(&outputs[id.1].value, Scope::Within(id.0), &mut needs)?;
                self.trail.pop();
                value
            }
        };
        let resolved = Rc::new(Resolved { value, needs });
        self.known.insert(id, Known::Resolved(resolved.clone()));
        Ok(resolved)
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
        let outputs = match &node.body {
            Body::Template { outputs, .. } => outputs.as_slice(),
            Body::Primitive(_) => &[],
        };
        let names = outputs.iter().take(LISTED);
        let names: Vec<_> = names.map(|output| output.name.as_str()).collect();
        let names = names.join(", ");
        Fault::UnknownOutput {
            text: written.whole.to_owned(),
            name: node.name.to_string(),
            outputs: match outputs.len().checked_sub(LISTED) {
                _ if outputs.is_empty() => "no outputs".to_owned(),
                None | Some(0) => format!("the outputs {names}"),
                Some(more) => format!("the outputs {names} and {more} more"),
            },
        }
    }
}

/// How many outputs an error lists.
const LISTED: usize = 20;

fn unknown(written: &Written<'_>) -> Fault {
    Fault::UnknownReference {
        text: written.whole.to_owned(),
        name: written.first_name().to_owned(),
    }
}

/// The value at the path within an output's value. If the value is a reference to a primitive, the rest of the path is
/// appended to it.
fn within<'v>(
    mut value: &'v Value,
    path: &[PathSegment],
    written: &Written<'_>,
) -> Result<Cow<'v, Value>, Fault> {
    for (depth, step) in path.iter().enumerate() {
        if let Value::String(text) = value
            && let Ok(pieces) = syntax::pieces(text)
            && let [Piece::Reference(reference)] = pieces[..]
        {
            let path: String = path[depth..].iter().map(ToString::to_string).collect();
            let further = format!("$(ref.{}{path})", reference.inner);
            return Ok(Cow::Owned(Value::String(further)));
        }
        let inner = match step {
            PathSegment::Key(key) => value.get(key),
            PathSegment::Index(index) => value.get(index),
        };
        value = inner.ok_or_else(|| Fault::NoSuchPath {
            text: written.whole.to_owned(),
            segment: step.to_string().trim_start_matches('.').to_owned(),
        })?;
    }
    Ok(Cow::Borrowed(value))
}

/// The number of values. Long texts count by their bytes.
fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len() / BYTES_OF_A_VALUE,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| 1 + key.len() / BYTES_OF_A_VALUE + weight(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    1 + inner
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
