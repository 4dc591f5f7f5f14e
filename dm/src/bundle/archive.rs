//! A tar archive that holds a configuration and its files. Nothing is unpacked to disk.

use std::collections::BTreeMap;

use common::model::limits::IMPORTS;

use super::TOTAL_BYTES;
use super::files::{self, ReadError, beside};

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("the archive is compressed; pipe it through gunzip first")]
    Compressed,
    #[error("the archive cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("{path} in the archive cannot be read: {reason}")]
    File { path: String, reason: ReadError },
    #[error("the archive has more than {IMPORTS} files")]
    TooManyFiles,
    #[error("the files of the archive are larger than {TOTAL_BYTES} bytes together")]
    TooLarge,
    #[error("the archive's top level has no configuration; one .yaml file must be there")]
    NoConfiguration,
    #[error("the archive's top level has several configurations ({}); exactly one must be there", .0.join(", "))]
    SeveralConfigurations(Vec<String>),
}

/// A tar archive says so behind its first name.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar") || bytes.starts_with(&[0x1f, 0x8b])
}

/// The files, and which of them is the configuration.
pub fn read(bytes: &[u8]) -> Result<(BTreeMap<String, String>, String), ArchiveError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(ArchiveError::Compressed);
    }
    let mut found = BTreeMap::new();
    let mut total = 0;
    for entry in tar::Archive::new(bytes).entries()? {
        let entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = beside("", &entry.path()?.to_string_lossy());
        let content = files::text(entry).map_err(|reason| ArchiveError::File {
            path: path.clone(),
            reason,
        })?;
        total += content.len();
        if total > TOTAL_BYTES {
            return Err(ArchiveError::TooLarge);
        }
        found.insert(path, content);
        if found.len() > IMPORTS {
            return Err(ArchiveError::TooManyFiles);
        }
    }
    let found = without_common_folder(found);
    let configuration = configuration(&found)?;
    Ok((found, configuration))
}

/// `tar c folder` puts everything into one folder: then that is the top level.
fn without_common_folder(files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let Some((folder, _)) = files.keys().next().and_then(|path| path.split_once('/')) else {
        return files;
    };
    let prefix = format!("{folder}/");
    if !files.keys().all(|path| path.starts_with(&prefix)) {
        return files;
    }
    files
        .into_iter()
        .map(|(path, content)| (path[prefix.len()..].to_owned(), content))
        .collect()
}

fn configuration(files: &BTreeMap<String, String>) -> Result<String, ArchiveError> {
    let is_configuration = |path: &&String| !path.contains('/') && super::is_configuration(path);
    let mut candidates: Vec<String> = files.keys().filter(is_configuration).cloned().collect();
    match (candidates.pop(), candidates.is_empty()) {
        (None, _) => Err(ArchiveError::NoConfiguration),
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            candidates.push(last);
            Err(ArchiveError::SeveralConfigurations(candidates))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            builder
                .append_data(&mut header, path, content.as_bytes())
                .unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn an_archive_is_read_with_or_without_a_folder_around_it() {
        for prefix in ["", "./", "demo/"] {
            let paths = [format!("{prefix}web.yaml"), format!("{prefix}t/a.py")];
            let bytes = archive(&[(&paths[0], "resources: []"), (&paths[1], "x")]);
            assert!(is_archive(&bytes));
            let (files, configuration) = read(&bytes).unwrap();
            assert_eq!(configuration, "web.yaml");
            assert_eq!(files.keys().collect::<Vec<_>>(), ["t/a.py", "web.yaml"]);
        }
    }

    #[test]
    fn an_archive_must_hold_exactly_one_configuration() {
        let none = read(&archive(&[("a.py", "x"), ("dir/a.yaml", "x")])).unwrap_err();
        assert!(matches!(none, ArchiveError::NoConfiguration), "{none}");
        let two = read(&archive(&[("a.yaml", "x"), ("b.yml", "x")]))
            .unwrap_err()
            .to_string();
        assert!(two.contains("a.yaml, b.yml"), "{two}");
        assert!(matches!(
            read(&[0x1f, 0x8b, 8]),
            Err(ArchiveError::Compressed)
        ));
    }
}
