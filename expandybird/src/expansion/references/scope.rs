//! Which resource a name means, seen from one place in the tree.

use std::collections::HashMap;

use super::super::tree::{Body, Node};

/// Whose list a name is looked for in first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl<'n> Tree<'n> {
    pub fn new(nodes: &'n [Node]) -> Self {
        let mut tree = Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
        };
        tree.add(nodes, Scope::Top);
        tree
    }

    fn add(&mut self, nodes: &'n [Node], scope: Scope) {
        for node in nodes {
            let id = self.nodes.len();
            self.nodes.push((node, scope));
            self.by_name.entry(node.name.as_str()).or_default().push(id);
            if let Body::Template { children, .. } = &node.body {
                self.add(children, Scope::Within(id));
            }
        }
    }

    pub fn node(&self, id: usize) -> &'n Node {
        self.nodes[id].0
    }

    /// The list that a node is in.
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

    /// The node, the instance around it, and so on outwards.
    pub fn outwards(&self, id: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(id), |&id| match self.scope(id) {
            Scope::Top => None,
            Scope::Within(parent) => Some(parent),
        })
    }

    /// A primitive itself, or all that an instance holds.
    pub fn primitives_within(&self, id: usize) -> Vec<usize> {
        let is_within = |&inner: &usize| self.outwards(inner).any(|outer| outer == id);
        // A node's descendants follow it without a gap.
        let family = (id..self.nodes.len()).take_while(is_within);
        family.filter(|&inner| self.is_primitive(inner)).collect()
    }

    /// Whether a primitive may turn out to be a template that the manager finds in a registry. Its
    /// resources are not known yet, so a name that is not there may still come.
    pub fn may_grow(&self) -> bool {
        let mut types = self
            .nodes
            .iter()
            .map(|(node, _)| node)
            .filter(|node| matches!(node.body, Body::Primitive(_)));
        types.any(|node| may_be_template(node.type_name.as_str()))
    }

    /// Every node of that name: siblings first, then outwards, then elsewhere.
    pub fn find(&self, name: &str, from: Scope) -> Vec<usize> {
        let mut found = self.by_name.get(name).cloned().unwrap_or_default();
        if found.len() > 1 {
            found.sort_by_key(|&id| self.distance(id, from));
        }
        found
    }

    /// How many lists outwards from `from` the list of `id` is; the largest number for elsewhere.
    pub fn distance(&self, id: usize, from: Scope) -> usize {
        let wanted = self.scope(id);
        let mut scope = from;
        let mut steps = 0;
        loop {
            if scope == wanted {
                return steps;
            }
            let Scope::Within(instance) = scope else {
                return usize::MAX;
            };
            scope = self.scope(instance);
            steps += 1;
        }
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
