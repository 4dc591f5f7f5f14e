//! The dependencies of resources: as a tree for users, as DOT for Graphviz.

use std::collections::BTreeMap;

use common::api::manager::{Graph, GraphNode};

use crate::terminal::text;

/// Each resource that no other depends on, with its dependencies below it. A repeated resource is shown only once with its dependencies.
pub fn tree(graph: &Graph) -> String {
    let mut drawing = Drawing {
        graph,
        below: needs(graph),
        shown: vec![false; graph.nodes.len()],
        text: String::new(),
    };
    let mut is_needed = vec![false; graph.nodes.len()];
    for needed in drawing.below.iter().flat_map(Needs::keys) {
        is_needed[*needed] = true;
    }
    let roots = (0..graph.nodes.len()).filter(|&node| !is_needed[node]);
    for root in roots.collect::<Vec<_>>() {
        drawing.draw(root, "", "", "");
    }
    drawing.text
}

/// The dependencies of one node, with the reasons.
type Needs = BTreeMap<usize, Vec<String>>;

/// The edges by node. Edges to unknown nodes are omitted.
fn needs(graph: &Graph) -> Vec<Needs> {
    let mut needs = vec![Needs::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if edge.from < needs.len() && edge.to < needs.len() {
            let reasons = needs[edge.from].entry(edge.to).or_default();
            reasons.push(edge.detail.clone());
        }
    }
    needs
}

struct Drawing<'g> {
    graph: &'g Graph,
    below: Vec<Needs>,
    shown: Vec<bool>,
    text: String,
}

impl Drawing<'_> {
    /// Recurses as deep as the dependencies, and unfolds each resource once.
    fn draw(&mut self, node: usize, own: &str, reasons: &str, below: &str) {
        let again = std::mem::replace(&mut self.shown[node], true);
        let needed = self.below[node].clone();
        let fold = if again && !needed.is_empty() {
            " (as above)"
        } else {
            ""
        };
        let name = label(&self.graph.nodes[node]);
        self.text.push_str(&format!("{own}{name}{reasons}{fold}\n"));
        if again {
            return;
        }
        let count = needed.len();
        for (index, (next, reasons)) in needed.into_iter().enumerate() {
            let (branch, line) = match index + 1 == count {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            let own = format!("{below}{branch}");
            let reasons = format!(": {}", text::line(&reasons.join(", ")));
            self.draw(next, &own, &reasons, &format!("{below}{line}"));
        }
    }
}

fn label(node: &GraphNode) -> String {
    text::line(&format!("{} ({})", node.name, node.type_name))
}

/// A directed graph: an arrow leads from a resource to its dependency.
pub fn dot(graph: &Graph) -> String {
    let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut shown = String::from("digraph deployment {\n  rankdir=LR;\n  node [shape=box];\n");
    for (index, node) in graph.nodes.iter().enumerate() {
        shown.push_str(&format!(
            "  n{index} [label=\"{}\"];\n",
            quoted(label(node))
        ));
    }
    for edge in &graph.edges {
        let reason = quoted(text::line(&edge.detail));
        shown.push_str(&format!(
            "  n{} -> n{} [label=\"{reason}\"];\n",
            edge.from, edge.to
        ));
    }
    shown.push_str("}\n");
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn graph() -> Graph {
        let node = |name: &str, kind: &str| {
            json!({"name": name, "type": kind,
                "object": {"apiVersion": "v1", "kind": kind, "namespace": "shop", "name": name}})
        };
        let edge = |from: usize, to: usize, because: &str, detail: &str| json!({"from": from, "to": to, "because": because, "detail": detail});
        serde_json::from_value(json!({
            "nodes": [node("web", "Deployment"), node("settings", "ConfigMap"), node("db", "StatefulSet"), node("pa\"ss", "Secret"), node("alone", "Pod")],
            "edges": [
                edge(0, 1, "USE", "spec.template.spec.volumes[0].configMap"), edge(0, 2, "DEPENDS_ON", "dependsOn db"),
                edge(0, 2, "REFERENCE", "$(ref.db.metadata.name)"), edge(1, 2, "REFERENCE", "$(ref.db.metadata.uid)"),
                edge(2, 3, "DEPENDS_ON", "dependsOn pa\"ss"),
            ],
        }))
        .unwrap()
    }

    #[test]
    fn a_tree_unfolds_each_resource_once() {
        insta::assert_snapshot!(tree(&graph()), @r#"
        web (Deployment)
        ├─ settings (ConfigMap): spec.template.spec.volumes[0].configMap
        │  └─ db (StatefulSet): $(ref.db.metadata.uid)
        │     └─ pa"ss (Secret): dependsOn pa"ss
        └─ db (StatefulSet): dependsOn db, $(ref.db.metadata.name) (as above)
        alone (Pod)
        "#);
    }

    #[test]
    fn dot_has_a_node_and_an_arrow_a_line() {
        insta::assert_snapshot!(dot(&graph()), @r#"
        digraph deployment {
          rankdir=LR;
          node [shape=box];
          n0 [label="web (Deployment)"];
          n1 [label="settings (ConfigMap)"];
          n2 [label="db (StatefulSet)"];
          n3 [label="pa\"ss (Secret)"];
          n4 [label="alone (Pod)"];
          n0 -> n1 [label="spec.template.spec.volumes[0].configMap"];
          n0 -> n2 [label="dependsOn db"];
          n0 -> n2 [label="$(ref.db.metadata.name)"];
          n1 -> n2 [label="$(ref.db.metadata.uid)"];
          n2 -> n3 [label="dependsOn pa\"ss"];
        }
        "#);
    }
}
