//! The rooms of each package: which may name which, and where tests may be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use e2e::program::checkout;

use crate::arrows::{self, Arrows};

/// Folders of the packages, each with its rooms and those that they name: `room -> others`.
const TABLE: &str = include_str!("rooms.txt");
/// Each room fails in its own way, and this one has all of them as one type. So it is not a circle that both name each other.
const ERROR: &str = "error";
/// Rooms that are one layer: an operation of the model has an error of the API, whose location is the model's.
const ONE_LAYER: &[(&str, &str, &str)] = &[("common", "api", "model")];
/// What a file or folder of tests is called.
const TEST_ROOMS: &[&str] = &["tests", "conformance", "fake", "testing"];

fn table() -> Result<BTreeMap<String, Arrows>> {
    let mut packages: BTreeMap<String, Arrows> = BTreeMap::new();
    let mut package = String::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        match line.split_once(" ->") {
            None => {
                package = line.trim_end_matches(':').to_owned();
                // A package may have no rooms.
                packages.entry(package.clone()).or_default();
            }
            Some((room, others)) => {
                let others = others.split_whitespace().map(str::to_owned).collect();
                let rooms = packages.entry(package.clone()).or_default();
                rooms.insert(room.trim().to_owned(), others);
            }
        }
    }
    Ok(packages)
}

fn lines(package: &str, arrows: &Arrows) -> BTreeSet<String> {
    let line = |(room, to): (&String, &BTreeSet<String>)| {
        let to: Vec<_> = to.iter().map(String::as_str).collect();
        format!("{package}: {room} -> {}", to.join(" "))
    };
    arrows.iter().map(line).collect()
}

#[test]
fn rooms_name_each_other_only_as_the_table_says() -> Result<()> {
    for (package, allowed) in table()? {
        let found = arrows::read(&checkout().join(&package).join("src"))?.arrows;
        let (found, allowed) = (lines(&package, &found), lines(&package, &allowed));
        let new: Vec<_> = found.difference(&allowed).collect();
        let gone: Vec<_> = allowed.difference(&found).collect();
        assert!(
            new.is_empty() && gone.is_empty(),
            "rooms.txt says {gone:#?}, the sources say {new:#?}; change the sources, or the table if the arrow is meant"
        );
    }
    Ok(())
}

#[test]
fn no_room_leads_back_to_itself() -> Result<()> {
    for (package, mut rooms) in table()? {
        rooms.remove(ERROR);
        for (room, to) in &mut rooms {
            to.remove(ERROR);
            let is_one_layer = |other: &String| {
                ONE_LAYER.contains(&(package.as_str(), other.as_str(), room.as_str()))
            };
            to.retain(|other| !is_one_layer(other));
        }
        assert_eq!(arrows::circle(&rooms), None, "{package}");
    }
    Ok(())
}

#[test]
fn every_package_has_its_rooms_in_the_table() -> Result<()> {
    let table = table()?;
    let packages: BTreeSet<_> = crate::folders()?.into_iter().collect();
    assert_eq!(packages, table.keys().cloned().collect());
    Ok(())
}

#[test]
fn tests_are_only_in_files_and_folders_for_tests() -> Result<()> {
    for package in table()?.keys() {
        let root = checkout().join(package);
        for file in arrows::read(&root.join("src"))?.test_modules {
            let within = file.strip_prefix(&root).context("outside of its package")?;
            let is_for_tests = within.with_extension("").iter().any(|part| {
                let name = Path::new(part).display().to_string();
                TEST_ROOMS.contains(&name.as_str())
            });
            assert!(
                is_for_tests,
                "{} is compiled for tests only: move it into one of {TEST_ROOMS:?}",
                file.display()
            );
        }
    }
    Ok(())
}
