//! A layout as a tree.

use common::model::{Layout, LayoutNode, LayoutPath};

use crate::terminal::table::Table;

/// Names with branches, types and, if wanted, layout paths.
pub fn tree(layout: &Layout, paths: bool) -> Table {
    let columns = Columns {
        paths,
        files: layout.walk().iter().any(|(_, node)| node.source.is_some()),
    };
    let mut header = vec!["NAME", "TYPE"];
    header.extend(columns.files.then_some("FILE"));
    header.extend(columns.paths.then_some("PATH"));
    let mut table = Table::new(&header);
    for (index, node) in layout.resources.iter().enumerate() {
        let path = LayoutPath::root().child(index);
        add(&mut table, node, &path, Branches::default(), columns);
    }
    table
}

/// The columns that are not always there.
#[derive(Clone, Copy)]
struct Columns {
    paths: bool,
    /// The files of charts.
    files: bool,
}

/// The branch before a name.
#[derive(Default)]
struct Branches {
    own: String,
    /// The branch before the names below it.
    below: String,
}

fn add(
    table: &mut Table,
    node: &LayoutNode,
    path: &LayoutPath,
    branches: Branches,
    columns: Columns,
) {
    let name = format!("{}{}", branches.own, node.name);
    let type_name = type_of(node);
    let (name, type_name) = (name.as_str(), type_name.as_str());
    let file = node.source.as_deref().unwrap_or_default();
    match (columns.files, columns.paths) {
        (true, true) => table.row([name, type_name, file, &path.to_string()]),
        (true, false) => table.row([name, type_name, file]),
        (false, true) => table.row([name, type_name, &path.to_string()]),
        (false, false) => table.row([name, type_name]),
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
        add(table, child, &path.child(index), next, columns);
    }
}

/// The type, and when it runs, if it is a hook.
fn type_of(node: &LayoutNode) -> String {
    let events: Vec<&str> = node.hook.iter().map(|event| event.as_str()).collect();
    match events.is_empty() {
        true => node.type_name.to_string(),
        false => format!("{} ({})", node.type_name, events.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use common::model::HookEvent;

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
    fn files_of_charts_are_shown() {
        let mut layout = layout();
        layout.resources[1].source = Some("web/templates/settings.yaml".to_owned());
        let shown = tree(&layout, false).render(None);
        assert!(shown.contains("ConfigMap") && shown.contains("web/templates/settings.yaml"));
        assert!(tree(&layout, true).render(None).contains("$.resources[1]"));
    }

    #[test]
    fn a_hook_says_when_it_runs() {
        let mut layout = layout();
        layout.resources[1].hook = vec![HookEvent::PreInstall, HookEvent::PreUpgrade];
        let shown = tree(&layout, false).render(None);
        assert!(
            shown.contains("ConfigMap (pre-install, pre-upgrade)"),
            "{shown}"
        );
    }

    #[test]
    fn paths_are_shown_on_demand() {
        insta::assert_snapshot!(tree(&layout(), true).render(None));
    }
}
