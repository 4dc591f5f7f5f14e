use super::super::KvError;
use super::*;
use crate::stage::copied;

fn put(entries: impl IntoIterator<Item = (Key, Bytes)>) -> Commit {
    Commit {
        put: entries.into_iter().collect(),
        ..Commit::default()
    }
}

/// Commits that are so large that sled keeps some in its log, some beside it, and fills several segments.
async fn filled(kv: &SledKv) {
    for n in 0..50u8 {
        let large = Bytes::from(vec![n; 64 * 1024]);
        let small = Bytes::from_static(b"small");
        kv.commit(put([(vec![n], large), (vec![n, n], small)]))
            .await
            .unwrap();
    }
}

async fn all(kv: &dyn Kv) -> Result<Vec<(Key, Bytes)>, KvError> {
    kv.scan(Scan {
        limit: usize::MAX,
        ..Scan::default()
    })
    .await
}

#[tokio::test]
async fn a_second_manager_on_the_same_store_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let _first = SledKv::open(folder.path()).unwrap();
    let error = SledKv::open(folder.path()).unwrap_err();
    assert!(matches!(&error, KvError::InUse { .. }), "{error}");
}

#[tokio::test]
async fn a_path_that_is_no_folder_is_refused_by_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = SledKv::open(file.path()).unwrap_err().to_string();
    assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
}

/// The folder is copied while the store is open, as a crash would leave it: nothing was closed in order.
#[tokio::test]
async fn what_is_committed_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let kv = SledKv::open(folder.path()).unwrap();
    filled(&kv).await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    let recovered = SledKv::open(crashed.path()).unwrap();
    assert_eq!(all(&recovered).await, all(&kv).await);
}

#[tokio::test]
async fn a_store_that_lost_what_was_acknowledged_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let kv = SledKv::open(folder.path()).unwrap();
    filled(&kv).await;
    let crashed = tempfile::tempdir().unwrap();
    copied(folder.path(), crashed.path());
    kv.commit(put([(b"one more".to_vec(), Bytes::new())]))
        .await
        .unwrap();
    std::fs::copy(
        folder.path().join("acknowledged"),
        crashed.path().join("acknowledged"),
    )
    .unwrap();
    let error = SledKv::open(crashed.path()).unwrap_err();
    assert!(matches!(&error, KvError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("restore a backup"), "{error}");
}

#[tokio::test]
async fn a_full_disk_refuses_commits_by_name_keeps_what_was_acknowledged_and_takes_them_again() {
    let folder = tempfile::tempdir().unwrap();
    let kv = SledKv::open(folder.path()).unwrap();
    filled(&kv).await;
    let before = all(&kv).await;
    drop(kv);
    let full = SledKv::open_keeping(folder.path(), u64::MAX).unwrap();
    let error = full
        .commit(put([(b"k".to_vec(), Bytes::new())]))
        .await
        .unwrap_err();
    assert!(matches!(&error, KvError::Full { .. }), "{error}");
    assert_eq!(all(&full).await, before);
    drop(full);
    let roomy = SledKv::open(folder.path()).unwrap();
    roomy
        .commit(put([(b"k".to_vec(), Bytes::new())]))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_stays_as_the_store_was_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let kv = SledKv::open(folder.path()).unwrap();
    filled(&kv).await;
    let before = all(&kv).await.unwrap();
    let snapshot = kv.snapshot().await.unwrap();
    let mut change = put([
        (vec![0, 7], Bytes::from_static(b"new")),
        (vec![3], Bytes::from_static(b"changed")),
    ]);
    change.delete = vec![vec![4], vec![49, 49]];
    change.add = vec![(b"count".to_vec(), 3)];
    kv.commit(change).await.unwrap();
    assert_ne!(all(&kv).await.unwrap(), before);
    assert_eq!(all(&*snapshot).await.unwrap(), before);
    assert_eq!(snapshot.get(&[0, 7]).await, Ok(None));
    assert_eq!(snapshot.get(&[4]).await.unwrap().unwrap().len(), 64 * 1024);
    let mut backwards = Vec::new();
    while let Some((key, value)) = snapshot
        .scan(Scan {
            after: backwards.last().map(|(key, _): &(Key, Bytes)| key.clone()),
            limit: 1,
            order: Order::Descending,
            ..Scan::default()
        })
        .await
        .unwrap()
        .pop()
    {
        backwards.push((key, value));
    }
    backwards.reverse();
    assert_eq!(backwards, before);
}

/// Each byte of the files, one after the other, would take hours: these are spread over all of them.
#[tokio::test]
async fn damage_anywhere_is_told_or_harmless_and_never_a_silent_loss() {
    let folder = tempfile::tempdir().unwrap();
    let kv = SledKv::open(folder.path()).unwrap();
    filled(&kv).await;
    let before = all(&kv).await.unwrap();
    let image = tempfile::tempdir().unwrap();
    copied(folder.path(), image.path());
    drop(kv);
    let clean = tempfile::tempdir().unwrap();
    copied(folder.path(), clean.path());
    for image in [image.path(), clean.path()] {
        for part in 0..40 {
            let damaged = tempfile::tempdir().unwrap();
            copied(image, damaged.path());
            damage(&damaged.path().join("db"), part, 40);
            let Ok(kv) = SledKv::open(damaged.path()) else {
                continue;
            };
            if kv.check(Pace::Fast).await.is_err() {
                continue;
            }
            if let Ok(found) = all(&kv).await {
                let same = found == before;
                assert!(same, "damage {part} of 40 in {}", image.display());
            }
        }
    }
}

/// Flips 16 bytes in one part of a file.
fn damage(path: &Path, part: usize, parts: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.len() * part / parts + 40;
    for byte in bytes.iter_mut().skip(at).take(16) {
        *byte ^= 0xff;
    }
    std::fs::write(path, bytes).unwrap();
}
