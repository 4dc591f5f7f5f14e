//! Reads a configuration and its files from a tar archive, in memory.

use std::collections::BTreeMap;

use common::model::limits::IMPORTS;
use tar::EntryType;

use super::TOTAL_BYTES;
use super::files::{self, ReadError, beside};

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("the archive is compressed; pipe it through gunzip first")]
    Compressed,
    #[error("the archive cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error(
        "{path:?} leads out of the archive; pack the files with relative paths, like tar -C FOLDER -c ."
    )]
    Outside { path: String },
    #[error(
        "{path:?} in the archive is {what}, and only files and folders are allowed; tar -h --hard-dereference turns links into files"
    )]
    Unusual { path: String, what: &'static str },
    #[error("{path} in the archive cannot be read: {reason}")]
    File { path: String, reason: ReadError },
    #[error("the archive has more than {IMPORTS} files")]
    TooManyFiles,
    #[error("the files of the archive are larger than {TOTAL_BYTES} bytes together")]
    TooLarge,
    #[error("the top level of the archive has no configuration; add one .yaml file")]
    NoConfiguration,
    #[error("the top level of the archive has several configurations ({}); keep exactly one", .0.join(", "))]
    SeveralConfigurations(Vec<String>),
}

/// The header of a tar archive has a mark after the first name. gzip has its own.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar") || bytes.starts_with(&[0x1f, 0x8b])
}

/// Returns the files, and the path of the configuration.
pub fn read(bytes: &[u8]) -> Result<(BTreeMap<String, String>, String), ArchiveError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(ArchiveError::Compressed);
    }
    let mut found = BTreeMap::new();
    let mut total = 0;
    for entry in tar::Archive::new(bytes).entries()? {
        let entry = entry?;
        let kind = entry.header().entry_type();
        // git archive writes the commit as a global header, which is not a file.
        if kind.is_pax_global_extensions() {
            continue;
        }
        let path = entry.path()?.to_string_lossy().into_owned();
        if path.starts_with('/') || path.split('/').any(|name| name == "..") {
            return Err(ArchiveError::Outside { path });
        }
        match kind {
            EntryType::Directory => continue,
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Symlink | EntryType::Link => {
                let what = "a link";
                return Err(ArchiveError::Unusual { path, what });
            }
            _ => {
                let what = "not an ordinary file";
                return Err(ArchiveError::Unusual { path, what });
            }
        }
        let path = beside("", &path);
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

/// `tar c folder` puts everything into one folder. That folder is then the top level.
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

    /// One entry as its bytes say, whatever a well-meaning library would make of the name.
    fn entry(path: &str, kind: EntryType, size: u64, content: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        let name = &mut header.as_old_mut().name;
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        let padding = content.len().next_multiple_of(512) - content.len();
        [header.as_bytes().as_slice(), content, &vec![0; padding]].concat()
    }

    #[test]
    fn an_archive_that_climbs_out_of_its_folder_or_has_links_is_refused() {
        let web = entry("web.yaml", EntryType::Regular, 13, b"resources: []");
        for path in ["../evil.py", "a/../../evil.py", "/etc/evil.py", ".."] {
            let bytes = [web.clone(), entry(path, EntryType::Regular, 1, b"x")].concat();
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, ArchiveError::Outside { .. }), "{error}");
            assert!(error.to_string().contains(path), "{error}");
        }
        for kind in [
            EntryType::Symlink,
            EntryType::Link,
            EntryType::Fifo,
            EntryType::Char,
        ] {
            let bytes = [web.clone(), entry("evil", kind, 0, b"")].concat();
            let error = read(&bytes).unwrap_err();
            assert!(matches!(error, ArchiveError::Unusual { .. }), "{error}");
        }
        let global = entry("pax_global_header", EntryType::XGlobalHeader, 0, b"");
        let folder = entry("t/", EntryType::Directory, 0, b"");
        let (files, _) = read(&[global, web, folder].concat()).unwrap();
        assert_eq!(files.len(), 1);
    }

    #[test]
    fn an_archive_that_grows_when_it_is_read_is_refused() {
        let name = |number| format!("{number}.py");
        let many: Vec<_> = (0..=IMPORTS)
            .flat_map(|number| entry(&name(number), EntryType::Regular, 0, b""))
            .collect();
        assert!(matches!(read(&many), Err(ArchiveError::TooManyFiles)));
        // It says that it is larger than the archive itself.
        for size in [1 << 40, u64::MAX >> 12] {
            let lying = entry("a.py", EntryType::Regular, size, b"x");
            assert!(read(&lying).is_err());
        }
        // Holes cost an archive nothing, and a reader all of their bytes.
        let sparse = entry("a.py", EntryType::GNUSparse, 0, b"");
        assert!(read(&sparse).is_err());
        // The same name again and again is no further file.
        let large = vec![b'x'; 1024 * 1024];
        let again = entry("a.py", EntryType::Regular, 1024 * 1024, &large);
        let again = again.repeat(TOTAL_BYTES / large.len() + 1);
        assert!(matches!(read(&again), Err(ArchiveError::TooLarge)));
    }
}
