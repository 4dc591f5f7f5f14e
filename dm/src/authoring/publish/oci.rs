//! A registry of OCI artifacts, in the layout of [`common::registry::oci`].

use common::model::Secret;
use common::registry::oci::layout::{self, ROOT_TAG};
use common::registry::oci::{Client, Direct, Manifest, OciLocation};
use common::registry::{FILE_BYTES, FilePath, TEMPLATE_BYTES};

use super::{PublishError, RegistryWriter};
use crate::authoring::package::{CheckedVersion, VersionFiles};

#[derive(Debug)]
pub struct Artifacts {
    client: Client<Direct>,
    prefix: String,
}

impl Artifacts {
    /// `login`: user name and password; anonymous, if absent.
    pub fn open(place: OciLocation, login: Option<(&str, &Secret)>) -> Result<Self, PublishError> {
        let direct =
            Direct::with_login(login).map_err(common::registry::oci::OciError::Transport)?;
        Ok(Self {
            client: Client::new(direct, place.base),
            prefix: place.prefix,
        })
    }

    fn repository(&self, template: &FilePath) -> Result<String, PublishError> {
        layout::repository(&self.prefix, template)
            .ok_or_else(|| PublishError::Unnameable(template.to_string()))
    }

    /// All files of a tag, or the wanted ones; `None` if the tag does not exist.
    async fn files(
        &self,
        repository: &str,
        tag: &str,
        is_wanted: impl Fn(&FilePath) -> bool,
    ) -> Result<Option<VersionFiles>, PublishError> {
        let Some((_, manifest)) = self.client.manifest(repository, tag).await? else {
            return Ok(None);
        };
        let unreadable = |reason: String| PublishError::Artifact {
            version: format!("{repository}:{tag}"),
            reason,
        };
        let (mut files, mut bytes) = (VersionFiles::new(), 0);
        for (path, layer) in manifest.files("chart").map_err(unreadable)? {
            if !is_wanted(&path) {
                continue;
            }
            let content = self.client.blob(repository, &layer, FILE_BYTES).await?;
            bytes += content.len();
            if bytes > TEMPLATE_BYTES {
                return Err(unreadable(format!(
                    "it is larger than {TEMPLATE_BYTES} bytes"
                )));
            }
            files.insert(path, content);
        }
        Ok(Some(files))
    }

    async fn push(
        &self,
        repository: &str,
        tag: &str,
        manifest: &Manifest,
    ) -> Result<(), PublishError> {
        let empty = Manifest::empty_content();
        self.client.push_blob(repository, empty).await?;
        self.client.push_manifest(repository, tag, manifest).await?;
        Ok(())
    }
}

impl RegistryWriter for Artifacts {
    async fn root_file(&self, name: &FilePath) -> Result<Option<Vec<u8>>, PublishError> {
        let files = self
            .files(&self.prefix, ROOT_TAG, |path| path == name)
            .await?;
        Ok(files.and_then(|mut files| files.remove(name)))
    }

    async fn versions(&self, template: &FilePath) -> Result<Vec<String>, PublishError> {
        let tags = self.client.tags(&self.repository(template)?).await?;
        Ok(tags.into_iter().flatten().collect())
    }

    async fn version(
        &self,
        template: &FilePath,
        version: &str,
    ) -> Result<VersionFiles, PublishError> {
        let repository = self.repository(template)?;
        let files = self.files(&repository, version, |_| true).await?;
        files.ok_or_else(|| PublishError::Artifact {
            version: format!("{repository}:{version}"),
            reason: "its tag no longer exists".to_owned(),
        })
    }

    /// The tag comes last, when everything that it points to exists.
    async fn put(&self, template: &FilePath, package: &CheckedVersion) -> Result<(), PublishError> {
        let repository = self.repository(template)?;
        for content in package.files.values() {
            self.client.push_blob(&repository, content).await?;
        }
        let files = package.files.iter();
        let manifest = Manifest::of_files(files.map(|(path, content)| (path, &content[..])));
        self.push(&repository, &package.version, &manifest).await?;
        self.complete(template).await
    }

    /// The template's tag in the index.
    async fn complete(&self, template: &FilePath) -> Result<(), PublishError> {
        let tag = layout::index_tag(template)
            .ok_or_else(|| PublishError::Unnameable(template.to_string()))?;
        self.push(&self.prefix, &tag, &Manifest::of_index()).await
    }
}
