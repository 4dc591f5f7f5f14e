//! Helm charts in an OCI registry: a repository is a chart, and its tags are versions with `_` for `+`.

use std::sync::Arc;

use async_trait::async_trait;
use common::registry::oci::layout;
use common::registry::{FilePath, PACKED, PROVENANCE};

use super::{Artifact, Artifacts};
use crate::RegistryError;
use crate::adapter::helm::{chosen, no_version};
use crate::adapter::{ChartFile, Files};
use crate::cache::Staleness;
use crate::reference::WantedChart;

impl Artifacts {
    /// The chart that is wanted, by its digest, by its tag, or as the highest version in a range.
    pub(super) async fn packed_chart(
        &self,
        wanted: &WantedChart,
    ) -> Result<ChartFile, RegistryError> {
        let folder = FilePath::parse(&wanted.chart)?;
        let repository = layout::repository(&self.0.prefix, &folder);
        let repository = repository.ok_or_else(|| self.no_chart(wanted))?;
        let (tag, version) = self.tag(&repository, wanted).await?;
        let artifact = self.artifact(&repository, &tag).await?;
        let Some(found) = artifact.as_ref().as_ref() else {
            return Err(self.no_chart(wanted));
        };
        if wanted
            .digest
            .as_ref()
            .is_some_and(|digest| *digest != found.digest)
        {
            let file = format!("{repository}:{tag}");
            return Err(RegistryError::Digest { file });
        }
        let name = wanted.chart.rsplit('/').next().unwrap_or_default();
        let layer = FilePath::parse(&format!("{name}{PACKED}"))?;
        if !found.files.contains_key(&layer) {
            return Err(RegistryError::Artifact {
                registry: self.0.name.clone(),
                version: format!("{repository}:{tag}"),
                reason: "it is not a Helm chart: push charts with helm push".to_owned(),
            });
        }
        let revision = Some(found.digest.clone());
        Ok(ChartFile {
            archive: FilePath::parse(&format!("{}-{version}{PACKED}", wanted.chart))?,
            version,
            revision,
            files: Arc::new(ChartLayer {
                artifacts: self.clone(),
                artifact: artifact.clone(),
                repository,
                tag,
                layer,
            }),
        })
    }

    /// The tag of the wanted chart, or its digest, and the version that it is.
    async fn tag(
        &self,
        repository: &str,
        wanted: &WantedChart,
    ) -> Result<(String, String), RegistryError> {
        let Some(version) = &wanted.version else {
            let digest = wanted.version_or_digest().to_owned();
            return Ok((digest.clone(), digest.replace(':', "-")));
        };
        let tag = version.replace('+', "_");
        let is_tag = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if tag.chars().all(is_tag) && self.artifact(repository, &tag).await?.is_some() {
            return Ok((tag, version.clone()));
        }
        let tags = self.tags(repository).await?;
        let Some(tags) = tags.as_ref() else {
            return Err(self.no_chart(wanted));
        };
        let versions: Vec<String> = tags.iter().map(|tag| tag.replace('_', "+")).collect();
        let texts = versions.iter().map(String::as_str);
        match chosen(wanted, texts.clone())? {
            Some(version) => Ok((version.replace('+', "_"), version.to_owned())),
            None => Err(no_version(&self.0.name, wanted, texts)),
        }
    }

    fn no_chart(&self, wanted: &WantedChart) -> RegistryError {
        RegistryError::TemplateNotFound {
            registry: self.0.name.clone(),
            template: wanted.chart.clone(),
            templates: Vec::new(),
        }
    }
}

/// The layer of an artifact that is a packed chart.
struct ChartLayer {
    artifacts: Artifacts,
    artifact: Arc<Option<Artifact>>,
    repository: String,
    tag: String,
    layer: FilePath,
}

/// Only the archive is there, and perhaps its provenance.
#[async_trait]
impl Files for ChartLayer {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let found = self.artifact.as_ref().as_ref();
        let ending = match file.as_str().ends_with(PACKED) {
            true => Some(""),
            false => file.as_str().ends_with(PROVENANCE).then_some(PROVENANCE),
        };
        let layer = ending.and_then(|ending| {
            let path = self.layer.with_ending(ending);
            found?.files.get(&path)
        });
        match layer {
            Some(layer) => {
                let shown = self.path_of(file);
                let read = self.artifacts.content(&self.repository, layer, file, shown);
                read.await.map(Some)
            }
            None => Ok(None),
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        self.artifacts.path_of(file)
    }

    /// As users name it.
    fn url_of(&self, _: &FilePath) -> String {
        let base = &self.artifacts.0.base;
        let host = base.authority();
        match self.tag.contains(':') {
            true => format!("oci://{host}/{}@{}", self.repository, self.tag),
            false => format!("oci://{host}/{}:{}", self.repository, self.tag),
        }
    }

    fn stale(&self) -> Option<Staleness> {
        self.artifacts.stale()
    }

    fn expire(&self) {
        self.artifacts.expire();
    }
}
