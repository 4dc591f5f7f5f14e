//! Helm's record of a release: a Secret with base 64 of gzip of JSON.

use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::CommandError;

/// Bytes of a record, unpacked. The Secret has at most 1 MiB.
const BYTES: u64 = 64 * 1024 * 1024;
const GZIP: [u8; 3] = [0x1f, 0x8b, 0x08];

#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    #[error(
        "there is no release {name} in namespace {namespace}; helm list -n {namespace} shows the releases there"
    )]
    Missing { name: String, namespace: String },
    #[error(
        "release {name} is {status}: Helm has not finished its last operation. Finish it, or roll it back with helm rollback"
    )]
    Pending { name: String, status: String },
    #[error("release {name} was never deployed: its last status is {status}")]
    NotDeployed { name: String, status: String },
    #[error("the record of release {name} cannot be read: {reason}")]
    Unreadable { name: String, reason: String },
}

impl CommandError for ReleaseError {}

/// The revisions of a release, as the labels of their Secrets say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    pub secret: String,
    pub number: u64,
    pub status: String,
}

impl Revision {
    /// Reads lines of `secret version status`.
    pub fn list(lines: &str) -> Vec<Self> {
        let revision = |line: &str| {
            let mut words = line.split_whitespace();
            Some(Self {
                secret: words.next()?.to_owned(),
                number: words.next()?.parse().ok()?,
                status: words.next()?.to_owned(),
            })
        };
        lines.lines().filter_map(revision).collect()
    }
}

/// The revision that is deployed.
///
/// # Errors
/// There is none, or Helm is at work.
pub fn deployed<'r>(
    revisions: &'r [Revision],
    name: &str,
    namespace: &str,
) -> Result<&'r Revision, ReleaseError> {
    let Some(last) = revisions.iter().max_by_key(|revision| revision.number) else {
        return Err(ReleaseError::Missing {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
        });
    };
    let (name, status) = (name.to_owned(), last.status.clone());
    if status.starts_with("pending-") || status == "uninstalling" {
        return Err(ReleaseError::Pending { name, status });
    }
    let found = revisions
        .iter()
        .filter(|revision| revision.status == "deployed");
    let found = found.max_by_key(|revision| revision.number);
    found.ok_or(ReleaseError::NotDeployed { name, status })
}

/// What Helm knows of a release. Its other fields are not needed.
#[derive(Debug, Deserialize)]
pub struct Release {
    pub name: String,
    #[serde(rename = "version")]
    pub revision: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub config: Map<String, Value>,
    pub chart: StoredChart,
    /// The rendered objects.
    #[serde(default)]
    pub manifest: String,
}

/// A chart without its subcharts: Helm does not store those.
#[derive(Debug, Deserialize)]
pub struct StoredChart {
    pub metadata: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub templates: Vec<StoredFile>,
    #[serde(default, deserialize_with = "or_default")]
    pub values: Map<String, Value>,
    /// Base 64.
    #[serde(default, deserialize_with = "or_default")]
    pub schema: String,
    #[serde(default, deserialize_with = "or_default")]
    pub files: Vec<StoredFile>,
}

#[derive(Debug, Deserialize)]
pub struct StoredFile {
    pub name: String,
    /// Base 64.
    #[serde(default, deserialize_with = "or_default")]
    pub data: String,
}

/// Go writes an empty map or list as null.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Release {
    /// Reads `data.release` of the Secret, which Kubernetes has encoded once more.
    ///
    /// # Errors
    /// It is no such record, or too large.
    pub fn read(name: &str, data: &str) -> Result<Self, ReleaseError> {
        parse(data).map_err(|reason| ReleaseError::Unreadable {
            name: name.to_owned(),
            reason,
        })
    }

    /// The chart's own word for something, such as its version.
    pub fn chart_says(&self, key: &str) -> &str {
        let found = self.chart.metadata.get(key).and_then(Value::as_str);
        found.unwrap_or_default()
    }
}

fn parse(data: &str) -> Result<Release, String> {
    let decoded = |text: &[u8]| {
        let text: Vec<u8> = text
            .iter()
            .copied()
            .filter(|b| !b.is_ascii_whitespace())
            .collect();
        BASE64_STANDARD
            .decode(text)
            .map_err(|error| error.to_string())
    };
    let packed = decoded(&decoded(data.as_bytes())?)?;
    let text = match packed.starts_with(&GZIP) {
        true => unpacked(&packed)?,
        false => packed,
    };
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    // One byte more than allowed shows that there is more.
    let read = GzDecoder::new(packed)
        .take(BYTES + 1)
        .read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    match u64::try_from(text.len()).is_ok_and(|bytes| bytes <= BYTES) {
        true => Ok(text),
        false => Err(format!("it unpacks to more than {BYTES} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::json;

    use super::*;

    fn encoded(packed: &[u8]) -> String {
        BASE64_STANDARD.encode(BASE64_STANDARD.encode(packed))
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_record_is_read_packed_or_plain() {
        let record = json!({"name": "web", "version": 3, "config": null,
            "chart": {"metadata": {"name": "web", "version": "1.2.3"}, "templates": null, "schema": null}});
        let text = record.to_string();
        for packed in [gzip(text.as_bytes()), text.clone().into_bytes()] {
            let release = Release::read("web", &encoded(&packed)).unwrap();
            assert_eq!(
                (release.revision, release.chart_says("version")),
                (3, "1.2.3")
            );
            assert!(release.config.is_empty() && release.chart.templates.is_empty());
        }
    }

    #[test]
    fn a_record_that_is_none_or_unpacks_to_too_much_is_refused() {
        let bomb = gzip(&vec![b' '; usize::try_from(BYTES).unwrap() + 2]);
        for (data, says) in [
            ("%".to_owned(), "nvalid"),
            (encoded(b"{}"), "missing field"),
            (encoded(&gzip(b"[]")[..5]), "web"),
            (encoded(&bomb), "more than"),
        ] {
            let error = Release::read("web", &data).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_deployed_revision_counts_unless_helm_is_at_work() {
        let lines = "a 1 superseded\nb 2 deployed\nc 10 failed\nno number x\n";
        let revisions = Revision::list(lines);
        assert_eq!(deployed(&revisions, "web", "shop").unwrap().secret, "b");
        for (lines, says) in [
            ("", "no release web in namespace shop"),
            ("a 1 deployed\nb 2 pending-upgrade", "is pending-upgrade"),
            ("a 1 failed", "never deployed"),
        ] {
            let error = deployed(&Revision::list(lines), "web", "shop").unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
