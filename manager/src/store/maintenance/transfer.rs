//! Moving the state of a store in a folder into a store on etcd.
//!
//! ```text
//! mark in etcd ──► all entries, as a restore ──► file in the folder ──► mark removed
//! ```
//!
//! While the mark is there, only a manager that moves the folder's state opens the store: another one would serve a part
//! of it. The folder keeps its state. Its file names the store that has the state now, and no manager serves the old one
//! by mistake.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{archive, upgrade};
use crate::keys::KeyPlace;
use crate::store::kv::{Kv, KvError, SealError, SledKv};
use crate::store::{Changes, Store, StoreError, keys};

/// The file in the folder.
const MOVED: &str = "moved";
/// A manager that stops has the folder for some seconds.
const POLL: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("{} has no store: leave out --store-from if there is no state to move", .0.display())]
    NoStore(PathBuf),
    #[error(
        "the state of the store in {} was moved to {to}: start the manager with that --store; to use the old state nevertheless, delete {}",
        .folder.display(),
        .folder.join(MOVED).display()
    )]
    Moved { folder: PathBuf, to: String },
    #[error("{}", .file.display())]
    File {
        file: PathBuf,
        source: std::io::Error,
    },
}

impl From<KvError> for TransferError {
    fn from(error: KvError) -> Self {
        StoreError::from(error).into()
    }
}

/// Fills a store without state with the state of the folder. A store with state stays as it is. A transfer that was cut
/// off begins again. `to` names the store, for people.
///
/// # Errors
/// If the folder has no store, or its state was moved before, or one of the stores fails.
pub async fn run(
    kv: &Arc<dyn Kv>,
    from: &Path,
    key: KeyPlace,
    to: &str,
) -> Result<(), TransferError> {
    let store = Store::over(kv.clone());
    archive::clean(&store).await?;
    upgrade::open(&store).await?;
    let has_begun = store.get::<String>(keys::transfer()).await?.is_some();
    match (archive::is_empty(&store).await?, has_begun) {
        (false, false) => {
            tracing::info!(store = to, "the store has state: --store-from is not used");
            return Ok(());
        }
        // All entries are there: a restore that was cut off would have left none.
        (false, true) => {}
        (true, _) => fill(&store, from, key).await?,
    }
    let file = from.join(MOVED);
    std::fs::write(&file, to).map_err(|source| TransferError::File { file, source })?;
    let mut done = Changes::default();
    done.delete(keys::transfer());
    store.commit(done).await?;
    tracing::info!(store = to, "the state of {} is in {to} now", from.display());
    Ok(())
}

async fn fill(store: &Store, from: &Path, key: KeyPlace) -> Result<(), TransferError> {
    check(from)?;
    let source = open(from).await?;
    let source = Store::open(Store::sealed(source, key).await?).await?;
    let mut mark = Changes::default();
    mark.put(keys::transfer(), &from.display().to_string())?;
    store.commit(mark).await?;
    let entries = archive::backup(&source, Timestamp::now()).await?;
    archive::restore(store, entries).await?;
    Ok(())
}

/// # Errors
/// If the state of the store in the folder was moved to another one.
pub fn check(folder: &Path) -> Result<(), TransferError> {
    let file = folder.join(MOVED);
    match std::fs::read_to_string(&file) {
        Ok(to) => Err(TransferError::Moved {
            folder: folder.to_owned(),
            to,
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(TransferError::File { file, source }),
    }
}

/// Waits until the manager that uses the folder has ended.
async fn open(folder: &Path) -> Result<Arc<dyn Kv>, TransferError> {
    let is_absent = std::fs::read_dir(folder).map_or(true, |mut files| files.next().is_none());
    if is_absent {
        return Err(TransferError::NoStore(folder.to_owned()));
    }
    let mut waits = false;
    loop {
        let path = folder.to_owned();
        let opening = move || {
            SledKv::look(&path)?;
            SledKv::open(&path, None)
        };
        let opened = tokio::task::spawn_blocking(opening).await;
        match opened.map_err(|error| StoreError::Broken(error.to_string()))? {
            Ok(kv) => return Ok(Arc::new(kv)),
            Err(error @ KvError::InUse { .. }) => {
                if !waits {
                    tracing::info!(%error, "{error}; waiting for it to stop");
                }
                waits = true;
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(POLL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::kv::{Key, MemoryKv, Scan};
    use crate::testing::{DyingKv, copied};

    const TO: &str = "etcd:http://a:2379/dm";
    /// More than one commit of a restore.
    const VALUE_BYTES: usize = 1 << 20;
    const ENTRIES: usize = 9;

    struct Folder {
        place: tempfile::TempDir,
    }

    impl Folder {
        /// A store with state.
        async fn new() -> Self {
            let folder = Self {
                place: tempfile::tempdir().unwrap(),
            };
            let disk = Arc::new(SledKv::open(&folder.path(), None).unwrap());
            let store = Store::open(folder.sealed(disk).await).await.unwrap();
            for number in 0..ENTRIES {
                let mut changes = Changes::default();
                let value = "x".repeat(VALUE_BYTES);
                let key = keys::key(&["x", &number.to_string()]);
                changes.put(key, &value).unwrap();
                store.commit(changes).await.unwrap();
            }
            folder
        }

        fn copy(&self) -> Self {
            let copy = Self {
                place: tempfile::tempdir().unwrap(),
            };
            copied(self.place.path(), copy.place.path());
            copy
        }

        fn path(&self) -> PathBuf {
            self.place.path().join("store")
        }

        fn key(&self) -> KeyPlace {
            KeyPlace::File(self.place.path().join("key"))
        }

        async fn sealed(&self, kv: Arc<dyn Kv>) -> Arc<dyn Kv> {
            Store::sealed(kv, self.key()).await.unwrap()
        }

        async fn moved(&self, to: Arc<dyn Kv>) -> Result<(), TransferError> {
            let sealed = Store::sealed(to, self.key()).await?;
            run(&sealed, &self.path(), self.key(), TO).await
        }

        async fn opened(&self, kv: Arc<dyn Kv>) -> Result<usize, StoreError> {
            let store = Store::open(self.sealed(kv).await).await?;
            Ok(found(&store).await.len())
        }
    }

    async fn found(store: &Store) -> Vec<Key> {
        let scan = Scan {
            prefix: keys::prefix(&["x"]),
            limit: usize::MAX,
            ..Scan::default()
        };
        let found = store.kv.scan(scan).await.unwrap();
        found.into_iter().map(|(key, _)| key).collect()
    }

    #[tokio::test]
    async fn a_transfer_that_is_cut_off_anywhere_is_finished_by_the_next_one_and_by_nothing_else() {
        let original = Folder::new().await;
        for commits in 0.. {
            let folder = original.copy();
            let kv = Arc::new(MemoryKv::default());
            let dying = DyingKv::after(commits, kv.clone());
            if folder.moved(dying).await.is_ok() {
                assert!(commits > 4, "it took {commits} commits");
                return;
            }
            match folder.opened(kv.clone()).await {
                // Before its mark, nothing is there.
                Ok(count) => assert_eq!(count, 0, "after {commits} commits"),
                Err(StoreError::CutOff { folder }) => assert!(folder.ends_with("store")),
                Err(error) => panic!("after {commits} commits: {error}"),
            }
            folder.moved(kv.clone()).await.unwrap();
            assert_eq!(folder.opened(kv).await.unwrap(), ENTRIES);
        }
    }

    #[tokio::test]
    async fn a_folder_whose_state_was_moved_is_neither_served_nor_moved_again() {
        let folder = Folder::new().await;
        check(&folder.path()).unwrap();
        let kv = Arc::new(MemoryKv::default());
        folder.moved(kv.clone()).await.unwrap();
        let refused = check(&folder.path()).unwrap_err().to_string();
        assert!(refused.contains(TO), "{refused}");
        // The flag may stay: the store has its state.
        folder.moved(kv.clone()).await.unwrap();
        assert_eq!(folder.opened(kv).await.unwrap(), ENTRIES);
        let empty = Arc::new(MemoryKv::default());
        let refused = folder.moved(empty.clone()).await.unwrap_err();
        assert!(matches!(refused, TransferError::Moved { .. }), "{refused}");
        assert_eq!(folder.opened(empty).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_folder_without_a_store_is_refused_and_a_store_in_use_is_waited_for() {
        let folder = Folder::new().await;
        let kv: Arc<dyn Kv> = Arc::new(MemoryKv::default());
        let sealed = folder.sealed(kv.clone()).await;
        let nothing = folder.place.path().join("nothing");
        let refused = run(&sealed, &nothing, folder.key(), TO).await.unwrap_err();
        assert!(matches!(refused, TransferError::NoStore(_)), "{refused}");
        let user = SledKv::open(&folder.path(), None).unwrap();
        let mut moving = std::pin::pin!(folder.moved(kv.clone()));
        tokio::select! {
            moved = &mut moving => panic!("{moved:?}"),
            () = tokio::time::sleep(POLL * 2) => {}
        }
        drop(user);
        moving.await.unwrap();
        assert_eq!(folder.opened(kv).await.unwrap(), ENTRIES);
    }
}
