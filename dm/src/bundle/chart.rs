//! Helm charts: a folder with a `Chart.yaml` is packed, as the services take charts. A packed chart stays as it is.
//!
//! Packing the same files gives the same bytes: entries are sorted, and have no times and owners. It refuses to know what
//! the files mean; the services leave out what `.helmignore` names.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use super::files::{FILE_BYTES, ReadError, bytes};

/// The ending of packed charts.
pub const ENDING: &str = ".tgz";
/// The file that makes a folder a chart.
const CHART: &str = "Chart.yaml";
/// Templates of a chart. A folder without them is a package of plain objects.
const TEMPLATES: &str = "templates";
/// The history of the chart is no part of it.
const HISTORY: &str = ".git";
/// The folder around the files.
const FOLDER: &str = "chart";
/// Folders within each other.
const DEPTH: usize = 16;

/// Whether a folder is a chart with templates.
pub fn is_chart(folder: &Path) -> bool {
    folder.join(CHART).is_file() && folder.join(TEMPLATES).is_dir()
}

/// Whether files with these paths are a chart with templates.
pub fn are_chart<'p>(mut paths: impl Iterator<Item = &'p str> + Clone) -> bool {
    let is_below = |path: &str| {
        path.split_once('/')
            .is_some_and(|(top, _)| top == TEMPLATES)
    };
    paths.clone().any(|path| path == CHART) && paths.any(is_below)
}

/// The content of the import that a chart is: base 64 of the archive.
pub fn read(path: &Path) -> Result<String, ReadError> {
    let packed = match path.is_dir() {
        true => packed(path)?,
        false => bytes(File::open(path).map_err(failed)?, FILE_BYTES)?,
    };
    Ok(BASE64_STANDARD.encode(packed))
}

fn failed(error: impl ToString) -> ReadError {
    ReadError::Other(error.to_string())
}

fn packed(folder: &Path) -> Result<Vec<u8>, ReadError> {
    let mut paths = Vec::new();
    find(folder, DEPTH, &mut paths)?;
    paths.sort();
    let encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut archive = Builder::new(encoder);
    let mut size = 0;
    for path in paths {
        let data = bytes(File::open(&path).map_err(failed)?, FILE_BYTES)?;
        size += data.len();
        if size > super::TOTAL_BYTES {
            return Err(ReadError::TooLarge);
        }
        let name = Path::new(FOLDER).join(path.strip_prefix(folder).unwrap_or(&path));
        add(&mut archive, &name, &data).map_err(failed)?;
    }
    let mut encoder = archive.into_inner().map_err(failed)?;
    encoder.flush().map_err(failed)?;
    encoder.finish().map_err(failed)
}

fn add(archive: &mut Builder<impl io::Write>, name: &Path, data: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(u64::try_from(data.len()).unwrap_or(u64::MAX));
    header.set_mode(0o644);
    archive.append_data(&mut header, name, data)
}

/// All files of a folder. Links are refused: they may lead out of the chart.
fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| failed(format!("its folders are nested deeper than {DEPTH} levels")))?;
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        if entry.file_name() == HISTORY {
            continue;
        }
        if kind.is_dir() {
            find(&path, depth, found)?;
        } else if kind.is_file() {
            found.push(path);
        } else {
            let path = path.display();
            return Err(failed(format!(
                "{path} is a link or a device; replace it with a file"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            (CHART, "name: a"),
            ("templates/a.yaml", "a"),
            ("files/b.bin", "\u{0}"),
            (".git/HEAD", "x"),
        ] {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        folder
    }

    #[test]
    fn the_same_files_are_packed_to_the_same_bytes() {
        let (first, second) = (chart(), chart());
        assert!(is_chart(first.path()));
        let packed = read(first.path()).unwrap();
        assert_eq!(packed, read(second.path()).unwrap());
        let archive = BASE64_STANDARD.decode(packed).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive.as_slice()));
        let paths = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            entry.path().unwrap().display().to_string()
        });
        let expected = [
            "chart/Chart.yaml",
            "chart/files/b.bin",
            "chart/templates/a.yaml",
        ];
        assert_eq!(paths.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn files_are_a_chart_by_their_paths() {
        for (paths, expected) in [
            (&[CHART, "templates/a.yaml"][..], true),
            (&[CHART, "manifests/a.yaml"], false),
            (&[CHART, "templates"], false),
            (&["templates/a.yaml"], false),
        ] {
            assert_eq!(are_chart(paths.iter().copied()), expected, "{paths:?}");
        }
    }

    #[test]
    fn a_chart_with_a_link_is_refused() {
        let folder = chart();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("templates/p")).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is a link"), "{error}");
    }
}
