//! What every adapter must do, run over each.

use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinSet;

use super::etcd::testing::{Members, open, store};
use super::{Commit, Entry, Kv, KvError, MemoryKv, Order, Scan, SealedKv, SledKv};
use crate::keys::KeyPlace;

fn put(entries: &[(&str, &str)]) -> Commit {
    let put = entries
        .iter()
        .map(|(key, value)| {
            (
                key.as_bytes().to_vec(),
                Bytes::copy_from_slice(value.as_bytes()),
            )
        })
        .collect();
    Commit {
        put,
        ..Commit::default()
    }
}

fn expecting(mut commit: Commit, key: &str, entry: Option<Entry>) -> Commit {
    commit.expect.push((key.as_bytes().to_vec(), entry));
    commit
}

async fn keys_below(kv: &dyn Kv, prefix: &str) -> Vec<String> {
    keys(kv, prefixed(prefix)).await
}

async fn keys(kv: &dyn Kv, scan: Scan) -> Vec<String> {
    let found = kv.scan(scan).await.unwrap();
    found
        .into_iter()
        .map(|(key, _)| String::from_utf8(key).unwrap())
        .collect()
}

fn prefixed(prefix: &str) -> Scan {
    Scan {
        prefix: prefix.into(),
        limit: 100,
        ..Scan::default()
    }
}

async fn what_is_committed_is_read(kv: &dyn Kv) {
    assert_eq!(kv.get(b"a").await.unwrap(), None);
    kv.commit(put(&[("a", "1"), ("b", "2")])).await.unwrap();
    assert_eq!(kv.get(b"a").await.unwrap().as_deref(), Some(&b"1"[..]));
    kv.commit(Commit {
        delete: vec![b"a".to_vec(), b"never".to_vec()],
        ..put(&[("b", "3")])
    })
    .await
    .unwrap();
    assert_eq!(kv.get(b"a").await.unwrap(), None);
    assert_eq!(kv.get(b"b").await.unwrap().as_deref(), Some(&b"3"[..]));
}

async fn a_commit_whose_expectations_fail_changes_nothing(kv: &dyn Kv) {
    kv.commit(put(&[("e", "0")])).await.unwrap();
    let before = kv.get(b"e").await.unwrap();
    kv.commit(put(&[("e", "1")])).await.unwrap();
    for wrong in [None, before.clone()] {
        let commit = expecting(put(&[("e", "9"), ("f", "9")]), "e", wrong);
        assert_eq!(kv.commit(commit).await, Err(KvError::Conflict));
    }
    assert_eq!(kv.get(b"e").await.unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(kv.get(b"f").await.unwrap(), None);
    let now = kv
        .get_each(vec![b"f".to_vec(), b"e".to_vec()])
        .await
        .unwrap();
    assert_eq!(now[0], None);
    let both = expecting(put(&[("e", "2")]), "e", now[1].clone());
    kv.commit(expecting(both, "f", None)).await.unwrap();
    let gone = expecting(put(&[("f", "9")]), "g", before);
    assert_eq!(kv.commit(gone).await, Err(KvError::Conflict));
}

async fn a_prefix_is_deleted_with_what_the_same_commit_puts_below_it(kv: &dyn Kv) {
    kv.commit(put(&[("d/1", ""), ("d/2", ""), ("d0", ""), ("d", "")]))
        .await
        .unwrap();
    let commit = Commit {
        delete_prefix: vec![b"d/".to_vec(), b"nothing/".to_vec()],
        delete: vec![b"d/1".to_vec()],
        ..put(&[("d/3", ""), ("d0", "new"), ("d0", "newer")])
    };
    kv.commit(commit).await.unwrap();
    assert_eq!(keys_below(kv, "d").await, ["d", "d0"]);
    assert_eq!(kv.get(b"d0").await.unwrap().as_deref(), Some(&b"newer"[..]));
}

async fn a_scan_is_ordered_bounded_and_goes_on(kv: &dyn Kv) {
    kv.commit(put(&[
        ("s/1", ""),
        ("s/2", ""),
        ("s/3", ""),
        ("s", ""),
        ("s0", ""),
        ("t", ""),
    ]))
    .await
    .unwrap();
    assert_eq!(keys(kv, prefixed("s/")).await, ["s/1", "s/2", "s/3"]);
    assert_eq!(
        keys(
            kv,
            Scan {
                limit: 2,
                ..prefixed("s/")
            }
        )
        .await,
        ["s/1", "s/2"]
    );
    assert_eq!(
        keys(
            kv,
            Scan {
                after: Some(b"s/1".to_vec()),
                ..prefixed("s/")
            }
        )
        .await,
        ["s/2", "s/3"]
    );
    let backwards = Scan {
        order: Order::Descending,
        ..prefixed("s/")
    };
    assert_eq!(keys(kv, backwards.clone()).await, ["s/3", "s/2", "s/1"]);
    assert_eq!(
        keys(
            kv,
            Scan {
                after: Some(b"s/2".to_vec()),
                ..backwards.clone()
            }
        )
        .await,
        ["s/1"]
    );
    assert_eq!(
        keys(
            kv,
            Scan {
                after: Some(b"s/3".to_vec()),
                ..prefixed("s/")
            }
        )
        .await,
        [""; 0]
    );
    assert_eq!(
        keys(
            kv,
            Scan {
                after: Some(b"s/1".to_vec()),
                ..backwards
            }
        )
        .await,
        [""; 0]
    );
}

async fn bytes_of_any_kind_are_kept(kv: &dyn Kv) {
    let key = vec![0xff, 0x00, 0xff];
    let value = Bytes::from((0..=255u8).cycle().take(300_000).collect::<Vec<_>>());
    kv.commit(Commit {
        put: vec![(key.clone(), value.clone())],
        ..Commit::default()
    })
    .await
    .unwrap();
    assert_eq!(kv.get(&key).await.unwrap().as_deref(), Some(&value[..]));
    let found = kv
        .scan(Scan {
            prefix: vec![0xff],
            limit: 10,
            ..Scan::default()
        })
        .await
        .unwrap();
    assert_eq!(found, [(key, value)]);
}

async fn of_two_writers_who_read_the_same_one_wins(kv: Arc<dyn Kv>) {
    kv.commit(put(&[("n", "0")])).await.unwrap();
    let before = kv.get(b"n").await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..8u32 {
        let (kv, before) = (kv.clone(), before.clone());
        writers.spawn(async move {
            let commit = expecting(put(&[("n", &format!("writer {writer}"))]), "n", before);
            kv.commit(commit).await.is_ok()
        });
    }
    let won = writers
        .join_all()
        .await
        .into_iter()
        .filter(|won| *won)
        .count();
    assert_eq!(won, 1);
}

async fn a_commit_of_fifty_mebibytes_is_kept(kv: &dyn Kv) {
    let piece = Bytes::from(vec![42u8; 64 * 1024]);
    let entries = (0..800u32)
        .map(|n| (format!("big/{n:04}").into_bytes(), piece.clone()))
        .collect();
    kv.commit(Commit {
        put: entries,
        ..Commit::default()
    })
    .await
    .unwrap();
    let found = kv
        .scan(Scan {
            limit: 1000,
            ..prefixed("big/")
        })
        .await
        .unwrap();
    assert_eq!(
        found.iter().filter(|(_, value)| *value == piece).count(),
        800
    );
}

async fn numbers_are_added_to_by_many_at_once_and_vanish_at_zero(kv: Arc<dyn Kv>) {
    let add = |by| Commit {
        add: vec![(b"number".to_vec(), by)],
        ..Commit::default()
    };
    let mut writers = JoinSet::new();
    for _ in 0..16 {
        let (kv, add) = (kv.clone(), add(3));
        writers.spawn(async move { kv.commit(add).await.unwrap() });
    }
    writers.join_all().await;
    let digits = kv.get(b"number").await.unwrap();
    assert_eq!(digits.as_deref(), Some(&b"48"[..]));
    kv.commit(add(-48)).await.unwrap();
    assert_eq!(kv.get(b"number").await.unwrap(), None);
    kv.commit(put(&[("number", "no digits")])).await.unwrap();
    assert!(kv.commit(add(1)).await.is_err());
    kv.commit(put(&[("after", "an error")])).await.unwrap();
}

async fn a_snapshot_sees_nothing_of_what_comes_later(kv: &dyn Kv) {
    let all = || Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    kv.commit(put(&[("snap/a", "1"), ("snap/b", "2")]))
        .await
        .unwrap();
    let before = kv.scan(all()).await.unwrap();
    let snapshot = kv.snapshot().await.unwrap();
    kv.commit(Commit {
        delete: vec![b"snap/b".to_vec()],
        ..put(&[("snap/a", "3"), ("snap/c", "4")])
    })
    .await
    .unwrap();
    assert_eq!(snapshot.scan(all()).await.unwrap(), before);
    assert_eq!(
        snapshot.get(b"snap/b").await.unwrap().as_deref(),
        Some(&b"2"[..])
    );
    assert_eq!(snapshot.get(b"snap/c").await.unwrap(), None);
}

async fn conforms(kv: Arc<dyn Kv>) {
    what_is_committed_is_read(&*kv).await;
    a_commit_whose_expectations_fail_changes_nothing(&*kv).await;
    a_scan_is_ordered_bounded_and_goes_on(&*kv).await;
    a_prefix_is_deleted_with_what_the_same_commit_puts_below_it(&*kv).await;
    bytes_of_any_kind_are_kept(&*kv).await;
    of_two_writers_who_read_the_same_one_wins(kv.clone()).await;
    numbers_are_added_to_by_many_at_once_and_vanish_at_zero(kv.clone()).await;
    a_snapshot_sees_nothing_of_what_comes_later(&*kv).await;
    a_commit_of_fifty_mebibytes_is_kept(&*kv).await;
}

#[tokio::test]
async fn memory_conforms() {
    conforms(Arc::new(MemoryKv::default())).await;
}

#[tokio::test]
async fn sled_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conforms(Arc::new(SledKv::open(folder.path(), None).unwrap())).await;
}

#[tokio::test]
async fn etcd_conforms_with_one_member() {
    let etcd = store().await;
    conforms(Arc::new(etcd.clone())).await;
    etcd.release().await;
}

#[tokio::test]
async fn etcd_conforms_with_three_members() {
    let members = Members::start(3);
    let address = members.address().parse().unwrap();
    conforms(Arc::new(open(&address).await)).await;
}

#[tokio::test]
async fn sealed_conforms_on_etcd() {
    let etcd = store().await;
    let first = b"first".to_vec();
    let sealed = SealedKv::open(Arc::new(etcd.clone()), KeyPlace::Memory, &first);
    conforms(Arc::new(sealed.await.unwrap())).await;
    etcd.release().await;
}

#[tokio::test]
async fn sealed_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let sled = Arc::new(SledKv::open(folder.path(), None).unwrap());
    let sealed = SealedKv::open(sled, KeyPlace::Memory, &b"first".to_vec()).await;
    conforms(Arc::new(sealed.unwrap())).await;
}
