//! Every link within the project leads to a file, and to a heading where it names one.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use e2e::program::checkout;

use super::markdown::{Document, documents};

/// What is wrong with a link of a document, if anything is.
fn fault(document: &Document, link: &str) -> Result<Option<&'static str>> {
    let is_outside = |scheme: &&str| link.starts_with(*scheme);
    if ["https://", "http://", "mailto:"].iter().any(is_outside) {
        return Ok(None);
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let path = match file {
        "" => document.path.clone(),
        _ => resolve(&document.path, file),
    };
    if !checkout().join(&path).exists() {
        return Ok(Some("leads to no file"));
    }
    if document.path.starts_with("docs") && !path.starts_with("docs") {
        return Ok(Some("leads out of the book"));
    }
    let is_missing = !heading.is_empty()
        && !Document::read(&path)?
            .anchors()
            .iter()
            .any(|anchor| anchor == heading);
    Ok(is_missing.then_some("leads to no heading"))
}

/// The path of a file that a document names, without `..`.
fn resolve(document: &Path, file: &str) -> PathBuf {
    let mut path = document.parent().map(Path::to_path_buf).unwrap_or_default();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => (),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn every_link_leads_to_a_file_and_to_a_heading() -> Result<()> {
    let mut faults = Vec::new();
    for document in documents("")? {
        for link in document.links() {
            if let Some(fault) = fault(&document, &link)? {
                faults.push(format!("{}: {link} {fault}", document.path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[test]
fn every_page_stands_in_the_table_of_contents() -> Result<()> {
    let summary = Document::read(Path::new("docs/SUMMARY.md"))?;
    let listed: BTreeSet<_> = summary.links().iter().map(PathBuf::from).collect();
    for document in documents("docs")? {
        let page = document.path.strip_prefix("docs")?;
        let is_listed = page == Path::new("SUMMARY.md") || listed.contains(page);
        assert!(
            is_listed,
            "docs/SUMMARY.md does not list {}",
            page.display()
        );
    }
    Ok(())
}
