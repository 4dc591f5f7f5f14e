//! How many entries the folders of sources have: who opens one must find their way at a glance.

use std::path::{Path, PathBuf};

use anyhow::Result;
use e2e::program::checkout;

/// Files and folders of one folder.
const ENTRIES: usize = 12;

/// Folders that may have more, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("common/src", "rooms, each with its arrows in rooms.txt"),
    (
        "expandybird/src",
        "rooms, each with its arrows in rooms.txt",
    ),
    (
        "expandybird/chart/src",
        "rooms of a small package, each a noun of Helm",
    ),
    (
        "expandybird/sprig/src",
        "rooms of a small package, each a family of functions",
    ),
    (
        "dm/src/client",
        "groups of commands, and the nouns that they share",
    ),
    (
        "expandybird/templateobject/src",
        "rooms of a small package, each a noun of the specification",
    ),
    ("e2e/src", "what tests borrow, each a noun of its own"),
    ("manager/src", "rooms, each with its arrows in rooms.txt"),
    (
        "resourcifier/src/apply",
        "what is done to objects, and the nouns of it",
    ),
    (
        "resourcifier/src/apply/converge",
        "one run, divided by what it does in each look",
    ),
];

#[test]
fn folders_of_sources_have_a_dozen_entries() -> Result<()> {
    let mut crowded = Vec::new();
    for package in crate::folders()? {
        let sources = checkout().join(&package).join("src");
        if sources.exists() {
            visit(&sources, &mut crowded)?;
        }
    }
    crowded.sort();
    let allowed: Vec<_> = EXCEPTIONS.iter().map(|(folder, _)| *folder).collect();
    let others: Vec<_> = crowded
        .iter()
        .filter(|(folder, _)| !allowed.contains(&folder.as_str()))
        .collect();
    assert!(
        others.is_empty(),
        "divide these folders by what their files are about: {others:?}"
    );
    let stale: Vec<_> = allowed
        .iter()
        .filter(|allowed| !crowded.iter().any(|(folder, _)| folder == *allowed))
        .collect();
    assert!(
        stale.is_empty(),
        "these are no exceptions any more: {stale:?}"
    );
    Ok(())
}

/// Notes the folders with sources that have too many entries.
fn visit(folder: &Path, crowded: &mut Vec<(String, usize)>) -> Result<()> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    if entries.len() > ENTRIES && entries.iter().any(is_source) {
        let name = folder.strip_prefix(checkout())?.display().to_string();
        crowded.push((name, entries.len()));
    }
    for path in entries.iter().filter(|path| path.is_dir()) {
        visit(path, crowded)?;
    }
    Ok(())
}
