//! A registry in a folder on disk.
//!
//! A version is first written beside its place, under a name that is not a version. It is renamed when all of it is on disk.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use common::registry::{FILE_BYTES, FilePath};

use super::{PublishError, RegistryWriter, version_folder};
use crate::authoring::package::{CheckedVersion, VersionFiles};
use crate::bundle::files;

/// Names that begin with a dot cannot be in a reference.
const UNFINISHED: &str = ".publishing-";

#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The root must exist: a typing error must not create a new registry.
    pub fn open(root: &Path) -> Result<Self, PublishError> {
        let root = root
            .canonicalize()
            .map_err(|source| io_error(root, source))?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(io_error(&root, ErrorKind::NotADirectory.into())),
        }
    }

    /// The path of a folder. No part of it is a link.
    fn place(&self, folder: &FilePath) -> Result<PathBuf, PublishError> {
        let mut place = self.root.clone();
        for name in folder.names() {
            place.push(name);
            if place.is_symlink() {
                return Err(PublishError::Link(place));
            }
        }
        Ok(place)
    }
}

impl RegistryWriter for Directory {
    async fn root_file(&self, name: &FilePath) -> Result<Option<Vec<u8>>, PublishError> {
        let place = self.place(name)?;
        match File::open(&place) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(&place, error)),
            Ok(file) => files::bytes(file, FILE_BYTES)
                .map(Some)
                .map_err(|error| io_error(&place, io::Error::other(error))),
        }
    }

    async fn versions(&self, template: &FilePath) -> Result<Vec<String>, PublishError> {
        let place = self.place(template)?;
        let failed = |source| io_error(&place, source);
        let entries = match place.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name());
        let names: Vec<_> = entries
            .map(name)
            .collect::<io::Result<_>>()
            .map_err(failed)?;
        Ok(names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect())
    }

    async fn version(
        &self,
        template: &FilePath,
        version: &str,
    ) -> Result<VersionFiles, PublishError> {
        let place = self.place(&version_folder(template, version)?)?;
        let (files, faults) = crate::authoring::package::folder::read(&place)
            .map_err(|source| io_error(&place, source))?;
        match faults.is_empty() {
            true => Ok(files),
            false => Err(PublishError::Unusual {
                path: place.display().to_string(),
                what: faults.join("; "),
            }),
        }
    }

    async fn put(&self, template: &FilePath, package: &CheckedVersion) -> Result<(), PublishError> {
        let around = self.place(template)?;
        let failed = |source| io_error(&around, source);
        let is_new = !around.exists();
        fs::create_dir_all(&around).map_err(failed)?;
        let outcome = written(&around, package);
        if outcome.is_err() && is_new {
            // A folder into which somebody else has published meanwhile is not empty, and stays.
            let _ = fs::remove_dir(&around);
        }
        outcome.map_err(failed)
    }
}

fn written(around: &Path, package: &CheckedVersion) -> io::Result<()> {
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        // The user's umask applies, as for other folders.
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(around)?;
    for (path, content) in &package.files {
        let place = unfinished.path().join(path.as_str());
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create_new(place)?;
        file.write_all(content)?;
        file.sync_all()?;
    }
    // Fails if the folder exists and is not empty: a version of somebody else is not overwritten.
    fs::rename(unfinished.path(), around.join(&package.version))?;
    // The temporary name no longer exists.
    let _ = unfinished.keep();
    File::open(around)?.sync_all()
}

fn io_error(path: &Path, source: io::Error) -> PublishError {
    PublishError::Io {
        path: path.to_owned(),
        source,
    }
}
