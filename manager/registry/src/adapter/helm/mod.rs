//! A repository of Helm charts as a template registry: an `index.yaml`, and the archives that it names.
//!
//! ```text
//! <chart>/v<version>/<chart>.tgz     the archives as files of templates, for versions of three numbers
//! ```
//!
//! An index may name archives on any host, and hosts redirect to others. Those must be public, and get no credential:
//! otherwise a repository could lead the manager to any address in its network.

mod archive;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::{RegistryDefinition, Version};
use common::registry::{CHART_BYTES, FilePath, PACKED, PROVENANCE};
use common::work;
use common_chart::index::{Archive, INDEX_BYTES, Index};
use common_chart::semver::{choose, newest_first};
use reqwest::StatusCode;
use url::Url;

use crate::RegistryError;
use crate::adapter::{ChartFile, Entry, EntryKind, Files, LocatedChart, Registry};
use crate::cache::{Loaded, StaleWhileRevalidate, Staleness};
use crate::reference::WantedChart;
use crate::transport::{CachedAnswer, MaxAge, Web, WebError};
use archive::ArchiveFile;

const INDEX: &str = "index.yaml";
const OCI: &str = "oci://";
/// How many versions an error names.
const NAMED: usize = 10;

#[derive(Debug, Clone)]
pub struct Repository(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    definition: RegistryDefinition,
    /// Ends with a `/`.
    base: Url,
    web: Web,
    /// For archives on other hosts.
    outside: Web,
    charts: StaleWhileRevalidate<Charts>,
}

/// An index, and the digest of its text.
#[derive(Debug)]
struct Charts {
    sha256: String,
    index: Index,
}

impl Repository {
    /// `base` ends with a `/`. `outside` reaches public addresses, without a credential.
    pub fn new(
        name: &str,
        definition: RegistryDefinition,
        base: Url,
        (web, outside): (Web, Web),
        refresh: Duration,
    ) -> Self {
        Self(Arc::new(Inner {
            name: name.to_owned(),
            definition,
            base,
            web: web.leaving(outside.clone()),
            outside: outside.clone().leaving(outside),
            charts: StaleWhileRevalidate::new(refresh),
        }))
    }

    async fn charts(&self) -> Result<Arc<Charts>, RegistryError> {
        let this = self.clone();
        let load = |held| async move { this.load(held).await };
        self.0.charts.get(load).await
    }

    async fn load(&self, held: Option<Arc<Charts>>) -> Result<Loaded<Charts>, RegistryError> {
        let url = self.joined(INDEX)?;
        let answer = self.0.web.fetch(&url, "*/*", INDEX_BYTES, MaxAge::ZERO);
        let kept = match answer.await? {
            kept if kept.status == StatusCode::OK => kept,
            kept => return Err(missing(url, kept.status)),
        };
        let staleness = kept.staleness.clone();
        if let Some(same) = held.filter(|held| held.sha256 == kept.sha256) {
            return Ok(Loaded {
                value: same,
                staleness,
            });
        }
        // Tens of megabytes are nothing for a thread that serves requests.
        let body = kept.body.clone();
        let index = work::large(move || Index::read(&body)).await;
        let index = index.map_err(|error| RegistryError::Malformed {
            url: url.into(),
            reason: error.to_string(),
        })?;
        let sha256 = kept.sha256;
        Ok(Loaded {
            value: Arc::new(Charts { sha256, index }),
            staleness,
        })
    }

    fn joined(&self, url: &str) -> Result<Url, RegistryError> {
        let joined = self.0.base.join(url);
        joined.map_err(|error| RegistryError::Malformed {
            url: self.0.base.to_string(),
            reason: format!("it names {url:?}, which is not a URL: {error}"),
        })
    }

    fn pick<'c>(
        &self,
        charts: &'c Charts,
        wanted: &WantedChart,
    ) -> Result<&'c Archive, RegistryError> {
        let versions = charts.index.versions(&wanted.chart);
        if versions.is_empty() {
            return Err(self.no_chart(charts, &wanted.chart));
        }
        let texts = versions.iter().map(|one| one.version.as_str());
        let chosen = chosen(wanted, texts.clone())?;
        let found = versions
            .iter()
            .find(|one| Some(one.version.as_str()) == chosen);
        found.ok_or_else(|| no_version(&self.0.name, wanted, texts))
    }

    fn no_chart(&self, charts: &Charts, chart: &str) -> RegistryError {
        let is_near = |name: &&str| name.contains(chart) || chart.contains(name);
        let near: Vec<&str> = charts.index.charts().filter(is_near).collect();
        let names: Vec<&str> = match near.is_empty() {
            true => charts.index.charts().collect(),
            false => near,
        };
        RegistryError::TemplateNotFound {
            registry: self.0.name.clone(),
            template: chart.to_owned(),
            templates: names.into_iter().map(str::to_owned).collect(),
        }
    }

    /// The bytes of an archive, with the digest that the index names.
    async fn archive(&self, archive: &Archive) -> Result<Vec<u8>, RegistryError> {
        let url = self.joined(&archive.url)?;
        let Some(digest) = &archive.digest else {
            let kept = self.fetch(&url, MaxAge::ZERO).await?;
            return Ok(kept.body.into());
        };
        // An archive with the named digest is valid at any age.
        for age in [MaxAge::Any, MaxAge::ZERO] {
            let kept = self.fetch(&url, age).await?;
            if kept.sha256 == *digest {
                return Ok(kept.body.into());
            }
        }
        Err(RegistryError::Digest { file: url.into() })
    }

    /// The provenance file of an archive: Helm looks for it at the archive's URL with another ending.
    async fn provenance(&self, archive: &Archive) -> Result<Option<Vec<u8>>, RegistryError> {
        let url = self.joined(&[&archive.url, PROVENANCE].concat())?;
        match self.fetch(&url, MaxAge::ZERO).await {
            Ok(kept) => Ok(Some(kept.body.into())),
            Err(RegistryError::UrlNotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The URL of an archive, or of its provenance.
    fn address(&self, archive: &Archive, file: &FilePath) -> String {
        let ending = match is_provenance(file.as_str()) {
            true => PROVENANCE,
            false => "",
        };
        let text = [&archive.url, ending].concat();
        self.joined(&text).map_or(text, String::from)
    }

    async fn fetch(&self, url: &Url, age: MaxAge) -> Result<CachedAnswer, RegistryError> {
        let web = match url.origin() == self.0.base.origin() {
            true => &self.0.web,
            false => &self.0.outside,
        };
        let kept = web.fetch(url, "*/*", CHART_BYTES, age).await?;
        match kept.status {
            StatusCode::OK => Ok(kept),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(RegistryError::UrlNotFound {
                url: url.to_string(),
            }),
            status => Err(WebError::Status {
                url: url.to_string(),
                status,
            }
            .into()),
        }
    }

    /// The archive of a path, or of the path of its provenance, from the index that is held.
    fn at<'c>(&self, charts: &'c Charts, file: &FilePath) -> Option<&'c Archive> {
        let names: Vec<&str> = file.names().collect();
        let [chart, version, archive] = names[..] else {
            return None;
        };
        let mut all = numbered(charts.index.versions(chart));
        let archive = archive.strip_suffix(PROVENANCE).unwrap_or(archive);
        let is_archive = archive.strip_suffix(PACKED) == Some(chart);
        let found = all.find(|(name, _)| name == version)?;
        is_archive.then_some(found.1)
    }
}

fn is_provenance(file: &str) -> bool {
    let archive = file.strip_suffix(PROVENANCE);
    archive.is_some_and(|archive| archive.ends_with(PACKED))
}

/// Which of these versions is meant.
pub fn chosen<'a>(
    wanted: &WantedChart,
    versions: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<Option<&'a str>, RegistryError> {
    choose(wanted.version_or_digest(), versions).map_err(|error| RegistryError::ChartVersion {
        chart: wanted.chart.clone(),
        reason: error.to_string(),
    })
}

pub fn no_version<'a>(
    registry: &str,
    wanted: &WantedChart,
    versions: impl IntoIterator<Item = &'a str>,
) -> RegistryError {
    let newest = newest_first(versions).into_iter().take(NAMED + 1);
    RegistryError::VersionNotFound {
        registry: registry.to_owned(),
        template: wanted.chart.clone(),
        wanted: wanted.version_or_digest().to_owned(),
        versions: newest.map(str::to_owned).collect(),
    }
}

fn missing(url: Url, status: StatusCode) -> RegistryError {
    let url = url.to_string();
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => RegistryError::NoChartIndex { url },
        status => WebError::Status { url, status }.into(),
    }
}

/// The versions of three numbers, as folders of templates are called. Of two that are the same, the first one counts.
fn numbered(versions: &[Archive]) -> impl Iterator<Item = (String, &Archive)> {
    let mut met = std::collections::HashSet::new();
    versions.iter().filter_map(move |archive| {
        let plain = archive.version.strip_prefix('v');
        let name = format!("v{}", plain.unwrap_or(&archive.version));
        let version: Version = name.parse().ok()?;
        met.insert(version).then_some((name, archive))
    })
}

#[async_trait]
impl Files for Repository {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let charts = self.charts().await?;
        match self.at(&charts, file) {
            Some(archive) if archive.url.starts_with(OCI) => Err(RegistryError::ChartElsewhere {
                registry: self.0.name.clone(),
                url: archive.url.clone(),
            }),
            Some(archive) if is_provenance(file.as_str()) => self.provenance(archive).await,
            Some(archive) => self.archive(archive).await.map(Some),
            None => Ok(None),
        }
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.0.name.trim_end_matches('/'))
    }

    fn url_of(&self, file: &FilePath) -> String {
        let held = self.0.charts.held();
        let archive = held.as_ref().and_then(|charts| self.at(charts, file));
        match archive {
            Some(archive) => self.address(archive, file),
            None => format!("{}{file}", self.0.base),
        }
    }

    fn stale(&self) -> Option<Staleness> {
        self.0.charts.stale()
    }

    fn expire(&self) {
        self.0.charts.expire();
    }
}

#[async_trait]
impl Registry for Repository {
    fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.0.name.clone(),
            definition: self.0.definition.clone(),
        }
    }

    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        let charts = self.charts().await?;
        let names: Vec<&str> = folder.names().collect();
        let entry = |name: String, kind, revision| Entry {
            name,
            kind,
            revision,
        };
        let entries: Vec<Entry> = match names[..] {
            [] => {
                let charts = charts.index.charts();
                let folders = charts.map(|name| entry(name.to_owned(), EntryKind::Folder, None));
                folders.collect()
            }
            [chart] => {
                let versions = numbered(charts.index.versions(chart));
                let folders = versions
                    .map(|(name, archive)| entry(name, EntryKind::Folder, archive.digest.clone()));
                folders.collect()
            }
            [chart, version] => {
                let mut versions = numbered(charts.index.versions(chart));
                let found = versions.find(|(name, _)| name == version);
                let file = |(_, archive): (String, &Archive)| {
                    let name = format!("{chart}{PACKED}");
                    entry(name, EntryKind::File, archive.digest.clone())
                };
                found.map(file).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let mut entries = entries;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok((!entries.is_empty() || names.is_empty()).then_some(entries))
    }

    async fn chart(&self, wanted: &WantedChart) -> Result<LocatedChart, RegistryError> {
        let charts = self.charts().await?;
        let archive = self.pick(&charts, wanted)?;
        if archive.url.starts_with(OCI) {
            return Ok(LocatedChart::Elsewhere(archive.url.clone()));
        }
        let name = format!("{}-{}{PACKED}", wanted.chart, archive.version);
        Ok(LocatedChart::Here(ChartFile {
            version: archive.version.clone(),
            revision: archive.digest.clone(),
            archive: FilePath::parse(&name)?,
            files: Arc::new(ArchiveFile::new(self.clone(), archive.clone())),
        }))
    }
}
