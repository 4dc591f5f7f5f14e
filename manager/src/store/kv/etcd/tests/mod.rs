//! What only a store on etcd does: its owners, large commits that are cut off, members that go away.

mod access;
mod bad_luck;
mod reader;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::Poll;

use nix::sys::signal::Signal;

use super::super::{Order, SledKv};
use super::client::wire::{Change, Put, Text};
use super::testing::{LEASE, Members, candidate, open, place, store, try_open};
use super::*;

fn put(entries: impl IntoIterator<Item = (String, String)>) -> Commit {
    let entry = |(key, value): (String, String)| (key.into_bytes(), Bytes::from(value));
    Commit {
        put: entries.into_iter().map(entry).collect(),
        ..Commit::default()
    }
}

fn numbered(count: usize, value: &str) -> Commit {
    put((0..count).map(|n| (format!("entry/{n:05}"), value.to_owned())))
}

fn everything() -> Scan {
    Scan {
        limit: usize::MAX,
        ..Scan::default()
    }
}

async fn text(kv: &EtcdKv, key: &str) -> Option<String> {
    let found = kv.get(key.as_bytes()).await.unwrap()?;
    Some(String::from_utf8(found.value.to_vec()).unwrap())
}

#[tokio::test]
async fn a_second_manager_waits_and_has_the_store_once_the_first_gives_it_up() {
    let address = place();
    let first = open(&address).await;
    first.commit(numbered(1, "first")).await.unwrap();
    let mut second = Box::pin(open(&address));
    assert!(futures::poll!(second.as_mut()).is_pending());
    let (second, ()) = tokio::join!(second, first.release());
    assert_eq!(text(&second, "entry/00000").await.as_deref(), Some("first"));
    second.commit(numbered(1, "second")).await.unwrap();
    second.release().await;
}

/// As a process that was stopped for longer than its lease: it does not know yet, and its clock says nothing.
#[tokio::test]
async fn what_a_manager_writes_after_another_took_over_is_refused_and_it_ends() {
    let address = place();
    let first = open(&address).await;
    first.commit(numbered(1, "first")).await.unwrap();
    let end_lease = Change::Delete(super::client::wire::Delete {
        key: first.0.names.owner(),
        range_end: None,
    });
    first.0.transact(&[], &[end_lease]).await.unwrap();
    let second = open(&address).await;
    for late in [numbered(1, "late"), numbered(300, "late")] {
        let error = first.commit(late).await.unwrap_err();
        assert!(matches!(error, KvError::TakenOver { .. }), "{error}");
    }
    assert!(matches!(first.lost().await, KvError::TakenOver { .. }));
    assert!(first.get(b"entry/00000").await.is_err());
    assert_eq!(text(&second, "entry/00000").await.as_deref(), Some("first"));
    second.release().await;
}

/// Its clock and its lease say that it has the store.
#[tokio::test]
async fn a_manager_learns_that_another_has_the_store_when_it_asks() {
    let address = place();
    let first = open(&address).await;
    first.owned().await.unwrap();
    let end = Change::Delete(super::client::wire::Delete {
        key: first.0.names.owner(),
        range_end: None,
    });
    first.0.transact(&[], &[end]).await.unwrap();
    let second = open(&address).await;
    first.0.owner.check().await.unwrap();
    let error = first.owned().await.unwrap_err();
    assert!(matches!(error, KvError::TakenOver { .. }), "{error}");
    second.owned().await.unwrap();
    second.release().await;
}

#[tokio::test]
async fn a_manager_that_dies_is_replaced_when_its_lease_ends() {
    let address = place();
    let first = open(&address).await;
    first.commit(numbered(1, "first")).await.unwrap();
    // Its tasks end with it, and nobody renews the lease.
    drop(first);
    let second = tokio::time::timeout(LEASE * 4, open(&address))
        .await
        .unwrap();
    assert_eq!(text(&second, "entry/00000").await.as_deref(), Some("first"));
    second.release().await;
}

#[tokio::test]
async fn a_large_commit_that_is_cut_off_anywhere_has_happened_or_not() {
    let (mut outcomes, mut polls) = ([0, 0], 1);
    loop {
        let address = place();
        let first = open(&address).await;
        first.commit(numbered(300, "before")).await.unwrap();
        let mut large = numbered(280, "after");
        large.delete = vec![b"entry/00290".to_vec()];
        large.add = vec![(b"number".to_vec(), 7)];
        let ended = {
            let mut commit = Box::pin(first.0.large(&large));
            let mut left = polls;
            poll_fn(move |context| {
                left -= 1;
                match commit.as_mut().poll(context) {
                    Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                    Poll::Pending if left == 0 => Poll::Ready(None),
                    Poll::Pending => Poll::Pending,
                }
            })
            .await
        };
        first.release().await;
        let second = open(&address).await;
        let found = second.scan(everything()).await.unwrap();
        let mut counts = BTreeMap::new();
        for (_, value) in &found {
            *counts.entry(value.clone()).or_insert(0) += 1;
        }
        let count = |value: &'static str| counts.get(value.as_bytes()).copied().unwrap_or(0);
        match count("after") {
            0 => assert_eq!(
                (count("before"), found.len()),
                (300, 300),
                "after {polls} polls"
            ),
            280 => assert_eq!(
                (count("before"), count("7")),
                (19, 1),
                "after {polls} polls"
            ),
            other => panic!("after {polls} polls, {other} of 280 changes were made"),
        }
        outcomes[usize::from(count("after") == 280)] += 1;
        second.commit(numbered(300, "again")).await.unwrap();
        second.release().await;
        if let Some(outcome) = ended {
            outcome.unwrap();
            assert_eq!(count("after"), 280);
            break;
        }
        polls += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 1), "{outcomes:?}");
}

#[tokio::test]
async fn pages_of_many_entries_are_the_same_in_both_orders_whatever_the_signposts() {
    let kv = store().await;
    let keys: Vec<_> = (0..5_000)
        .map(|n| format!("entry/{n:05}").into_bytes())
        .collect();
    kv.commit(numbered(5_000, "")).await.unwrap();
    for round in 0..3 {
        for order in [Order::Ascending, Order::Descending] {
            let (mut met, mut after) = (Vec::new(), None);
            loop {
                let page = Scan {
                    prefix: b"entry/".to_vec(),
                    after: after.take(),
                    limit: 333,
                    order,
                };
                let found = kv.scan(page).await.unwrap();
                met.extend(found.into_iter().map(|(key, _)| key));
                match met.last().filter(|_| met.len() < keys.len()) {
                    Some(last) => after = Some(last.clone()),
                    None => break,
                }
            }
            if order == Order::Descending {
                met.reverse();
            }
            assert_eq!(met, keys, "round {round}");
        }
        kv.0.signposts
            .survey(&kv.0.client, &kv.0.names)
            .await
            .unwrap();
    }
    kv.commit(Commit {
        delete_prefix: vec![b"entry/0".to_vec()],
        ..put([("entry/x".to_owned(), String::new())])
    })
    .await
    .unwrap();
    let left = kv.scan(everything()).await.unwrap();
    assert_eq!(left, [(b"entry/x".to_vec(), Bytes::new())]);
    kv.release().await;
}

#[tokio::test]
async fn a_prefix_with_other_keys_and_a_store_of_another_cluster_are_refused() {
    let kv = store().await;
    let foreign: EtcdAddress = format!("{}/else", place()).parse().unwrap();
    let key = Text(format!("{}/key", foreign.prefix).into_bytes());
    let stranger = |key, value: &str| {
        Change::Put(Put {
            key,
            value: Text(value.as_bytes().to_vec()),
            lease: None,
        })
    };
    kv.0.transact(&[], &[stranger(key, "")]).await.unwrap();
    let error = try_open(&foreign).await.unwrap_err().to_string();
    assert!(error.contains("choose another prefix"), "{error}");
    kv.release().await;

    let address = place();
    let moved = open(&address).await;
    moved.commit(numbered(1, "kept")).await.unwrap();
    let record = stranger(moved.0.names.store(), r#"{"layout":1,"cluster":"1"}"#);
    moved.0.transact(&[], &[record]).await.unwrap();
    moved.release().await;
    let error = try_open(&address).await.unwrap_err();
    let KvError::OtherCluster { accept, .. } = &error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("snapshot"), "{error}");
    let access = StoreAccess::default();
    let accepted = EtcdKv::open_leased(&address, &access, Some(accept), LEASE, &candidate())
        .await
        .unwrap();
    assert_eq!(
        text(&accepted, "entry/00000").await.as_deref(),
        Some("kept")
    );
    accepted.release().await;
    open(&address).await.release().await;
}

#[tokio::test]
async fn a_store_whose_members_are_all_away_says_so() {
    let members = Members::start(1);
    let address: EtcdAddress = members.address().parse().unwrap();
    open(&address).await.release().await;
    drop(members);
    let error = try_open(&address).await.unwrap_err();
    assert!(matches!(error, KvError::Unreachable { .. }), "{error}");
}

/// Each acknowledged commit is there once, though members were killed and stopped while it was made.
#[tokio::test(flavor = "multi_thread")]
async fn while_members_die_one_after_another_every_commit_happens_exactly_once() {
    let mut members = Members::start(3);
    let kv = EtcdKv::open_leased(
        &members.address().parse().unwrap(),
        &StoreAccess::default(),
        None,
        Duration::from_secs(60),
        &candidate(),
    )
    .await
    .unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (kv, stop) = (kv.clone(), stop.clone());
            tokio::spawn(async move {
                let mut count = 0;
                while !stop.is_cancelled() {
                    let commit = Commit {
                        add: vec![(b"number".to_vec(), 1)],
                        expect: vec![(format!("w/{writer}/{count}").into_bytes(), None)],
                        ..put([(format!("w/{writer}/{count}"), String::new())])
                    };
                    kv.commit(commit).await.unwrap();
                    count += 1;
                }
                count
            })
        })
        .collect();
    let more = async |count: usize| {
        let before = kv.scan(everything()).await.unwrap().len();
        while kv.scan(everything()).await.unwrap().len() < before + count {}
    };
    for number in [0, 1, 2] {
        more(20).await;
        members.kill(number);
        more(20).await;
        members.restart(number);
        more(20).await;
        let next = (number + 1) % 3;
        members.signal(next, Signal::SIGSTOP);
        more(20).await;
        members.signal(next, Signal::SIGCONT);
    }
    stop.cancel();
    let mut acknowledged = 0;
    for writer in writers {
        acknowledged += writer.await.unwrap();
    }
    let found = kv.scan(everything()).await.unwrap();
    assert_eq!(found.len(), acknowledged + 1);
    assert_eq!(text(&kv, "number").await, Some(acknowledged.to_string()));
}

/// The entries of a store on a disk, moved to etcd as a backup does it, are the same.
#[tokio::test]
async fn entries_of_any_kind_are_the_same_as_on_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, kv) = (SledKv::open(folder.path(), None).unwrap(), store().await);
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..40 {
        let count = random.usize(0..200);
        let mut commit = Commit::default();
        for _ in 0..count {
            let key: Vec<u8> = (0..random.usize(1..4))
                .map(|_| random.u8(b'a'..b'e'))
                .collect();
            match random.u8(0..4) {
                0 => commit.delete.push(key),
                1 if random.u8(0..10) == 0 => commit.delete_prefix.push(key),
                _ => commit
                    .put
                    .push((key, Bytes::from(vec![random.u8(..); random.usize(0..50)]))),
            }
        }
        disk.commit(commit.clone()).await.unwrap();
        kv.commit(commit).await.unwrap();
        let both = (disk.scan(everything()).await, kv.scan(everything()).await);
        assert_eq!(both.0, both.1, "seed {seed}");
    }
    kv.release().await;
}
