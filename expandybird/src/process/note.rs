//! The present step of an expansion, in a file that the server reads after the process's death.
//!
//! The note is a small file in memory. The process overwrites it before each step. The server clears it before each
//! request and reads it only when the process is dead. Its size is fixed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use common::api::error::Location;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The size of the file: two bytes for the length, and the note.
pub const NOTE_BYTES: usize = 4096;
/// The longest text of a note; longer ones are cut.
const TEXT_CHARS: usize = 200;

/// SHA-256 of the input of a step: a template, a schema, or the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Reads the request and the configuration, resolves references, or writes the answer.
    Configuration,
    Schema,
    Template,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub stage: Stage,
    /// The file that the author knows.
    pub file: String,
    pub resource: Option<String>,
    pub path: Option<String>,
    /// Absent until the request is read.
    pub digest: Option<Digest>,
}

impl Note {
    /// The step in words: "template 'a.jinja'".
    pub fn what(&self) -> String {
        match self.stage {
            Stage::Configuration => format!("the configuration '{}'", self.file),
            Stage::Schema => format!("the schema '{}'", self.file),
            Stage::Template => format!("template '{}'", self.file),
        }
    }

    fn is_short(&self) -> bool {
        let texts = [Some(&self.file), self.resource.as_ref(), self.path.as_ref()];
        let mut texts = texts.into_iter().flatten();
        texts.all(|text| text.chars().count() <= TEXT_CHARS + 1)
    }

    pub fn location(&self) -> Location {
        Location {
            file: Some(self.file.clone()),
            resource: self.resource.clone(),
            path: self.path.clone(),
            ..Location::default()
        }
    }
}

/// The file with the note, on either side.
#[derive(Debug)]
pub struct NoteFile(File);

impl NoteFile {
    /// An empty note of fixed size.
    pub fn new() -> io::Result<Self> {
        let file = memfd_create("note", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
        let file = File::from(file);
        file.set_len(NOTE_BYTES as u64)?;
        let seals = SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        Ok(Self(file))
    }

    pub fn from_file(file: File) -> Self {
        Self(file)
    }

    pub fn file(&self) -> &File {
        &self.0
    }

    /// Clears the note.
    pub fn clear(&self) -> io::Result<()> {
        self.0.write_all_at(&[0; 2], 0)
    }

    pub fn write(&self, note: &Note) -> io::Result<()> {
        let mut bytes = vec![0; 2];
        serde_json::to_writer(&mut bytes, note)?;
        let length = u16::try_from(bytes.len() - 2).unwrap_or_default();
        bytes[..2].copy_from_slice(&length.to_le_bytes());
        bytes.truncate(NOTE_BYTES);
        self.0.write_all_at(&bytes, 0)
    }

    /// The last note of the process, if it is valid.
    pub fn read(&self) -> Option<Note> {
        let mut bytes = [0; NOTE_BYTES];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        let length = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let note: Note = serde_json::from_slice(bytes.get(2..2 + length)?).ok()?;
        note.is_short().then_some(note)
    }
}

/// Short enough for a note.
pub fn short(text: &str) -> String {
    let mut short: String = text.chars().take(TEXT_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_note_fits_and_reads_back() {
        let file = NoteFile::new().unwrap();
        assert_eq!(file.read(), None);
        let long = short(&"\u{1}".repeat(1000));
        let note = Note {
            stage: Stage::Template,
            file: long.clone(),
            resource: Some(long.clone()),
            path: Some(long),
            digest: Some(Digest([255; 32])),
        };
        file.write(&note).unwrap();
        assert_eq!(file.read(), Some(note));
        file.clear().unwrap();
        assert_eq!(file.read(), None);
    }

    #[test]
    fn the_file_cannot_grow_and_garbage_is_no_note() {
        let file = NoteFile::new().unwrap();
        assert!(file.file().write_all_at(&[0], NOTE_BYTES as u64).is_err());
        assert!(file.file().set_len(1 << 30).is_err());
        file.file().write_all_at(&[255; NOTE_BYTES], 0).unwrap();
        assert_eq!(file.read(), None);
    }
}
