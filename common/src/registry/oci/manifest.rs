//! The manifest of an artifact (OCI image specification 1.1): its files and their digests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::canonical::{Digest, digest_bytes};
use crate::registry::{FilePath, PACKED, PROVENANCE, VERSION_FILES as LAYERS};

pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The artifact type of a template's version, and of the files at a registry's root.
pub const TEMPLATE: &str = "application/vnd.deployment-manager.template.v1";
/// The type of the single artifact that all tags of the index have.
pub const INDEX: &str = "application/vnd.deployment-manager.index.v1";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
const FILE: &str = "application/vnd.deployment-manager.file.v1";
/// The types of a packed chart and of its `Chart.yaml`, as Helm pushes them.
pub const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
pub const CHART_CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
/// The type of a packed chart before Helm 3.7.
const OLD_CHART_CONTENT: &str = "application/tar+gzip";
const CHART_PROVENANCE: &str = "application/vnd.cncf.helm.chart.provenance.v1.prov";
/// The annotation with the path of a file.
const TITLE: &str = "org.opencontainers.image.title";
/// The annotation of `oras` for a folder that is packed into a layer.
const UNPACK: &str = "io.deis.oras.content.unpack";
/// The media type of an empty content.
const EMPTY_CONTENT: &[u8] = b"{}";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    config: Descriptor,
    layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

/// The descriptor of a content: its type, size and digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    media_type: String,
    pub digest: Digest,
    pub size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<String, String>,
}

impl Descriptor {
    fn of(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: digest_bytes(content),
            size: u64::try_from(content.len()).unwrap_or(u64::MAX),
            annotations: BTreeMap::new(),
        }
    }

    /// Whether the bytes match the descriptor.
    pub fn describes(&self, content: &[u8]) -> bool {
        digest_bytes(content) == self.digest
    }
}

impl Manifest {
    /// The same files always give the same manifest.
    pub fn of_files<'a>(files: impl IntoIterator<Item = (&'a FilePath, &'a [u8])>) -> Self {
        let layer = |(path, content): (&FilePath, &[u8])| Descriptor {
            annotations: BTreeMap::from([(TITLE.to_owned(), path.to_string())]),
            ..Descriptor::of(FILE, content)
        };
        Self::new(TEMPLATE, files.into_iter().map(layer).collect())
    }

    /// A packed chart, with its `Chart.yaml` as JSON.
    pub fn of_chart(metadata: &[u8], archive: &[u8]) -> Self {
        Self {
            artifact_type: None,
            config: Descriptor::of(CHART_CONFIG, metadata),
            ..Self::new(TEMPLATE, vec![Descriptor::of(CHART_CONTENT, archive)])
        }
    }

    /// Whether Helm, or another tool of charts, pushed it.
    pub fn is_chart(&self) -> bool {
        self.config.media_type == CHART_CONFIG
    }

    pub fn of_index() -> Self {
        Self::new(INDEX, vec![Descriptor::of(EMPTY, EMPTY_CONTENT)])
    }

    fn new(artifact_type: &str, layers: Vec<Descriptor>) -> Self {
        Self {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(artifact_type.to_owned()),
            config: Descriptor::of(EMPTY, EMPTY_CONTENT),
            layers,
            annotations: BTreeMap::new(),
        }
    }

    /// The content of the config, and of the only layer of the index.
    pub const fn empty_content() -> &'static [u8] {
        EMPTY_CONTENT
    }

    /// The files by their paths, or what is wrong with the manifest as a template's version. A packed chart gets the name of
    /// its template, and so does its provenance.
    pub fn files(self, template: &str) -> Result<BTreeMap<FilePath, Descriptor>, String> {
        if self.is_chart() {
            let path = FilePath::parse(&format!("{template}{PACKED}"));
            return self.into_packed_chart(path.map_err(|error| error.to_string())?);
        }
        if self.layers.len() > LAYERS {
            return Err(format!("it has more than {LAYERS} layers"));
        }
        let mut files = BTreeMap::new();
        for layer in self.layers {
            let title = layer.annotations.get(TITLE).ok_or_else(|| {
                format!("one of its layers has no {TITLE}: it is not an artifact of files")
            })?;
            if layer.annotations.contains_key(UNPACK) {
                return Err(format!(
                    "its layer {title:?} is a packed folder; push each of its files by itself"
                ));
            }
            let path = FilePath::listed(title).map_err(|error| error.to_string())?;
            if files.contains_key(&path) {
                return Err(format!("two of its layers have the title '{path}'"));
            }
            files.insert(path, layer);
        }
        Ok(files)
    }

    /// A chart may have further layers beside its archive and its provenance.
    fn into_packed_chart(self, path: FilePath) -> Result<BTreeMap<FilePath, Descriptor>, String> {
        let of = |types: &'static [&str]| {
            let layers = self.layers.iter();
            layers.filter(move |layer| types.contains(&layer.media_type.as_str()))
        };
        let mut found = of(&[CHART_CONTENT, OLD_CHART_CONTENT]);
        match (found.next(), found.next()) {
            (Some(layer), None) => {
                let beside = of(&[CHART_PROVENANCE]).take(1);
                let beside = beside.map(|layer| (path.with_ending(PROVENANCE), layer));
                let all = beside.chain([(path.clone(), layer)]);
                Ok(all.map(|(path, layer)| (path, layer.clone())).collect())
            }
            (None, _) => Err(format!(
                "it is a chart without a layer of type {CHART_CONTENT}"
            )),
            (Some(_), Some(_)) => Err("it is a chart with two archives".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::parse(text).unwrap()
    }

    #[test]
    fn files_become_layers_with_titles_and_files_again() {
        let (a, b) = (path("a.py"), path("lib/b.py"));
        let manifest = Manifest::of_files([(&a, &b"one"[..]), (&b, &b"two"[..])]);
        let text = serde_json::to_string(&manifest).unwrap();
        assert!(
            text.contains(r#""artifactType":"application/vnd.deployment-manager.template.v1""#)
        );
        let files = serde_json::from_str::<Manifest>(&text)
            .unwrap()
            .files("a")
            .unwrap();
        let found: Vec<_> = files.iter().map(|(p, d)| (p.as_str(), d.size)).collect();
        assert_eq!(found, [("a.py", 3), ("lib/b.py", 3)]);
        assert!(files[&a].describes(b"one") && !files[&a].describes(b"two"));
    }

    #[test]
    fn what_is_no_version_of_a_template_says_why() {
        let a = path("a");
        let called = |name: &str| format!(r#""org.opencontainers.image.title":"{name}""#);
        let whole = serde_json::to_string(&Manifest::of_files([(&a, &b"x"[..])])).unwrap();
        let title = r#""org.opencontainers.image.title":"a""#;
        let layers = |text: &str| {
            let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
            let first = value["layers"][0].clone();
            value["layers"].as_array_mut().unwrap().push(first);
            value.to_string()
        };
        for (text, reason) in [
            (whole.replace(title, &called("../evil")), "'..'"),
            (whole.replace(title, &called("a/../../evil")), "'..'"),
            (whole.replace(title, &called("/etc/evil")), "relative"),
            (whole.replace(title, ""), "no org.opencontainers"),
            (
                whole.replace(
                    title,
                    r#""org.opencontainers.image.title":"a","io.deis.oras.content.unpack":"true""#,
                ),
                "packed folder",
            ),
            (layers(&whole), "two of its layers"),
        ] {
            let manifest: Manifest = serde_json::from_str(&text).unwrap();
            let error = manifest.files("a").unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_chart_as_helm_pushes_it_is_one_file() {
        let chart = Manifest::of_chart(b"{}", b"archive");
        assert!(chart.is_chart());
        let files = chart.clone().files("web").unwrap();
        let names: Vec<_> = files.keys().map(FilePath::as_str).collect();
        assert_eq!(names, ["web.tgz"]);
        let mut signed = chart.clone();
        let layer = Descriptor::of(CHART_PROVENANCE, b"signed");
        signed.layers.insert(0, layer);
        let files = signed.files("web").unwrap();
        let names: Vec<_> = files.keys().map(FilePath::as_str).collect();
        assert_eq!(names, ["web.tgz", "web.tgz.prov"]);
        let mut without = chart;
        without.layers.clear();
        let error = without.files("web").unwrap_err();
        assert!(error.contains(CHART_CONTENT), "{error}");
    }
}
