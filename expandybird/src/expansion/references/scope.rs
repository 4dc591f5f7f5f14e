//! Which resource a name means at a given node of the tree.

use std::collections::{BTreeSet, HashMap};

use super::super::tree::{Body, Node};

/// The list in which a name is looked up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The configuration's own list.
    Top,
    /// The list inside of this template instance.
    Within(usize),
}

/// The tree's nodes by number, parents before children.
#[derive(Debug)]
pub struct Tree<'n> {
    nodes: Vec<(&'n Node, Scope)>,
    by_name: HashMap<&'n str, Vec<usize>>,
    /// A name is in a list at most once.
    by_place: HashMap<(Scope, &'n str), usize>,
    /// The index of an output in the list of its instance.
    outputs: HashMap<(usize, &'n str), usize>,
    /// The lengths of names, the longest first.
    lengths: Vec<usize>,
    may_grow: bool,
}

impl<'n> Tree<'n> {
    pub fn new(nodes: &'n [Node]) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
            by_place: HashMap::new(),
            outputs: HashMap::new(),
            lengths: Vec::new(),
            may_grow: false,
        };
        tree.add(nodes, Scope::Top);
        let lengths: BTreeSet<usize> = tree.by_name.keys().map(|name| name.len()).collect();
        tree.lengths = lengths.into_iter().rev().collect();
        tree
    }

    fn add(&mut self, nodes: &'n [Node], scope: Scope) {
        for node in nodes {
            let id = self.nodes.len();
            self.nodes.push((node, scope));
            self.by_name.entry(node.name.as_str()).or_default().push(id);
            self.by_place.insert((scope, node.name.as_str()), id);
            match &node.body {
                Body::Template {
                    children, outputs, ..
                } => {
                    let named = outputs.iter().enumerate();
                    self.outputs
                        .extend(named.map(|(place, output)| ((id, output.name.as_str()), place)));
                    self.add(children, Scope::Within(id));
                }
                Body::Primitive(_) => {
                    self.may_grow |= may_be_template(node.type_name.as_str());
                }
            }
        }
    }

    pub fn node(&self, id: usize) -> &'n Node {
        self.nodes[id].0
    }

    /// The list of a node.
    pub fn scope(&self, id: usize) -> Scope {
        self.nodes[id].1
    }

    pub fn all(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.nodes.len()
    }

    pub fn is_primitive(&self, id: usize) -> bool {
        matches!(self.node(id).body, Body::Primitive(_))
    }

    pub fn primitives(&self) -> impl Iterator<Item = usize> + '_ {
        self.all().filter(|&id| self.is_primitive(id))
    }

    /// The node, the instance around it, and so on.
    pub fn outwards(&self, id: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(id), |&id| match self.scope(id) {
            Scope::Top => None,
            Scope::Within(parent) => Some(parent),
        })
    }

    /// A primitive itself, or all primitives in an instance.
    pub fn primitives_within(&self, id: usize) -> Vec<usize> {
        let is_within = |&inner: &usize| self.outwards(inner).any(|outer| outer == id);
        // The descendants of a node follow it without a gap.
        let family = (id..self.nodes.len()).take_while(is_within);
        family.filter(|&inner| self.is_primitive(inner)).collect()
    }

    /// Whether a primitive may become a template that the manager finds in a registry. Its resources are not known yet,
    /// so an unknown name may still appear.
    pub fn may_grow(&self) -> bool {
        self.may_grow
    }

    /// The lengths of names, the longest first.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// The index of an instance's output.
    pub fn output(&self, instance: usize, name: &str) -> Option<usize> {
        self.outputs.get(&(instance, name)).copied()
    }

    /// Every node of that name, in the tree's order.
    pub fn bearers(&self, name: &str) -> &[usize] {
        self.by_name
            .get(name)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The nodes of that name in the list `from` and in the lists around it.
    pub fn outwards_named(&self, name: &str, from: Scope) -> Vec<usize> {
        let lists = std::iter::successors(Some(from), |&scope| match scope {
            Scope::Top => None,
            Scope::Within(instance) => Some(self.scope(instance)),
        });
        lists
            .filter_map(|list| self.by_place.get(&(list, name)).copied())
            .collect()
    }

    /// The node that a name means: a sibling, otherwise one in an enclosing list, otherwise any.
    pub fn nearest(&self, name: &str, from: Scope) -> Option<usize> {
        let outwards = self.outwards_named(name, from);
        outwards.first().or(self.bearers(name).first()).copied()
    }
}

/// `https://host/t.py`, `github.com/o/r/t:v1`, `t:v1`; not `Pod`, `apps/v1/Deployment` or `apps/v1:Deployment`.
fn may_be_template(type_name: &str) -> bool {
    let last = type_name.rsplit(['/', ':']).next().unwrap_or_default();
    let is_kind = last.starts_with(|c: char| c.is_ascii_uppercase());
    type_name.contains(['/', ':']) && (!is_kind || type_name.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_from_a_template_reference() {
        for template in ["https://host/T.py", "github.com/o/r/t:v1", "t:v1"] {
            assert!(may_be_template(template), "{template}");
        }
        for kind in ["Pod", "apps/v1/Deployment", "apps/v1:Deployment", "custom"] {
            assert!(!may_be_template(kind), "{kind}");
        }
    }
}
