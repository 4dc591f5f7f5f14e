//! Checks a version against the previous one in the registry.
//!
//! The previous one is the highest lower version with the same MAJOR. No manager is needed, because a manager need not know the
//! registry. The program `expandybird` expands the examples for their outputs. Without it, only properties are compared, and a
//! warning says so.

use common::model::Version;

use super::PublishError;
use crate::authoring::package::{CheckedVersion, VersionFiles};
use crate::authoring::version::compare::{Comparison, compare};
use crate::authoring::version::expander::ExampleExpander;
use crate::authoring::version::{TemplateVersion, is_chart};

/// The comparison with the previous version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The previous version, as the registry spells it.
    pub with: String,
    /// What could not be compared, and why.
    pub uncompared: Option<String>,
}

/// The name of the version to compare with, if any.
pub fn before(names: &[String], version: Version) -> Option<&String> {
    let parsed = |name: &'_ String| name.parse::<Version>().ok();
    let lower = |found: &Version| found.major == version.major && *found < version;
    let named = names
        .iter()
        .filter_map(|name| Some((parsed(name).filter(lower)?, name)));
    named.max().map(|(_, name)| name)
}

/// `name` is that of the previous version, `names` are those of all published versions.
pub async fn check(
    package: &CheckedVersion,
    name: &str,
    contents: &VersionFiles,
    names: &[String],
) -> Result<Compared, PublishError> {
    let compared = |uncompared| Compared {
        with: name.to_owned(),
        uncompared,
    };
    let Ok(earlier) = name.parse() else {
        return Ok(compared(None));
    };
    if is_chart(&package.files) || is_chart(contents) {
        let reason = "nothing is compared: dm does not compare Helm charts";
        return Ok(compared(Some(reason.to_owned())));
    }
    let template = &package.template;
    let place = format!("{template}/{name}");
    // A version that cannot be used promises nothing.
    let before = match TemplateVersion::from_contents(template, earlier, &place, contents) {
        Ok(before) => before,
        Err(error) => return Ok(compared(Some(format!("nothing is compared: {error}")))),
    };
    let place = format!("{template}/{}", package.version);
    let now = TemplateVersion::from_contents(template, package.number, &place, &package.files)?;
    match compare(&before, &now, &ExampleExpander::Here).await {
        Some(comparison) if !comparison.violations.is_empty() => Err(PublishError::Broken {
            version: package.reference(),
            before: format!("{template}:{name}"),
            next: format!("{template}/{}", next(&comparison, package.number, names)),
            violations: comparison.violations,
        }),
        comparison => Ok(compared(comparison.and_then(|found| found.uncompared))),
    }
}

/// The lowest unused number that may make these changes.
fn next(comparison: &Comparison, version: Version, names: &[String]) -> Version {
    let there = names.iter().filter_map(|name| name.parse::<Version>().ok());
    let all: Vec<Version> = there.chain([version]).collect();
    let own = all.iter().filter(|found| found.major == version.major);
    let minor = own.map(|found| found.minor).max().unwrap_or_default();
    let major = all.iter().map(|found| found.major).max();
    match comparison.is_minor {
        true => Version {
            minor: minor.saturating_add(1),
            patch: 0,
            ..version
        },
        false => Version {
            major: major.unwrap_or_default().saturating_add(1),
            minor: 0,
            patch: 0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_version_before_is_the_highest_lower_one_of_the_same_major() {
        let names = names(&["v1", "v1.0.2", "v1.1", "v0.9", "v2", "lib", "README.md"]);
        for (version, expected) in [
            ("v1.0.1", Some("v1")),
            ("v1.0.3", Some("v1.0.2")),
            ("v1.2", Some("v1.1")),
            ("v2.0.1", Some("v2")),
            ("v3", None),
            ("v0.1", None),
        ] {
            let found = before(&names, version.parse().unwrap());
            assert_eq!(found.map(String::as_str), expected, "{version}");
        }
    }

    #[test]
    fn the_next_number_is_one_that_is_free() {
        let names = names(&["v1", "v1.3", "v2", "v2.7"]);
        for (is_minor, expected) in [(true, "v1.4.0"), (false, "v3.0.0")] {
            let comparison = Comparison {
                before: "v1".parse().unwrap(),
                now: "v1.0.1".parse().unwrap(),
                violations: Vec::new(),
                uncompared: None,
                is_minor,
            };
            let version = "v1.0.1".parse().unwrap();
            assert_eq!(next(&comparison, version, &names).to_string(), expected);
        }
    }
}
