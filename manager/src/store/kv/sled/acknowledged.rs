//! The file beside sled's log that remembers the last acknowledged commit.
//!
//! sled takes damage in its log for a crash at that place, so the log alone cannot say where it ends. The file holds one
//! record twice, each copy with its own sum: damage to one copy does no harm.
//!
//! ```text
//! 00000000000000000813 5e0c…(16) 91b2…(16) 7d3f…(16)     commits, sum over all entries, store, sum of this line
//! 00000000000000000813 5e0c…     91b2…     7d3f…         the same again
//! ```
//! The file is made, durably, before sled makes any of its own. So a store whose log exists has lost the file, if the file
//! is not there. Later records are not synced: after a loss of power the file may be some commits behind.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::KvError;
use super::failed;
use super::tip::{self, Tip};

pub const NAME: &str = "acknowledged";
/// The next version of the file, until it is whole.
const DRAFT: &str = "acknowledged.new";
/// A line with its line feed.
const LINE_BYTES: usize = 20 + 3 * (1 + 16) + 1;
const COPIES: usize = 2;
/// Managers of before there were sums wrote the number of commits alone.
const OLD_BYTES: usize = 21;

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    /// Neither the file nor anything of sled's is there.
    New,
    /// By a manager of before there were sums: the number of commits.
    Old(u64),
    Tip(Tip),
    /// The file is lost; why.
    Lost(&'static str),
}

impl Acknowledged {
    /// How many commits were acknowledged at least.
    pub fn commits(self) -> u64 {
        match self {
            Self::New | Self::Lost(_) => 0,
            Self::Old(commits) => commits,
            Self::Tip(tip) => tip.commits,
        }
    }
}

/// Reads the file of a store's folder.
pub fn read(folder: &Path) -> Result<Acknowledged, KvError> {
    let unreadable = |error: &io::Error| failed("opened", error);
    match std::fs::read(folder.join(NAME)) {
        Ok(bytes) => Ok(parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match is_untouched(folder).map_err(|error| unreadable(&error))? {
                true => Ok(Acknowledged::New),
                false => Ok(Acknowledged::Lost("it is missing")),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Acknowledged::New),
        Err(error) => Err(unreadable(&error)),
    }
}

/// Whether sled has made nothing in the folder yet. Other files, such as `lost+found`, do not count.
fn is_untouched(folder: &Path) -> io::Result<bool> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if ["db", "conf", "blobs"].contains(&&*name) || name.starts_with("snap.") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn parse(bytes: &[u8]) -> Acknowledged {
    if let Some(commits) = old(bytes) {
        return Acknowledged::Old(commits);
    }
    // Each copy says what was acknowledged at least.
    let tips = bytes.chunks(LINE_BYTES).take(COPIES).filter_map(record);
    match tips.max_by_key(|tip| tip.commits) {
        Some(tip) => Acknowledged::Tip(tip),
        None => Acknowledged::Lost("neither of its two records can be read"),
    }
}

fn old(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.strip_suffix(b"\n")?;
    let is_old = bytes.len() == OLD_BYTES && digits.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_old)?;
    digits.parse().ok()
}

fn record(line: &[u8]) -> Option<Tip> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (said, check) = line.rsplit_once(' ')?;
    if check != checksum(said) {
        return None;
    }
    let mut numbers = said.split(' ');
    let commits = numbers.next()?.parse().ok()?;
    let mut hexadecimal = || u64::from_str_radix(numbers.next()?, 16).ok();
    Some(Tip {
        commits,
        sum: hexadecimal()?,
        store: hexadecimal()?,
    })
}

fn checksum(text: &str) -> String {
    format!("{:016x}", tip::hash(NAME.as_bytes(), text.as_bytes()))
}

/// The whole file, as long as any other.
fn text(tip: Tip) -> String {
    let said = format!("{:020} {:016x} {:016x}", tip.commits, tip.sum, tip.store);
    format!("{said} {}\n", checksum(&said)).repeat(COPIES)
}

/// Makes the file anew, durably: whole or not at all.
pub fn make(folder: &Path, tip: Tip) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let draft = folder.join(DRAFT);
    let mut file = File::create(&draft)?;
    file.write_all(text(tip).as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, folder.join(NAME))?;
    File::open(folder)?.sync_all()
}

/// Writes what is acknowledged now over what was: one write within one page.
pub fn write(file: &File, tip: Tip) -> io::Result<()> {
    file.write_all_at(text(tip).as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tip(commits: u64) -> Tip {
        Tip {
            commits,
            sum: commits.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            store: 7,
        }
    }

    fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), bytes).unwrap();
        folder
    }

    #[test]
    fn what_is_acknowledged_is_known_again() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), Ok(Acknowledged::New));
        make(folder.path(), tip(0)).unwrap();
        let path = folder.path().join(NAME);
        let file = File::options().write(true).open(path).unwrap();
        for commits in [1, 2, 300, u64::MAX] {
            write(&file, tip(commits)).unwrap();
            assert_eq!(read(folder.path()), Ok(Acknowledged::Tip(tip(commits))));
        }
    }

    #[test]
    fn the_file_of_an_earlier_manager_is_understood_and_a_store_without_any_has_lost_it() {
        let old = folder_with(b"00000000000000000042\n");
        assert_eq!(read(old.path()), Ok(Acknowledged::Old(42)));
        for name in ["db", "conf", "snap.0001", "blobs"] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), "").unwrap();
            let lost = read(folder.path()).unwrap();
            assert!(matches!(lost, Acknowledged::Lost(_)), "{name}: {lost:?}");
        }
        let mounted = tempfile::tempdir().unwrap();
        std::fs::create_dir(mounted.path().join("lost+found")).unwrap();
        assert_eq!(read(mounted.path()), Ok(Acknowledged::New));
    }

    proptest! {
        /// Damage in one copy does no harm; damage in both is found.
        #[test]
        fn a_damaged_file_says_what_it_said_or_that_it_is_lost(
            commits: u64,
            damage in prop::collection::vec((0..COPIES * LINE_BYTES, any::<u8>()), 0..4),
            length in 0..2 * COPIES * LINE_BYTES,
        ) {
            let mut bytes = text(tip(commits)).into_bytes();
            for (place, byte) in damage {
                bytes[place] = byte;
            }
            let cut = &bytes[..length.min(bytes.len())];
            match parse(cut) {
                Acknowledged::Tip(found) => prop_assert_eq!(found, tip(commits)),
                other => prop_assert!(matches!(other, Acknowledged::Lost(_)), "{:?}", other),
            }
        }

        #[test]
        fn bytes_of_any_kind_are_no_record(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let found = parse(&bytes);
            let is_record = matches!(found, Acknowledged::Tip(_));
            prop_assert!(!is_record, "{:?}", found);
        }
    }
}
