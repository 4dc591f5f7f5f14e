//! Rules of the house that the compiler does not check.

mod arrows;
mod crowds;
mod named;
mod rooms;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use e2e::program::checkout;
use serde_json::Value;

/// The allowed dependencies among our own packages (tests included).
const MAY_USE: &[(&str, &[&str])] = &[
    ("common", &["common-chart", "common-json"]),
    // What Helm's own tools agree on, and the services too.
    ("common-chart", &[]),
    // Both sides of the wall around templates read JSON with it.
    ("common-json", &[]),
    // Of the services it takes the flags alone, for their man pages.
    ("dist", &["dm", "expandybird", "manager", "resourcifier"]),
    (
        "dm",
        &[
            "common",
            "common-chart",
            "expandybird-gotemplate",
            "expandybird-templateobject",
        ],
    ),
    ("e2e", &["common", "common-chart"]),
    (
        "expandybird",
        &[
            "common",
            "common-chart",
            "expandybird-brokerconfig",
            "expandybird-chart",
            "expandybird-confinement",
            "expandybird-gotemplate",
            "expandybird-protocol",
            "expandybird-sfplan",
            "expandybird-sprig",
            "expandybird-templateobject",
        ],
    ),
    (
        "expandybird-brokerconfig",
        &["common", "expandybird-gotemplate", "expandybird-sprig"],
    ),
    (
        "expandybird-chart",
        &[
            "common-chart",
            "expandybird-gotemplate",
            "expandybird-sprig",
        ],
    ),
    (
        "expandybird-sfplan",
        &[
            "expandybird-chart",
            "expandybird-gotemplate",
            "expandybird-sprig",
        ],
    ),
    ("expandybird-confinement", &[]),
    ("expandybird-gotemplate", &[]),
    (
        "expandybird-sprig",
        &["common-chart", "expandybird-gotemplate"],
    ),
    ("expandybird-protocol", &["common-json"]),
    ("expandybird-templateobject", &[]),
    (
        "expandybird-worker",
        &["expandybird-confinement", "expandybird-protocol"],
    ),
    (
        "manager",
        &[
            "common",
            "expandybird-templateobject",
            "manager-broker",
            "manager-registry",
        ],
    ),
    (
        "manager-broker",
        &[
            "common",
            "expandybird-brokerconfig",
            "expandybird-templateobject",
        ],
    ),
    (
        "manager-registry",
        &["common", "common-chart", "expandybird-templateobject"],
    ),
    // Its tests borrow the control plane.
    ("resourcifier", &["common", "e2e"]),
];

/// Folders that are pure: they name no HTTP, store, process, clock or runtime.
const PURE: &[&str] = &[
    "common/src/model",
    "common/src/yaml",
    "manager/src/domain",
    "expandybird/src/expansion",
    "expandybird/src/input",
    "resourcifier/src/apply/object",
    "resourcifier/src/apply/readiness",
    "resourcifier/src/plan",
];
const EFFECTS: &[&str] = &[
    "actix_web",
    "reqwest",
    "sled::",
    "tokio::",
    "std::process",
    "std::fs",
    "std::net",
    "Timestamp::now",
    "SystemTime",
    "Instant::now",
    "async fn",
];

/// Packages that only one of ours may use, each with who may.
const KEPT_BY: &[(&str, &[&str])] = &[
    ("pyo3", &["expandybird-worker"]),
    ("sled", &["manager"]),
    ("serde_yaml", &["common"]),
    (
        "saphyr-parser",
        &["common", "common-chart", "expandybird-chart"],
    ),
    ("landlock", &["expandybird-confinement"]),
    ("minijinja", &["expandybird"]),
    ("seccompiler", &["expandybird-confinement"]),
    (
        "jsonschema",
        &[
            "expandybird",
            "expandybird-chart",
            "manager",
            "manager-broker",
        ],
    ),
];

fn packages() -> Result<Vec<Value>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(checkout())
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let packages = metadata["packages"].as_array();
    Ok(packages.cloned().unwrap_or_default())
}

/// Folders of the packages, below the checkout.
fn folders() -> Result<Vec<String>> {
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let folder = manifest.parent()?.strip_prefix(checkout()).ok()?;
        Some(folder.display().to_string())
    };
    Ok(packages()?.iter().filter_map(folder).collect())
}

fn dependencies() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    Ok(packages()?
        .iter()
        .map(|package| {
            (
                name(package),
                package["dependencies"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(name)
                    .collect(),
            )
        })
        .collect())
}

#[test]
fn packages_use_each_other_only_as_the_map_says() -> Result<()> {
    let found = dependencies()?;
    let ours: BTreeSet<_> = found.keys().cloned().collect();
    let used: BTreeMap<_, BTreeSet<_>> = found
        .iter()
        .map(|(package, uses)| {
            (
                package.as_str(),
                uses.intersection(&ours).map(String::as_str).collect(),
            )
        })
        .collect();
    let allowed: BTreeMap<_, BTreeSet<_>> = MAY_USE
        .iter()
        .map(|(package, uses)| (*package, uses.iter().copied().collect()))
        .collect();
    assert_eq!(used, allowed);
    Ok(())
}

#[test]
fn each_effect_is_kept_by_the_package_that_it_belongs_to() -> Result<()> {
    let found = dependencies()?;
    for (library, keepers) in KEPT_BY {
        let users: Vec<_> = found
            .iter()
            .filter(|(_, uses)| uses.contains(*library))
            .map(|(package, _)| package.as_str())
            .collect();
        assert_eq!(&users, keepers, "{library}");
    }
    Ok(())
}

#[test]
fn pure_folders_name_no_effect() -> Result<()> {
    for folder in PURE {
        let sources = sources(&checkout().join(folder))?;
        assert!(
            !sources.is_empty(),
            "{folder} is empty: is the list out of date?"
        );
        for path in sources {
            let text = std::fs::read_to_string(&path)?;
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in lines {
                let named = EFFECTS.iter().find(|effect| line.contains(**effect));
                assert_eq!(named, None, "{}: {line}", path.display());
            }
        }
    }
    Ok(())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}
