//! Every command in the table of equivalents is one that the page runs.

use anyhow::{Context as _, Result, ensure};
use e2e::program::checkout;

const PAGE: &str = "docs/users/equivalents.md";

/// The commands of the last column.
fn listed(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    cells
        .filter_map(|cell| cell.trim().strip_prefix('`')?.strip_suffix('`'))
        .filter(|command| command.starts_with("dm "))
        .collect()
}

#[test]
fn every_command_of_the_table_runs() -> Result<()> {
    let page = std::fs::read_to_string(checkout().join(PAGE)).context(PAGE)?;
    let listed = listed(&page);
    ensure!(listed.len() > 20, "only {} commands", listed.len());
    for command in listed {
        let runs = page
            .lines()
            .filter_map(|line| line.strip_prefix("$ "))
            .any(|line| line == command || line.ends_with(&format!("| {command}")));
        ensure!(runs, "{PAGE} does not run {command:?}");
    }
    Ok(())
}
