//! References to Helm charts: by the version that a chart has itself, or a range of such versions.
//!
//! ```text
//! helm:<registered registry>/<chart>:<version>
//! helm:http(s)://host/path/<chart>:<version>       a chart repository
//! oci://host/path/<chart>[:<version>][@sha256:<digest>]
//! ```

use common::model::Version;
use common::model::registry::scope::is_part;
use common::registry::oci::OciLocation;
use url::Url;

const HELM: &str = "helm:";
const OCI: [&str; 2] = ["oci://", "oci+http://"];
const GRAMMAR: &str = "write it like helm:<registry>/<chart>:<version>, helm:https://<repository>/<chart>:<version> or oci://<host>/<path>/<chart>:<version>";
const NO_VERSION: &str =
    "it has no version; end it with one, such as ':1.2.3', or a range, such as ':^1.2'";
const VERSION_CHARS: usize = 256;
const SHA256: &str = "sha256:";
const DIGEST_CHARS: usize = 64;

/// A reference to a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartReference {
    pub place: ChartPlace,
    pub wanted: WantedChart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartPlace {
    Registered(String),
    /// The URL of a chart repository, with a `/` at its end.
    Repository(Url),
    /// The root URL of an OCI registry's host. The chart is a whole repository.
    Oci(Url),
}

/// Which chart of a registry is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedChart {
    /// Of an OCI registry, with the path to it.
    pub chart: String,
    /// A version, or a range of versions. Absent: there is a digest.
    pub version: Option<String>,
    /// `sha256:<hex>` of an OCI manifest.
    pub digest: Option<String>,
}

impl WantedChart {
    /// The number of the version, if it is one that other templates could have, too.
    pub fn number(&self) -> Option<Version> {
        let version = self.version.as_deref()?;
        let plain = version.strip_prefix('v').unwrap_or(version);
        (plain.split('.').count() == 3).then_some(())?;
        format!("v{plain}").parse().ok()
    }

    /// The same chart in another version.
    pub fn at(self, version: Option<Version>) -> Self {
        let Some(version) = version else { return self };
        let Version {
            major,
            minor,
            patch,
        } = version;
        Self {
            version: Some(format!("{major}.{minor}.{patch}")),
            digest: None,
            ..self
        }
    }

    /// For messages.
    pub fn version_or_digest(&self) -> &str {
        let digest = self.digest.as_deref();
        self.version.as_deref().or(digest).unwrap_or_default()
    }
}

/// Whether a text is meant as a reference to a chart. `helm:v1` is a template with the name `helm`.
pub fn is_meant(text: &str) -> bool {
    text.strip_prefix(HELM)
        .is_some_and(|rest| rest.contains('/'))
        || OCI.iter().any(|scheme| text.starts_with(scheme))
}

pub fn parse(text: &str) -> Result<ChartReference, String> {
    match text.strip_prefix(HELM) {
        Some(rest) if rest.contains("://") => in_repository(rest),
        Some(rest) => in_registry(rest),
        None => in_oci(text),
    }
}

fn in_registry(rest: &str) -> Result<ChartReference, String> {
    let (path, version) = versioned(rest)?;
    let (registry, chart) = path.split_once('/').ok_or(GRAMMAR)?;
    is_path(path)?;
    Ok(ChartReference {
        place: ChartPlace::Registered(registry.to_owned()),
        wanted: WantedChart {
            chart: chart.to_owned(),
            version: Some(version),
            digest: None,
        },
    })
}

fn in_repository(rest: &str) -> Result<ChartReference, String> {
    let (path, version) = versioned(rest)?;
    let (repository, chart) = path.rsplit_once('/').ok_or(GRAMMAR)?;
    is_path(chart)?;
    let mut url = Url::parse(repository).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(GRAMMAR.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a type must not contain credentials; register the repository".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the URL of a chart repository has no '?' and no '#'".to_owned());
    }
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("");
    }
    Ok(ChartReference {
        place: ChartPlace::Repository(url),
        wanted: WantedChart {
            chart: chart.to_owned(),
            version: Some(version),
            digest: None,
        },
    })
}

fn in_oci(text: &str) -> Result<ChartReference, String> {
    let (path, last) = text.rsplit_once('/').ok_or(GRAMMAR)?;
    let (last, digest) = match last.split_once('@') {
        Some((last, digest)) => (last, Some(checked_digest(digest)?)),
        None => (last, None),
    };
    let (name, version) = match last.split_once(':') {
        Some((name, version)) => (name, Some(checked_version(version)?)),
        None if digest.is_some() => (last, None),
        None => return Err(NO_VERSION.to_owned()),
    };
    let location = OciLocation::parse(&format!("{path}/{name}"))?;
    Ok(ChartReference {
        place: ChartPlace::Oci(location.base),
        wanted: WantedChart {
            chart: location.prefix,
            version,
            digest,
        },
    })
}

/// The path and the version of `a/b/c:1.2.3`.
fn versioned(text: &str) -> Result<(&str, String), String> {
    let name = text.rfind('/').ok_or(GRAMMAR)?;
    let colon = text[name..].find(':').ok_or(NO_VERSION)? + name;
    Ok((&text[..colon], checked_version(&text[colon + 1..])?))
}

fn checked_version(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(NO_VERSION.to_owned()),
        1..=VERSION_CHARS => Ok(text.to_owned()),
        _ => Err(format!(
            "its version has more than {VERSION_CHARS} characters"
        )),
    }
}

fn checked_digest(text: &str) -> Result<String, String> {
    let hex = text.strip_prefix(SHA256).unwrap_or_default();
    let is_digest = hex.len() == DIGEST_CHARS && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_digest {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("a digest is sha256: and 64 hexadecimal digits".to_owned()),
    }
}

fn is_path(path: &str) -> Result<(), String> {
    match path.split('/').find(|part| !is_part(part)) {
        Some(part) => Err(format!("{part:?} is not a name that a chart can have")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parse(text) {
            Ok(ChartReference { place, wanted }) => {
                let place = match place {
                    ChartPlace::Registered(name) => name,
                    ChartPlace::Repository(url) | ChartPlace::Oci(url) => url.to_string(),
                };
                format!(
                    "{place} | {} | {}",
                    wanted.chart,
                    wanted.version_or_digest()
                )
            }
            Err(error) => error,
        }
    }

    #[test]
    fn a_chart_is_named_with_its_place_and_its_version() {
        for (text, expected) in [
            ("helm:shop/web:1.2.3", "shop | web | 1.2.3"),
            ("helm:shop/org/web:^1.2", "shop | org/web | ^1.2"),
            (
                "helm:shop/web:>=1.2 <2 || 3.x",
                "shop | web | >=1.2 <2 || 3.x",
            ),
            (
                "helm:https://host/charts/web:1.0.0-rc.1+b",
                "https://host/charts/ | web | 1.0.0-rc.1+b",
            ),
            (
                "helm:http://host:8080/web:v1",
                "http://host:8080/ | web | v1",
            ),
            (
                "oci://host/org/web:1.2.3",
                "https://host/ | org/web | 1.2.3",
            ),
            (
                "oci://127.0.0.1:5000/web:*",
                "http://127.0.0.1:5000/ | web | *",
            ),
        ] {
            assert!(is_meant(text), "{text}");
            assert_eq!(shown(text), expected, "{text}");
        }
        let digest = format!("sha256:{}", "a0".repeat(32));
        let expected = format!("https://host/ | org/web | {digest}");
        assert_eq!(shown(&format!("oci://host/org/web@{digest}")), expected);
    }

    #[test]
    fn what_is_malformed_is_refused_with_the_reason() {
        for (text, reason) in [
            ("helm:shop/web", "no version"),
            ("helm:shop/web:", "no version"),
            ("oci://host/org/web", "no version"),
            ("helm:shop/../web:1", "\"..\""),
            ("helm:https://user:secret@host/web:1", "credentials"),
            ("helm:https://host/a?b/web:1", "'?'"),
            ("helm:ftp://host/web:1", "write it like"),
            ("oci://user:secret@host/web:1", "credentials"),
            ("oci://host/Org/web:1", "small letters"),
            ("oci://host/web@sha256:12", "64 hexadecimal"),
        ] {
            let error = shown(text);
            assert!(error.contains(reason), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(!is_meant("helm:v1"), "a template may be called helm");
    }

    #[test]
    fn a_whole_version_has_a_number() {
        for (text, number) in [
            ("helm:a/b:1.2.3", Some("v1.2.3")),
            ("helm:a/b:v1.2.3", Some("v1.2.3")),
            ("helm:a/b:1.2", None),
            ("helm:a/b:^1.2.3", None),
            ("helm:a/b:1.2.3-rc.1", None),
        ] {
            let found = parse(text).unwrap().wanted.number();
            assert_eq!(found.map(|found| found.to_string()).as_deref(), number);
        }
    }
}
