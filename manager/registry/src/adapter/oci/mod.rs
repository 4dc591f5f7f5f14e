//! Artifacts in an OCI registry as a template registry. The layout is [`common::registry::oci`]'s.
//!
//! Lists are cached for a while. The manifest of a version names its files by their digests, so the files are those that were
//! pushed. Responses are cached on disk, so a restarted manager can serve them while the registry is unreachable. Lists are
//! requested late: resolving a reference needs the tags of its template and one manifest.

mod chart;
mod transport;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use common::api::manager::RegistrySummary;
use common::model::RegistryDefinition;
pub use common::registry::oci::OciLocation;
use common::registry::oci::layout::{self, ROOT_TAG, Spot};
use common::registry::oci::{Client, Descriptor, Manifest, OciError};
use common::registry::{FilePath, limit_of};
use serde::{Deserialize, Serialize};

use crate::RegistryError;
use crate::adapter::open::OpenContext;
use crate::adapter::tree::Tree;
use crate::adapter::{Entry, EntryKind, Files, LocatedChart, Registry};
use crate::cache::{Partition, Staleness, TtlCache};
use crate::reference::WantedChart;
use crate::transport::WebError;
use crate::transport::auth::Auth;
use ::url::Url;
use transport::Guarded;

#[derive(Debug, Clone)]
pub struct Artifacts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    definition: RegistryDefinition,
    base: Url,
    /// Empty for all repositories of a host.
    prefix: String,
    client: Client<Guarded>,
    cache: Partition,
    /// By repository.
    tags: TtlCache<String, Option<BTreeSet<String>>>,
    /// All repositories, if the registry lists them.
    catalog: TtlCache<(), Option<BTreeSet<String>>>,
    /// By repository and tag.
    versions: TtlCache<(String, String), Option<Artifact>>,
    index: TtlCache<(), Index>,
}

/// The manifest of a tag.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tagged {
    digest: String,
    manifest: Manifest,
}

/// The files of one tag.
#[derive(Debug)]
struct Artifact {
    digest: String,
    tree: Tree,
    files: BTreeMap<FilePath, Descriptor>,
}

/// The source of the list of templates.
#[derive(Debug)]
enum Index {
    /// From the tags of the index. Templates that other tools pushed may be missing.
    Tags {
        templates: BTreeSet<FilePath>,
        has_root: bool,
    },
    /// From the registry's list of repositories.
    Catalog(BTreeSet<FilePath>),
    Unknown,
}

impl Index {
    fn templates(&self) -> impl Iterator<Item = &FilePath> {
        let known = match self {
            Self::Tags { templates, .. } | Self::Catalog(templates) => Some(templates),
            Self::Unknown => None,
        };
        known.into_iter().flatten()
    }

    /// Whether there may be a repository for this folder.
    fn may_have(&self, folder: &FilePath) -> bool {
        let listed = || self.templates().any(|template| template == folder);
        match self {
            Self::Catalog(_) => listed(),
            Self::Tags { .. } => listed() || self.below(folder).next().is_none(),
            Self::Unknown => true,
        }
    }

    /// The names below a folder that lead to templates.
    fn below<'a>(&'a self, folder: &'a FilePath) -> impl Iterator<Item = &'a str> {
        self.templates().filter_map(|template| {
            let mut names = template.names();
            let within = folder.names().all(|name| names.next() == Some(name));
            names.next().filter(|_| within)
        })
    }
}

impl Artifacts {
    pub fn new(
        name: &str,
        definition: RegistryDefinition,
        place: OciLocation,
        auth: Option<Auth>,
        context: &OpenContext,
    ) -> Self {
        let refresh = context.refresh;
        let transport = Guarded {
            web: context.web.clone(),
            auth,
            base: place.base.to_string(),
        };
        Self(Arc::new(Inner {
            cache: Partition::new(
                context.files.clone(),
                &definition.url,
                ["oci", &definition.url, context.web.realm()],
            ),
            name: name.to_owned(),
            definition,
            prefix: place.prefix,
            client: Client::new(transport, place.base.clone()),
            base: place.base,
            tags: TtlCache::new(refresh),
            catalog: TtlCache::new(refresh),
            versions: TtlCache::new(refresh),
            index: TtlCache::new(refresh),
        }))
    }

    fn failed(&self, error: OciError<WebError>) -> RegistryError {
        RegistryError::Oci {
            registry: self.0.name.clone(),
            error,
        }
    }

    async fn tags(&self, repository: &str) -> Result<Arc<Option<BTreeSet<String>>>, RegistryError> {
        let (this, wanted) = (self.clone(), repository.to_owned());
        let name = format!("{repository}/tags");
        let earlier = self.0.cache.value(&name);
        let load = {
            let name = name.clone();
            || async move {
                let tags = this.0.client.tags(&wanted).await;
                let tags = tags.map_err(|error| this.failed(error))?;
                this.0.cache.put_value(&name, &tags).await;
                Ok(tags)
            }
        };
        let key = repository.to_owned();
        self.0.tags.get(key, earlier, load).await
    }

    async fn catalog(&self) -> Result<Arc<Option<BTreeSet<String>>>, RegistryError> {
        const NAME: &str = "catalog";
        let this = self.clone();
        let load = || async move {
            let catalog = this.0.client.catalog().await;
            let catalog = catalog.map_err(|error| this.failed(error))?;
            this.0.cache.put_value(NAME, &catalog).await;
            Ok(catalog)
        };
        self.0.catalog.get((), self.0.cache.value(NAME), load).await
    }

    async fn index(&self) -> Result<Arc<Index>, RegistryError> {
        let this = self.clone();
        let load = || async move { this.load_index().await };
        // Its parts are cached, so it need not be.
        self.0.index.get((), async { None }, load).await
    }

    async fn load_index(&self) -> Result<Index, RegistryError> {
        if let Some(tags) = self.tags(&self.0.prefix).await?.as_ref() {
            let templates = tags.iter().filter_map(|tag| layout::template_of(tag));
            return Ok(Index::Tags {
                templates: templates.collect(),
                has_root: tags.contains(ROOT_TAG),
            });
        }
        let catalog = self.catalog().await?;
        let Some(repositories) = catalog.as_ref() else {
            return Ok(Index::Unknown);
        };
        let own = repositories.iter().filter_map(|repository| {
            let below = repository.strip_prefix(&self.0.prefix)?.strip_prefix('/')?;
            FilePath::parse(below).ok()
        });
        Ok(Index::Catalog(own.collect()))
    }

    /// The files of a tag. `None` if there is no such tag.
    async fn artifact(
        &self,
        repository: &str,
        tag: &str,
    ) -> Result<Arc<Option<Artifact>>, RegistryError> {
        let key = (repository.to_owned(), tag.to_owned());
        let name = format!("{repository}:{tag}");
        let earlier = async {
            let (tagged, given) = self.0.cache.value::<Option<Tagged>>(&name).await?;
            let artifact = self.read_artifact(&name, Option::clone(&tagged)).ok()?;
            Some((Arc::new(artifact), given))
        };
        let (this, (repository, tag)) = (self.clone(), key.clone());
        let load = || async move { this.load_artifact(&repository, &tag).await };
        self.0.versions.get(key, earlier, load).await
    }

    async fn load_artifact(
        &self,
        repository: &str,
        tag: &str,
    ) -> Result<Option<Artifact>, RegistryError> {
        let manifest = self.0.client.manifest(repository, tag).await;
        let manifest = manifest.map_err(|error| self.failed(error))?;
        let tagged = manifest.map(|(digest, manifest)| Tagged {
            digest: digest.to_string(),
            manifest,
        });
        let name = format!("{repository}:{tag}");
        self.0.cache.put_value(&name, &tagged).await;
        self.read_artifact(&name, tagged)
    }

    fn read_artifact(
        &self,
        version: &str,
        tagged: Option<Tagged>,
    ) -> Result<Option<Artifact>, RegistryError> {
        let Some(Tagged { digest, manifest }) = tagged else {
            return Ok(None);
        };
        let repository = version.split_once(':').map_or(version, |(path, _)| path);
        let template = repository.rsplit('/').next().unwrap_or_default();
        let files = manifest
            .files(template)
            .map_err(|reason| RegistryError::Artifact {
                registry: self.0.name.clone(),
                version: version.to_owned(),
                reason,
            })?;
        let named =
            |(path, layer): (&FilePath, &Descriptor)| (path.clone(), layer.digest.to_string());
        Ok(Some(Artifact {
            digest,
            tree: Tree::new(files.iter().map(named).collect()),
            files,
        }))
    }

    /// The artifact of a path, with its repository, and the path within the artifact.
    async fn artifact_of(
        &self,
        path: &FilePath,
    ) -> Result<Option<(String, Arc<Option<Artifact>>, FilePath)>, RegistryError> {
        let (folder, tag, within) = match layout::spot(path) {
            Spot::Within {
                template,
                version,
                path,
            } => (template, version, path),
            Spot::Above if path.names().count() == 1 && self.has_root().await? => {
                (FilePath::root(), ROOT_TAG.to_owned(), path.clone())
            }
            Spot::Above => return Ok(None),
        };
        let Some(repository) = layout::repository(&self.0.prefix, &folder) else {
            return Ok(None);
        };
        let mut artifact = self.artifact(&repository, &tag).await?;
        if let Some(plain) = tag.strip_prefix('v').filter(|_| artifact.is_none()) {
            artifact = self.artifact(&repository, plain).await?;
        }
        Ok(Some((repository, artifact, within)))
    }

    /// The bytes of a layer, which is this file.
    async fn content(
        &self,
        repository: &str,
        layer: &Descriptor,
        file: &FilePath,
        shown: String,
    ) -> Result<Vec<u8>, RegistryError> {
        let limit = limit_of(file);
        if usize::try_from(layer.size).is_ok_and(|size| size > limit) {
            return Err(RegistryError::FileTooLarge { file: shown, limit });
        }
        let name = format!("{repository}@{}", layer.digest);
        let kept = self.0.cache.content(&name).await;
        if let Some(kept) = kept.filter(|kept| layer.describes(kept)) {
            return Ok(kept.into());
        }
        let blob = self.0.client.blob(repository, layer, limit).await;
        let blob = blob.map_err(|error| self.failed(error))?;
        Ok(self.0.cache.put_content(&name, blob).await.into())
    }

    async fn has_root(&self) -> Result<bool, RegistryError> {
        let tags = self.tags(&self.0.prefix).await?;
        Ok(tags
            .as_ref()
            .as_ref()
            .is_some_and(|tags| tags.contains(ROOT_TAG)))
    }

    /// Collections and templates directly in a folder, and the versions of a template.
    async fn above(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        let index = self.index().await?;
        let mut names: BTreeSet<String> = index.below(folder).map(str::to_owned).collect();
        let is_root = *folder == FilePath::root();
        if is_root {
            return self.root(&index, names).await;
        }
        let repository = layout::repository(&self.0.prefix, folder);
        let tags = match repository.filter(|_| index.may_have(folder)) {
            Some(repository) => self.tags(&repository).await?,
            None => Arc::new(None),
        };
        let versions = tags.as_ref().as_ref();
        let is_there = versions.is_some() || !names.is_empty();
        let versions = versions.into_iter().flatten();
        names.extend(versions.filter_map(|tag| version_of(tag)));
        Ok(is_there.then(|| names.into_iter().map(folder_entry).collect()))
    }

    async fn root(
        &self,
        index: &Index,
        names: BTreeSet<String>,
    ) -> Result<Option<Vec<Entry>>, RegistryError> {
        let mut entries: Vec<Entry> = names.into_iter().map(folder_entry).collect();
        match index {
            Index::Unknown => {
                return Err(RegistryError::NoIndex {
                    registry: self.0.name.clone(),
                });
            }
            Index::Catalog(templates) if templates.is_empty() => return Ok(None),
            Index::Tags { has_root: true, .. } => {
                let root = self.artifact(&self.0.prefix, ROOT_TAG).await?;
                let files = root.as_ref().as_ref();
                let files = files.and_then(|files| files.tree.entries(&FilePath::root()));
                entries.extend(files.unwrap_or_default());
            }
            Index::Tags { .. } | Index::Catalog(_) => {}
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(entries))
    }
}

/// The version of a tag. Charts have tags without `v`.
fn version_of(tag: &str) -> Option<String> {
    let spelled = [tag.to_owned(), format!("v{tag}")];
    spelled.into_iter().find(|name| layout::is_version(name))
}

fn folder_entry(name: String) -> Entry {
    Entry {
        name,
        kind: EntryKind::Folder,
        revision: None,
    }
}

#[async_trait]
impl Files for Artifacts {
    async fn read(&self, file: &FilePath) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some((repository, artifact, within)) = self.artifact_of(file).await? else {
            return Ok(None);
        };
        let artifact = artifact.as_ref().as_ref();
        let Some(layer) = artifact.and_then(|artifact| artifact.files.get(&within)) else {
            return Ok(None);
        };
        let shown = self.path_of(file);
        self.content(&repository, layer, file, shown)
            .await
            .map(Some)
    }

    fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.0.name)
    }

    /// The artifact in the notation of OCI tools, with a file of it after a `#`.
    fn url_of(&self, file: &FilePath) -> String {
        let root = self.0.definition.url.trim_end_matches('/');
        match layout::spot(file) {
            Spot::Above => format!("{root}/{file}"),
            Spot::Within {
                template,
                version,
                path,
            } => format!("{root}/{template}:{version}#{path}"),
        }
    }

    fn stale(&self) -> Option<Staleness> {
        let tags = self.0.tags.stale();
        let listed = tags.or_else(|| self.0.catalog.stale());
        listed.or_else(|| self.0.versions.stale())
    }

    fn expire(&self) {
        self.0.tags.expire();
        self.0.catalog.expire();
        self.0.versions.expire();
        self.0.index.expire();
    }
}

#[async_trait]
impl Registry for Artifacts {
    fn summary(&self) -> RegistrySummary {
        RegistrySummary {
            name: self.0.name.clone(),
            definition: self.0.definition.clone(),
        }
    }

    async fn entries(&self, folder: &FilePath) -> Result<Option<Vec<Entry>>, RegistryError> {
        if layout::spot(folder) == Spot::Above {
            return self.above(folder).await;
        }
        let found = self.artifact_of(folder).await?;
        Ok(found.and_then(|(_, artifact, within)| {
            let artifact = artifact.as_ref().as_ref()?;
            artifact.tree.entries(&within)
        }))
    }

    async fn chart(&self, wanted: &WantedChart) -> Result<LocatedChart, RegistryError> {
        self.packed_chart(wanted).await.map(LocatedChart::Here)
    }

    async fn revision(&self, version: &FilePath) -> Result<Option<String>, RegistryError> {
        let found = self.artifact_of(version).await?;
        Ok(found.and_then(|(_, artifact, _)| {
            let artifact = artifact.as_ref().as_ref()?;
            Some(artifact.digest.clone())
        }))
    }
}
