//! What versions are wanted: `>=1.2, <2 || ~3.1`.

use std::str::FromStr;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Version;

/// Bytes of the longest constraint.
const MAX_BYTES: usize = 512;
/// Alternatives of one constraint.
const MAX_GROUPS: usize = 32;

/// Alternatives, each of which is a list of comparisons that must all hold.
#[derive(Debug)]
pub struct Constraint {
    groups: Vec<Vec<Comparison>>,
}

/// Why a text is no constraint. It prints as Go's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// A part that is not a list of comparisons.
    #[error("improper constraint: {0:?}")]
    Improper(String),
    /// A version in it is none.
    #[error("constraint parser error")]
    Parser,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

/// How many numbers of a version are given. The others may be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    None,
    Major,
    Minor,
    All,
}

#[derive(Debug)]
struct Comparison {
    operator: Operator,
    version: Version,
    given: Given,
}

const NUMBER: &str = r"([0-9xX*]+)";
/// White space as Go's expressions see it.
const SPACE: &str = r"[\t\n\f\r ]";
const EXTRAS: &str =
    r"(-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?";

/// An operator and a version, at the start of a text.
static COMPARISON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let operators = r"!=|>=|=>|<=|=<|~>|=|>|<|~|\^|";
    Regex::new(&format!(
        r"^({operators}){SPACE}*v?{NUMBER}(?:\.{NUMBER})?(?:\.{NUMBER})?{EXTRAS}"
    ))
    .ok()
});

/// Two versions with a hyphen between them.
static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let version = format!(r"v?{NUMBER}(?:\.{NUMBER})?(?:\.{NUMBER})?{EXTRAS}");
    Regex::new(&format!(
        r"{SPACE}*(?P<from>{version}){SPACE}+-{SPACE}+(?P<to>{version}){SPACE}*"
    ))
    .ok()
});

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > MAX_BYTES || text.split("||").count() > MAX_GROUPS {
            return Err(improper(text));
        }
        let text = match RANGE.as_ref() {
            Some(range) => range.replace_all(text, ">= ${from}, <= ${to} "),
            None => text.into(),
        };
        let groups = text.split("||").map(read_group).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }
}

fn is_space(rune: char) -> bool {
    matches!(rune, '\t' | '\n' | '\u{c}' | '\r' | ' ')
}

fn improper(text: &str) -> ConstraintError {
    ConstraintError::Improper(text.to_owned())
}

fn read_group(text: &str) -> Result<Vec<Comparison>, ConstraintError> {
    let mut comparisons = Vec::new();
    let mut rest = text.trim_matches(is_space);
    loop {
        let Some((comparison, length)) = Comparison::read(rest) else {
            return Err(improper(text));
        };
        let comparison = comparison.ok_or(ConstraintError::Parser)?;
        comparisons.push(comparison);
        let after = rest.get(length..).unwrap_or_default();
        if after.is_empty() {
            return Ok(comparisons);
        }
        let next = after.trim_start_matches(is_space);
        let next = next
            .strip_prefix(',')
            .map_or(next, |next| next.trim_start_matches(is_space));
        if next.len() == after.len() {
            return Err(improper(text));
        }
        rest = next;
    }
}

impl Constraint {
    /// Whether the version meets one of the alternatives. A prerelease meets only those that name a prerelease.
    pub fn allows(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let names_prerelease = group
                .iter()
                .any(|comparison| !comparison.version.prerelease.is_empty());
            let is_wanted = version.prerelease.is_empty() || names_prerelease;
            is_wanted && group.iter().all(|comparison| comparison.allows(version))
        })
    }
}

impl Comparison {
    /// The comparison at the start of the text, and its length in bytes. None within it if a number is none.
    fn read(text: &str) -> Option<(Option<Self>, usize)> {
        let groups = COMPARISON.as_ref()?.captures(text)?;
        Some((Self::from_groups(&groups), groups[0].len()))
    }

    fn from_groups(groups: &Captures<'_>) -> Option<Self> {
        let number = |index| match groups.get(index).map(|number| number.as_str()) {
            None | Some("x" | "X" | "*") => Some(None),
            Some(digits) => digits.parse::<u64>().ok().map(Some),
        };
        let (major, minor, patch) = (number(2)?, number(3)?, number(4)?);
        let given = match (major, minor, patch) {
            (None, _, _) => Given::None,
            (_, None, _) => Given::Major,
            (_, _, None) => Given::Minor,
            _ => Given::All,
        };
        let prerelease = groups
            .get(5)
            .map_or("", |extra| extra.as_str())
            .trim_start_matches('-');
        let version = Version {
            prerelease: prerelease.to_owned(),
            ..Version::new(
                major.unwrap_or(0),
                minor.filter(|_| given >= Given::Minor).unwrap_or(0),
                patch.filter(|_| given == Given::All).unwrap_or(0),
            )
        };
        let operator = Operator::read(&groups[1]);
        Some(Self {
            operator,
            version,
            given,
        })
    }

    fn allows(&self, found: &Version) -> bool {
        let wanted = &self.version;
        let order = found.precedence(wanted);
        match self.operator {
            Operator::Equal if self.given == Given::All => order.is_eq(),
            Operator::Equal | Operator::Tilde => self.allows_tilde(found),
            Operator::NotEqual if matches!(self.given, Given::All | Given::None) => order.is_ne(),
            Operator::NotEqual => {
                !self.shares_given_numbers(found)
                    || (self.given == Given::Minor && found.prerelease != wanted.prerelease)
            }
            // `*` counts as 0.0.0 here.
            Operator::Greater if matches!(self.given, Given::All | Given::None) => order.is_gt(),
            Operator::Greater => {
                given_numbers(found, self.given) > given_numbers(wanted, self.given)
            }
            Operator::Less => order.is_lt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::LessOrEqual if self.given == Given::All => order.is_le(),
            Operator::LessOrEqual => {
                let given = if self.given == Given::None {
                    Given::Minor
                } else {
                    self.given
                };
                given_numbers(found, given) <= given_numbers(wanted, given)
            }
            Operator::Caret => self.allows_caret(found),
        }
    }

    /// At least the version, and no other than the numbers before the last given one. `~0.0.0` allows any.
    fn allows_tilde(&self, found: &Version) -> bool {
        let wanted = &self.version;
        if found.precedence(wanted).is_lt() {
            return false;
        }
        let is_zero = (wanted.major, wanted.minor, wanted.patch) == (0, 0, 0);
        let is_any = is_zero && matches!(self.given, Given::None | Given::All);
        is_any
            || given_numbers(found, self.given.min(Given::Minor))
                == given_numbers(wanted, self.given.min(Given::Minor))
    }

    /// At least the version, with the same first number that is not zero.
    fn allows_caret(&self, found: &Version) -> bool {
        let wanted = &self.version;
        if found.precedence(wanted).is_lt() {
            return false;
        }
        let fixed = match self.given {
            Given::None => Given::All,
            Given::Major => Given::Major,
            _ if wanted.major > 0 => Given::Major,
            Given::Minor => Given::Minor,
            Given::All if wanted.minor > 0 => Given::Minor,
            Given::All => Given::All,
        };
        given_numbers(found, fixed) == given_numbers(wanted, fixed)
    }

    fn shares_given_numbers(&self, found: &Version) -> bool {
        given_numbers(found, self.given) == given_numbers(&self.version, self.given)
    }
}

/// The numbers that count; zeros for the others.
fn given_numbers(version: &Version, given: Given) -> (u64, u64, u64) {
    match given {
        Given::None => (0, 0, 0),
        Given::Major => (version.major, 0, 0),
        Given::Minor => (version.major, version.minor, 0),
        Given::All => (version.major, version.minor, version.patch),
    }
}

impl Operator {
    fn read(text: &str) -> Self {
        match text {
            "!=" => Self::NotEqual,
            ">" => Self::Greater,
            "<" => Self::Less,
            ">=" | "=>" => Self::GreaterOrEqual,
            "<=" | "=<" => Self::LessOrEqual,
            "~" | "~>" => Self::Tilde,
            "^" => Self::Caret,
            _ => Self::Equal,
        }
    }
}
