//! A layout as a tree.

use common::model::{Layout, LayoutNode, LayoutPath};

use crate::terminal::table::Table;

/// Names with branches, types and, if wanted, layout paths.
pub fn tree(layout: &Layout, paths: bool) -> Table {
    let mut table = match paths {
        true => Table::new(&["NAME", "TYPE", "PATH"]),
        false => Table::new(&["NAME", "TYPE"]),
    };
    for (index, node) in layout.resources.iter().enumerate() {
        let path = LayoutPath::root().child(index);
        add(&mut table, node, &path, Branches::default(), paths);
    }
    table
}

/// The branch before a name.
#[derive(Default)]
struct Branches {
    own: String,
    /// The branch before the names below it.
    below: String,
}

fn add(table: &mut Table, node: &LayoutNode, path: &LayoutPath, branches: Branches, paths: bool) {
    let name = format!("{}{}", branches.own, node.name);
    let type_name = node.type_name.as_str();
    match paths {
        true => table.row([&name, type_name, &path.to_string()]),
        false => table.row([&name, type_name]),
    }
    let children = node.resources.as_deref().unwrap_or_default();
    for (index, child) in children.iter().enumerate() {
        let (branch, line) = if index + 1 == children.len() {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let next = Branches {
            own: format!("{}{branch}", branches.below),
            below: format!("{}{line}", branches.below),
        };
        add(table, child, &path.child(index), next, paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        serde_json::from_value(serde_json::json!({"resources": [
            {"name": "board", "type": "guestbook:v1", "properties": {}, "resources": [
                {"name": "board-frontend", "type": "replicatedservice:v1", "resources": [
                    {"name": "board-frontend-service", "type": "Service"},
                    {"name": "board-frontend", "type": "Deployment"},
                ]},
                {"name": "board-redis", "type": "redis:v1", "resources": [
                    {"name": "redis-master", "type": "StatefulSet"},
                ]},
            ]},
            {"name": "settings", "type": "ConfigMap"},
        ]}))
        .unwrap()
    }

    #[test]
    fn a_layout_is_a_tree_with_types() {
        insta::assert_snapshot!(tree(&layout(), false).render(None));
    }

    #[test]
    fn paths_are_shown_on_demand() {
        insta::assert_snapshot!(tree(&layout(), true).render(None));
    }
}
