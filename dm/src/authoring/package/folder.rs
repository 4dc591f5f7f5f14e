//! Reads all files of a folder, within the limits of registries, and reports what registries do not accept.

use std::fs::{DirEntry, File};
use std::io;
use std::path::Path;

use common::registry::{FILE_BYTES, FilePath, TEMPLATE_BYTES, VERSION_DEPTH, VERSION_FILES};

use super::VersionFiles;
use crate::bundle::chart::is_chart;
use crate::bundle::files::{self, ReadError};

#[derive(Default)]
struct Found {
    /// A chart has hidden files, such as `.helmignore`.
    is_chart: bool,
    files: VersionFiles,
    bytes: usize,
    faults: Vec<String>,
}

/// The files and the faults. An error if the folder itself cannot be read.
pub fn read(root: &Path) -> io::Result<(VersionFiles, Vec<String>)> {
    let mut found = Found {
        is_chart: is_chart(root),
        ..Found::default()
    };
    walk(root, &FilePath::root(), VERSION_DEPTH, &mut found)?;
    if found.bytes > TEMPLATE_BYTES {
        let fault = format!("all files together are larger than {TEMPLATE_BYTES} bytes");
        found.faults.push(fault);
    }
    Ok((found.files, found.faults))
}

fn walk(root: &Path, folder: &FilePath, depth: usize, found: &mut Found) -> io::Result<()> {
    let mut entries: Vec<DirEntry> = root
        .join(folder.as_str())
        .read_dir()?
        .collect::<io::Result<_>>()?;
    entries.sort_unstable_by_key(DirEntry::file_name);
    for entry in entries {
        if found.files.len() + found.faults.len() > VERSION_FILES {
            let fault = format!("it has more than {VERSION_FILES} files");
            found.faults.push(fault);
            return Ok(());
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let joined = match found.is_chart {
            true => folder.join_listed(&name),
            false => folder.join_text(&name),
        };
        let path = match joined {
            Ok(path) => path,
            Err(fault) => {
                found.faults.push(fault.to_string());
                continue;
            }
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && depth == 1 {
            let fault = format!("{path}: folders may be nested at most {VERSION_DEPTH} deep");
            found.faults.push(fault);
        } else if kind.is_dir() {
            walk(root, &path, depth - 1, found)?;
        } else if kind.is_file() {
            take(&entry.path(), path, found)?;
        } else {
            let fault = format!(
                "{path}: it is a link or a special file; registries may contain only files and folders"
            );
            found.faults.push(fault);
        }
    }
    Ok(())
}

fn take(place: &Path, path: FilePath, found: &mut Found) -> io::Result<()> {
    match files::bytes(File::open(place)?, FILE_BYTES) {
        // Files beyond the limit are not kept: the version cannot be published.
        Ok(content) if found.bytes > TEMPLATE_BYTES => found.bytes += content.len(),
        Ok(content) => {
            found.bytes += content.len();
            found.files.insert(path, content);
        }
        Err(ReadError::TooLarge) => {
            let fault = format!("{path}: it is larger than {FILE_BYTES} bytes");
            found.faults.push(fault);
        }
        Err(error) => found.faults.push(format!("{path}: {error}")),
    }
    Ok(())
}
