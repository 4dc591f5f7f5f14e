//! One version.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Bytes of the longest version.
const MAX_BYTES: usize = 256;

/// A version of one to three numbers, with a prerelease and metadata.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number; 0 if there is none.
    pub minor: u64,
    /// The third number; 0 if there is none.
    pub patch: u64,
    /// What follows the hyphen.
    pub prerelease: String,
    /// What follows the plus.
    pub metadata: String,
    /// The text that was read.
    pub original: String,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl FromStr for Version {
    /// Go's error text.
    type Err = &'static str;

    fn from_str(original: &str) -> Result<Self, Self::Err> {
        const INVALID: &str = "invalid semantic version";
        if original.len() > MAX_BYTES {
            return Err(INVALID);
        }
        let text = original.strip_prefix('v').unwrap_or(original);
        let (text, metadata) = split_once(text, '+');
        let (numbers, prerelease) = split_once(text, '-');
        let extras_are_valid = [prerelease, metadata].into_iter().flatten().all(is_dotted);
        let numbers: Vec<&str> = numbers.split('.').collect();
        let are_numbers = numbers.iter().all(|number| is_number(number));
        if !extras_are_valid || !are_numbers || numbers.len() > 3 {
            return Err(INVALID);
        }
        if prerelease.is_some_and(has_leading_zero) {
            return Err("version segment starts with 0");
        }
        let number = |index: usize| numbers.get(index).map_or(Ok(0), |number| number.parse());
        Ok(Self {
            major: number(0).map_err(|_| INVALID)?,
            minor: number(1).map_err(|_| INVALID)?,
            patch: number(2).map_err(|_| INVALID)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: original.to_owned(),
        })
    }
}

fn split_once(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Identifiers with dots between them.
pub fn is_dotted(text: &str) -> bool {
    let is_identifier = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.split('.').all(is_identifier)
}

fn has_leading_zero(prerelease: &str) -> bool {
    prerelease
        .split('.')
        .any(|part| is_number(part) && part.len() > 1 && part.starts_with('0'))
}

impl Version {
    /// A version of three numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        let version = Self {
            major,
            minor,
            patch,
            ..Self::default()
        };
        Self {
            original: version.to_string(),
            ..version
        }
    }

    /// The precedence of two versions. Metadata does not count.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        let by_numbers = numbers(self).cmp(&numbers(other));
        by_numbers.then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }

    /// The first version with the next first number.
    pub fn next_major(&self) -> Self {
        self.next(self.major.saturating_add(1), 0, 0)
    }

    /// The first version with the next second number.
    pub fn next_minor(&self) -> Self {
        self.next(self.major, self.minor.saturating_add(1), 0)
    }

    /// The next patch; a prerelease becomes its own release.
    pub fn next_patch(&self) -> Self {
        let patch = if self.prerelease.is_empty() {
            self.patch.saturating_add(1)
        } else {
            self.patch
        };
        self.next(self.major, self.minor, patch)
    }

    fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        let next = Self::new(major, minor, patch);
        let v = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        Self {
            original: format!("{v}{next}"),
            ..next
        }
    }
}

/// A release comes after its prereleases.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => left
            .split('.')
            .map(Identifier::of)
            .cmp(right.split('.').map(Identifier::of)),
    }
}

/// A part of a prerelease: numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'a> {
    Number(u64),
    Word(&'a str),
}

impl<'a> Identifier<'a> {
    fn of(part: &'a str) -> Self {
        match part.parse() {
            Ok(number) if is_number(part) => Self::Number(number),
            _ => Self::Word(part),
        }
    }
}
