//! Helm charts as folders: packed here, so that one file travels on.
//!
//! ```text
//! redis/v1/Chart.yaml, redis/v1/templates/…       a version's folder is a chart
//! redis/Chart.yaml, redis/templates/…             or a template's folder, with the version in its Chart.yaml
//! redis/v1/redis.tgz, redis/v1/redis-1.0.0.tgz    or the chart is packed
//! ```

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::registry::{FilePath, PACKED};
use common::work;
use common_chart::{File, archive};

use crate::RegistryError;
use crate::adapter::{Entry, EntryKind, Files, Registry};
use crate::catalog::fetch::{self, Role, TemplateFile};
use crate::catalog::walk::Walk;

/// The folder that makes a folder with a `Chart.yaml` a Helm chart.
pub const TEMPLATES: &str = "templates";
/// Files of a chart, with its subcharts.
const FILES: usize = 2_000;
/// Folders within each other.
const DEPTH: usize = 16;
/// Bytes of all files of a chart.
const BYTES: usize = 32 * 1024 * 1024;

/// One version of a chart.
pub struct ChartFolder {
    pub registry: Arc<dyn Registry>,
    pub folder: FilePath,
    pub name: String,
    /// The folder is a template's, and folders of versions in it do not belong to the chart.
    pub is_whole: bool,
}

/// Whether a folder with a `Chart.yaml` is a Helm chart.
pub fn has_templates(entries: &[Entry]) -> bool {
    let is_it = |entry: &Entry| entry.name == TEMPLATES && entry.kind == EntryKind::Folder;
    entries.iter().any(is_it)
}

/// The packed chart in a version's folder under the name that Helm gives it, if there is one only.
pub fn packed<'e>(entries: &'e [Entry], template: &str) -> Option<&'e str> {
    let mut found = entries.iter().filter(|entry| {
        let rest = entry.name.strip_prefix(template);
        let rest = rest.and_then(|rest| rest.strip_prefix('-'));
        entry.kind == EntryKind::File && rest.is_some_and(|rest| rest.ends_with(PACKED))
    });
    match (found.next(), found.next()) {
        (Some(entry), None) => Some(&entry.name),
        _ => None,
    }
}

impl ChartFolder {
    /// The path of the packed chart, as if it were a file of the registry.
    pub fn template(&self) -> Result<FilePath, RegistryError> {
        Ok(self.folder.join_text(&format!("{}{PACKED}", self.name))?)
    }

    /// The packed chart, and the files in it.
    pub async fn files(&self, files: &dyn Files) -> Result<Vec<TemplateFile>, RegistryError> {
        let mut paths = self.walk().await?;
        paths.sort_unstable();
        let (mut given, mut contents, mut bytes) = (Vec::new(), Vec::new(), 0);
        let read = fetch::each(paths, |path| async move {
            let content = files.read(&path).await?;
            Ok((path, content))
        });
        for (path, content) in read.await? {
            let Some(content) = content else {
                let path = files.path_of(&path);
                return Err(RegistryError::NotOrdinary { path });
            };
            bytes += content.len();
            if bytes > BYTES {
                return Err(RegistryError::TemplateTooLarge {
                    template: files.path_of(&self.folder),
                    limit: BYTES,
                });
            }
            let within = path.as_str()[self.folder.as_str().len()..].trim_start_matches('/');
            contents.push(File::new(within, content.clone()));
            given.push(TemplateFile::packed(path, &content));
        }
        let name = self.name.clone();
        let packed = work::large(move || archive::pack(&name, &contents)).await;
        let packed = packed.map_err(|source| RegistryError::Io {
            path: files.path_of(&self.folder),
            source,
        })?;
        let content = BASE64_STANDARD.encode(&packed);
        let mut all = vec![TemplateFile::new(self.template()?, content, Role::Made)];
        all.extend(given);
        Ok(all)
    }

    async fn walk(&self) -> Result<Vec<FilePath>, RegistryError> {
        let walk = Walk {
            registry: self.registry.as_ref(),
            folder: &self.folder,
            is_whole: self.is_whole,
            files: FILES,
            depth: DEPTH,
        };
        let found = walk.run(|_| false).await?;
        found.ok_or_else(|| self.too_many())
    }

    fn too_many(&self) -> RegistryError {
        RegistryError::TooManyEntries {
            folder: self.registry.path_of(&self.folder),
            limit: FILES,
        }
    }
}
