//! Template versions, by the rules of Semantic Versioning (docs/reference/registries.md).

use std::fmt;
use std::str::FromStr;

/// `v1`, `v1.1` or `v1.1.0`. Missing parts are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Grows with changes that break users.
    pub major: u32,
    /// Grows with additions.
    pub minor: u32,
    /// Grows with corrections.
    pub patch: u32,
}

/// A text that is not a version, clipped to 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version: write it like v1, v1.1 or v1.1.0")]
pub struct VersionError(String);

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        parse(text).ok_or_else(|| VersionError(text.chars().take(80).collect()))
    }
}

fn parse(text: &str) -> Option<Version> {
    let parts: Vec<u32> = text
        .strip_prefix('v')?
        .split('.')
        .map(number)
        .collect::<Option<_>>()?;
    let (major, minor, patch) = match parts[..] {
        [major] => (major, 0, 0),
        [major, minor] => (major, minor, 0),
        [major, minor, patch] => (major, minor, patch),
        _ => return None,
    };
    Some(Version {
        major,
        minor,
        patch,
    })
}

/// As in Semantic Versioning: digits without leading zeros.
fn number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn parts_that_are_left_out_are_zero() {
        assert_eq!(version("v1.1"), version("v1.1.0"));
        assert_eq!(version("v2"), version("v2.0.0"));
        assert_eq!(version("v2").to_string(), "v2.0.0");
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for bad in [
            "",
            "v",
            "1",
            "1.0",
            "V1",
            "v1.",
            "v.1",
            "v1.0.0.0",
            "v1.01",
            "v01",
            "v1-beta",
            "v+1",
            "v1.x",
            "latest",
            "v99999999999",
        ] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }
}
