//! What waits for what: as a tree for people, as DOT for Graphviz.

use common::api::manager::{Graph, GraphNode};

use super::text;

/// Each resource that nothing waits for, with all that it waits for below it. What was shown above is not unfolded again.
pub fn tree(graph: &Graph) -> String {
    let mut drawing = Drawing {
        graph,
        below: needs(graph),
        shown: vec![false; graph.nodes.len()],
        text: String::new(),
    };
    let mut is_needed = vec![false; graph.nodes.len()];
    for needed in drawing.below.iter().flatten() {
        is_needed[*needed] = true;
    }
    let roots = (0..graph.nodes.len()).filter(|&node| !is_needed[node]);
    for root in roots.collect::<Vec<_>>() {
        drawing.draw(root, "", "");
    }
    drawing.text
}

/// By node, the nodes that it waits for. Edges that lead nowhere are left out.
fn needs(graph: &Graph) -> Vec<Vec<usize>> {
    let mut needs = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if edge.from < needs.len() && edge.to < needs.len() {
            needs[edge.from].push(edge.to);
        }
    }
    for needed in &mut needs {
        needed.sort_unstable();
        needed.dedup();
    }
    needs
}

struct Drawing<'g> {
    graph: &'g Graph,
    below: Vec<Vec<usize>>,
    shown: Vec<bool>,
    text: String,
}

impl Drawing<'_> {
    /// As deep as resources wait for each other, and each is unfolded once.
    fn draw(&mut self, node: usize, own: &str, below: &str) {
        let again = std::mem::replace(&mut self.shown[node], true);
        let needed = self.below[node].clone();
        let fold = if again && !needed.is_empty() {
            " (as above)"
        } else {
            ""
        };
        let name = label(&self.graph.nodes[node]);
        self.text.push_str(&format!("{own}{name}{fold}\n"));
        if again {
            return;
        }
        for (index, &next) in needed.iter().enumerate() {
            let (branch, line) = match index + 1 == needed.len() {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            self.draw(next, &format!("{below}{branch}"), &format!("{below}{line}"));
        }
    }
}

fn label(node: &GraphNode) -> String {
    text::line(&format!("{} ({})", node.name, node.type_name))
}

/// A directed graph: an arrow leads from what waits to what it waits for.
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
        shown.push_str(&format!("  n{} -> n{};\n", edge.from, edge.to));
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
        serde_json::from_value(json!({
            "nodes": [node("web", "Deployment"), node("settings", "ConfigMap"), node("db", "StatefulSet"), node("pa\"ss", "Secret"), node("alone", "Pod")],
            "edges": [{"from": 0, "to": 1}, {"from": 0, "to": 2}, {"from": 1, "to": 2}, {"from": 2, "to": 3}],
        }))
        .unwrap()
    }

    #[test]
    fn a_tree_unfolds_each_resource_once() {
        insta::assert_snapshot!(tree(&graph()), @r#"
        web (Deployment)
        ├─ settings (ConfigMap)
        │  └─ db (StatefulSet)
        │     └─ pa"ss (Secret)
        └─ db (StatefulSet) (as above)
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
          n0 -> n1;
          n0 -> n2;
          n1 -> n2;
          n2 -> n3;
        }
        "#);
    }
}
