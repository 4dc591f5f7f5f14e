//! Packed charts: read bounded, and without what leads out of the chart's folder; packed so that the same files give the
//! same bytes.

use std::io::{self, Read, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use tar::{Archive, Builder, Entry, EntryType, Header};

use crate::file::File;

/// Files of one chart, with its subcharts.
pub const FILES: usize = 10_000;
/// Bytes of all files, unpacked. A chart of Kubernetes' size (a release is stored in a Secret) has under 1 MiB.
pub const BYTES: usize = 64 << 20;
/// How many bytes one byte of the archive may become. Text that compresses well reaches 20.
const RATIO: usize = 100;
/// An archive of so few bytes may unpack to [`RATIO`] times as much as if it had them.
const RATIO_FREE_BYTES: usize = 64 << 10;

/// Why an archive is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Not gzip, or damaged.
    #[error("the chart archive cannot be read: {0}; pack it with helm package")]
    Unreadable(String),
    /// A path from the root.
    #[error("chart illegally contains absolute paths")]
    Absolute,
    /// A path that climbs.
    #[error("chart illegally references parent directory")]
    Parent,
    /// A path without a folder around it.
    #[error("chart illegally contains content outside the base directory: {0:?}")]
    Outside(String),
    /// A path with a drive.
    #[error("chart contains illegally named files")]
    Name,
    /// `Chart.yaml` without a folder around it.
    #[error("chart yaml not in base directory")]
    NoFolder,
    /// Nothing inside.
    #[error("no files in chart archive")]
    Empty,
    /// A link or a device.
    #[error("{0:?} in the chart archive is a link or a device; pack files only")]
    Unusual(String),
    /// It unpacks to too much.
    #[error("decompressed chart is larger than the maximum size {0}")]
    TooLarge(usize),
    /// It has too many files.
    #[error("the chart archive has more than {FILES} files")]
    TooManyFiles,
}

fn unreadable(error: &std::io::Error) -> ArchiveError {
    ArchiveError::Unreadable(error.to_string())
}

/// How much of a chart, with its subcharts, may still be read.
pub struct Room {
    files: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            files: FILES,
            bytes: BYTES,
        }
    }
}

impl Room {
    /// Takes the room of a file.
    ///
    /// # Errors
    /// There is too little.
    pub fn take(&mut self, bytes: usize) -> Result<(), ArchiveError> {
        self.bytes = self
            .bytes
            .checked_sub(bytes)
            .ok_or(ArchiveError::TooLarge(BYTES))?;
        self.files = self
            .files
            .checked_sub(1)
            .ok_or(ArchiveError::TooManyFiles)?;
        Ok(())
    }
}

/// The files of an archive, without the folder around them.
///
/// # Errors
/// It is no archive, is too large, or leads out of its folder.
pub fn read(archive: &[u8], room: &mut Room) -> Result<Vec<File>, ArchiveError> {
    let most = archive
        .len()
        .max(RATIO_FREE_BYTES)
        .saturating_mul(RATIO)
        .min(room.bytes);
    let mut unpacked = Vec::new();
    // One byte more than allowed shows that there is more.
    let read = MultiGzDecoder::new(archive)
        .take(most as u64 + 1)
        .read_to_end(&mut unpacked);
    read.map_err(|error| unreadable(&error))?;
    if unpacked.len() > most {
        return Err(ArchiveError::TooLarge(most));
    }
    let mut files = Vec::new();
    let mut tar = Archive::new(unpacked.as_slice());
    for entry in tar.entries().map_err(|error| unreadable(&error))? {
        let entry = entry.map_err(|error| unreadable(&error))?;
        if let Some(file) = file(entry)? {
            room.take(file.data.len())?;
            files.push(file);
        }
    }
    match files.is_empty() {
        true => Err(ArchiveError::Empty),
        false => Ok(files),
    }
}

/// Packs files into an archive, below a folder. They have no times and no owners, and should be sorted.
///
/// # Errors
/// A name has no place in an archive.
pub fn pack(folder: &str, files: &[File]) -> io::Result<Vec<u8>> {
    let encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut archive = Builder::new(encoder);
    for file in files {
        let mut header = Header::new_gnu();
        header.set_size(file.data.len() as u64);
        header.set_mode(0o644);
        let name = format!("{folder}/{}", file.name);
        archive.append_data(&mut header, name, file.data.as_slice())?;
    }
    let mut encoder = archive.into_inner()?;
    encoder.flush()?;
    encoder.finish()
}

/// The file of an entry; nothing for a folder or a header.
fn file(mut entry: Entry<'_, impl Read>) -> Result<Option<File>, ArchiveError> {
    let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => return Ok(None),
        EntryType::Regular | EntryType::Continuous => {}
        _ => return Err(ArchiveError::Unusual(path)),
    }
    if path.ends_with('/') {
        return Ok(None);
    }
    let name = name(&path)?;
    let mut data = Vec::new();
    let read = entry.read_to_end(&mut data);
    read.map_err(|error| unreadable(&error))?;
    Ok(Some(File::new(name, data)))
}

/// The path within the chart.
fn name(path: &str) -> Result<String, ArchiveError> {
    let delimiter = if path.contains('\\') { '\\' } else { '/' };
    let (folder, rest) = path.split_once(delimiter).unwrap_or((path, ""));
    let rest = rest.replace(delimiter, "/");
    if rest.starts_with('/') {
        return Err(ArchiveError::Absolute);
    }
    let name = clean(&rest);
    if name.is_empty() {
        return Err(match folder {
            "Chart.yaml" => ArchiveError::NoFolder,
            _ => ArchiveError::Outside(path.to_owned()),
        });
    }
    if name.starts_with("..") {
        return Err(ArchiveError::Parent);
    }
    if matches!(name.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic()) {
        return Err(ArchiveError::Name);
    }
    match folder {
        "Chart.yaml" => Err(ArchiveError::NoFolder),
        _ => Ok(name),
    }
}

/// The path without `.`, `..` and empty segments. A path that climbs begins with `..`.
#[must_use]
pub fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_back_and_the_same_files_give_the_same_bytes() {
        let files = [
            File::new("Chart.yaml", "name: a"),
            File::new("templates/a.bin", vec![0, 255]),
        ];
        let packed = pack("a", &files).unwrap();
        assert_eq!(packed, pack("a", &files).unwrap());
        assert_eq!(read(&packed, &mut Room::default()).unwrap(), files);
    }
}
