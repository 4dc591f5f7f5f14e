//! The rule that chooses among the versions of a template (docs/reference/registries.md).
//!
//! A reference means the highest PATCH of its MAJOR and MINOR, and never another MINOR: `v1` may become `v1.0.7`,
//! but not `v1.1.0`. The PATCH of the reference does not limit the choice.

use common::model::Version;

/// Two folders with the same version, such as `v1` and `v1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameVersion(pub String, pub String);

/// The folder that a reference to `wanted` means. Names that are not versions are ignored.
pub fn choose<'a>(
    wanted: Version,
    folders: impl IntoIterator<Item = &'a str>,
) -> Result<Option<&'a str>, SameVersion> {
    let mut best: Option<(Version, &str)> = None;
    for folder in folders {
        let Ok(version) = folder.parse::<Version>() else {
            continue;
        };
        if (version.major, version.minor) != (wanted.major, wanted.minor) {
            continue;
        }
        match best {
            Some((other, name)) if other == version => {
                return Err(SameVersion(name.to_owned(), folder.to_owned()));
            }
            Some((other, _)) if other > version => {}
            _ => best = Some((version, folder)),
        }
    }
    Ok(best.map(|(_, folder)| folder))
}

/// The names that are versions, lowest first.
pub fn sorted<'a>(folders: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut versions: Vec<(Version, &str)> = folders
        .into_iter()
        .filter_map(|folder| Some((folder.parse().ok()?, folder)))
        .collect();
    versions.sort_unstable();
    versions
        .into_iter()
        .map(|(_, folder)| folder.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_reference_means_the_highest_patch_of_its_minor_and_never_another_minor() {
        let folders = [
            "v1",
            "v1.0.1",
            "v1.0.10",
            "v1.0.9",
            "v1.1",
            "v1.1.2",
            "v2",
            "README.md",
        ];
        for (wanted, chosen) in [
            ("v1", Some("v1.0.10")),
            ("v1.0", Some("v1.0.10")),
            ("v1.0.1", Some("v1.0.10")),
            ("v1.0.11", Some("v1.0.10")),
            ("v1.1", Some("v1.1.2")),
            ("v1.1.0", Some("v1.1.2")),
            ("v1.2", None),
            ("v2.0.0", Some("v2")),
            ("v3", None),
        ] {
            assert_eq!(choose(version(wanted), folders), Ok(chosen), "{wanted}");
        }
    }

    #[test]
    fn two_folders_of_one_version_are_an_error_that_names_both() {
        let same = choose(version("v1"), ["v1", "v1.0.0", "v2"]);
        assert_eq!(same, Err(SameVersion("v1".into(), "v1.0.0".into())));
    }

    #[test]
    fn versions_are_listed_lowest_first() {
        assert_eq!(
            sorted(["v10", "v2", "helper.py", "v1.1", "v1.0.2"]),
            ["v1.0.2", "v1.1", "v2", "v10"]
        );
    }
}
