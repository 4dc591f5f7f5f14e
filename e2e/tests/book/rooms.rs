//! The page of the architecture has every room, and no other.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use e2e::program::checkout;

use super::markdown::Document;

const PACKAGES: [&str; 7] = [
    "manager",
    "manager/broker",
    "manager/registry",
    "expandybird",
    "resourcifier",
    "dm",
    "common",
];

/// The folders in a package's `src`.
fn rooms(package: &str) -> Result<BTreeSet<String>> {
    let mut rooms = BTreeSet::new();
    for entry in std::fs::read_dir(checkout().join(package).join("src"))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            rooms.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(rooms)
}

/// What stands between backticks in the first column of the table below a package's heading.
fn documented(page: &str, package: &str) -> BTreeSet<String> {
    let heading = format!("## {package}");
    let below = page.lines().skip_while(|line| *line != heading).skip(1);
    let rows = below
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    rows.flat_map(|cell| cell.split(", "))
        .map(|room| room.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn the_page_of_the_architecture_has_every_room() -> Result<()> {
    let page = Document::read(Path::new("docs/design/architecture.md"))?;
    for package in PACKAGES {
        assert_eq!(
            documented(&page.text, package),
            rooms(package)?,
            "{package}"
        );
    }
    Ok(())
}
