//! The `index.yaml` of a chart repository: which charts it has, in which versions, and where they are.
//!
//! Real ones have tens of megabytes, most of it descriptions. So the text is read as a stream of events, and only what
//! leads to an archive is kept. Entries that cannot be used are skipped, as Helm does.

mod json;
mod yaml;

use std::collections::BTreeMap;

use crate::semver::Version;

/// Bytes of an index.
pub const INDEX_BYTES: usize = 48 * 1024 * 1024;
/// Versions of all charts in one index.
const VERSIONS: usize = 500_000;
/// Bytes of the name of a chart.
const NAME_BYTES: usize = 250;
/// Bytes of a URL in an index.
const URL_BYTES: usize = 2_000;
const DIGEST_CHARS: usize = 64;

/// The charts of a repository, with their versions in the order of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    charts: BTreeMap<String, Vec<Archive>>,
}

/// A version of a chart, and where its archive is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// As the chart has it.
    pub version: String,
    /// Absolute, or relative to the URL of the repository.
    pub url: String,
    /// The SHA-256 of the archive: 64 hexadecimal digits in lower case.
    pub digest: Option<String>,
}

/// Why a text is no index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// It is neither YAML nor JSON.
    #[error("line {line}: {reason}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// It has another form.
    #[error("it must be a map with apiVersion and entries")]
    Form,
    /// It has no content.
    #[error("empty index.yaml file")]
    Empty,
    /// It does not say in which version of the format it is.
    #[error("no API version specified")]
    NoApiVersion,
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// It has too much of something.
    #[error("it has more than {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
}

impl Index {
    /// Reads an index, YAML or JSON. The time is linear in its bytes.
    ///
    /// # Errors
    /// It is no index, or too large.
    pub fn read(bytes: &[u8]) -> Result<Self, IndexError> {
        if bytes.len() > INDEX_BYTES {
            return Err(too_large("bytes", INDEX_BYTES));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| IndexError::NotText)?;
        let text = text.trim_start_matches('\u{feff}');
        let mut builder = Builder::default();
        match text.trim_start().starts_with('{') {
            true => json::read(text, &mut builder)?,
            false => yaml::read(text, &mut builder)?,
        }
        match builder.has_api_version {
            true => Ok(builder.index),
            false => Err(IndexError::NoApiVersion),
        }
    }

    /// The names of the charts, sorted.
    pub fn charts(&self) -> impl Iterator<Item = &str> {
        self.charts.keys().map(String::as_str)
    }

    /// The versions of a chart; none if there is no such chart.
    #[must_use]
    pub fn versions(&self, chart: &str) -> &[Archive] {
        self.charts.get(chart).map_or(&[], Vec::as_slice)
    }
}

fn too_large(what: &'static str, limit: usize) -> IndexError {
    IndexError::TooLarge { what, limit }
}

/// An index that grows.
#[derive(Default)]
struct Builder {
    index: Index,
    versions: usize,
    has_api_version: bool,
}

impl Builder {
    fn api_version(&mut self, text: &str) {
        self.has_api_version = !text.is_empty();
    }

    /// Adds a version, unless nothing can be done with it.
    fn add(&mut self, chart: &str, archive: Archive) -> Result<(), IndexError> {
        self.versions += 1;
        if self.versions > VERSIONS {
            return Err(too_large("versions", VERSIONS));
        }
        let Archive {
            version,
            url,
            digest,
        } = archive;
        let is_usable = (1..=NAME_BYTES).contains(&chart.len())
            && version.parse::<Version>().is_ok()
            && (1..=URL_BYTES).contains(&url.len());
        if is_usable {
            let digest = digest.filter(|digest| is_sha256(digest));
            let digest = digest.map(|digest| digest.to_ascii_lowercase());
            let versions = self.index.charts.entry(chart.to_owned()).or_default();
            versions.push(Archive {
                version,
                url,
                digest,
            });
        }
        Ok(())
    }
}

fn is_sha256(digest: &str) -> bool {
    digest.len() == DIGEST_CHARS && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests;
