//! The files of a store are for its owner alone: they have keys of entries as they are, and a store of before sealing
//! has all of it.
//!
//! The process makes no other files (its umask says so). What an earlier manager has made is closed when the store is opened.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the group and all others may do.
const OTHERS: u32 = 0o077;

/// Closes the folder and what is in it. What is below that, the folder above it protects.
///
/// # Errors
/// If the folder cannot be read.
pub fn close(folder: &Path) -> io::Result<()> {
    closed(folder)?;
    for entry in fs::read_dir(folder)? {
        closed(&entry?.path())?;
    }
    Ok(())
}

fn closed(path: &Path) -> io::Result<()> {
    let done = fs::symlink_metadata(path).and_then(|found| {
        let mode = found.permissions().mode();
        if found.is_symlink() || mode & OTHERS == 0 {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS))
    });
    match done {
        // sled deletes files that it no longer needs.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // The root of a volume is often somebody else's.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            tracing::debug!("{} stays as it is: {error}", path.display());
            Ok(())
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::kv::SledKv;

    fn open_to_others(folder: &Path) -> Vec<String> {
        let inside = fs::read_dir(folder).unwrap();
        let mut paths: Vec<_> = inside.map(|entry| entry.unwrap().path()).collect();
        paths.push(folder.to_owned());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        paths.retain(|path| mode(path) & OTHERS != 0);
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn a_store_is_for_its_owner_alone_also_one_that_was_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        drop(SledKv::open(&store, None).unwrap());
        assert_eq!(open_to_others(&store), Vec::<String>::new());
        fs::write(store.join("snap.0"), "").unwrap();
        for path in [&store, &store.join("db"), &store.join("snap.0")] {
            let open = path.metadata().unwrap().permissions().mode() | 0o055;
            fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
        }
        assert_eq!(open_to_others(&store).len(), 3);
        close(&store).unwrap();
        assert_eq!(open_to_others(&store), Vec::<String>::new());
    }

    #[test]
    fn a_link_and_a_file_that_is_gone_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        let open = Permissions::from_mode(0o644);
        fs::set_permissions(elsewhere.path(), open).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("db")).unwrap();
        close(folder.path()).unwrap();
        let mode = elsewhere.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & OTHERS, 0o044);
        closed(&folder.path().join("gone")).unwrap();
    }
}
