//! What a process reads of a store that another one has.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::EtcdReader;
use super::*;

const PARTIAL: &str = "restoring";

async fn try_reader(address: &EtcdAddress) -> Option<EtcdReader> {
    let partial = [PARTIAL.as_bytes().to_vec()];
    EtcdReader::open(address, &StoreAccess::default(), &partial)
        .await
        .unwrap()
}

async fn reader(address: &EtcdAddress) -> EtcdReader {
    try_reader(address).await.unwrap()
}

#[tokio::test]
async fn a_reader_reads_a_store_without_an_owner_and_writes_nothing() {
    let address = place();
    assert!(try_reader(&address).await.is_none());
    let kv = open(&address).await;
    kv.commit(numbered(3_000, "x")).await.unwrap();
    kv.release().await;
    let reader = reader(&address).await;
    for order in [Order::Ascending, Order::Descending] {
        let found = reader.scan(Scan {
            order,
            ..everything()
        });
        assert_eq!(found.await.unwrap().len(), 3_000);
    }
    let keys = [b"entry/00001".to_vec(), b"entry/none".to_vec()];
    let found = reader.get_each(keys.to_vec()).await.unwrap();
    assert!(found[0].is_some() && found[1].is_none());
    let refused = reader.commit(numbered(1, "y")).await.unwrap_err();
    assert!(matches!(refused, KvError::Failed { .. }), "{refused}");
}

/// Commits of one value for all keys, in a random number of transactions. Each read sees the values of one of them, and none
/// that is older than a commit that was answered before the read began.
#[tokio::test(flavor = "multi_thread")]
async fn readers_see_whole_commits_and_the_last_that_was_answered() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut members = Members::start(3);
    let address: EtcdAddress = members.address().parse().unwrap();
    let kv = open(&address).await;
    kv.commit(numbered(200, "00000")).await.unwrap();
    let (answered, reads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let stop = tokio_util::sync::CancellationToken::new();
    let mut readers = JoinSet::new();
    for _ in 0..3 {
        let reader = reader(&address).await;
        let (answered, reads, stop) = (answered.clone(), reads.clone(), stop.clone());
        readers.spawn(async move {
            while !stop.is_cancelled() {
                let least = answered.load(Ordering::SeqCst);
                let found = match reader.scan(everything()).await {
                    Ok(found) => found,
                    Err(KvError::NotWhole) => {
                        tokio::task::yield_now().await;
                        continue;
                    }
                    Err(KvError::Unreachable { .. }) => continue,
                    Err(error) => panic!("{error}"),
                };
                let one = &found[0].1;
                let same = found.iter().filter(|(_, value)| value == one).count();
                assert_eq!((found.len(), same), (200, 200), "seed {seed}");
                let number: usize = std::str::from_utf8(one).unwrap().parse().unwrap();
                assert!(number >= least, "{number} after {least}, seed {seed}");
                reads.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    for number in 1..=40 {
        let mut commit = numbered(200, &format!("{number:05}"));
        if random.bool() {
            // With the record of a large commit, as all above 128 changes have.
            commit.delete = vec![b"entry/none".to_vec()];
        }
        kv.commit(commit).await.unwrap();
        answered.store(number, Ordering::SeqCst);
        let before = reads.load(Ordering::SeqCst);
        if random.u8(..4) == 0 {
            while reads.load(Ordering::SeqCst) < before + 3 {
                tokio::task::yield_now().await;
            }
        }
        match (number, random.usize(..3)) {
            (10, member) => members.kill(member),
            (20, _) => (0..3).for_each(|member| {
                members.kill(member);
                members.restart(member);
            }),
            _ => {}
        }
    }
    stop.cancel();
    while let Some(ended) = readers.join_next().await {
        ended.unwrap();
    }
    assert!(reads.load(Ordering::SeqCst) > 10);
}

#[tokio::test]
async fn nothing_is_read_from_a_store_that_is_being_restored_or_is_in_a_large_commit() {
    let address = place();
    let kv = open(&address).await;
    kv.commit(numbered(1, "x")).await.unwrap();
    let reader = reader(&address).await;
    let restoring = || (PARTIAL.to_owned(), "now".to_owned());
    kv.commit(put([restoring()])).await.unwrap();
    let refused = reader.scan(everything()).await.unwrap_err();
    assert_eq!(refused, KvError::NotWhole);
    kv.commit(Commit {
        delete: vec![PARTIAL.as_bytes().to_vec()],
        ..Commit::default()
    })
    .await
    .unwrap();
    assert_eq!(reader.scan(everything()).await.unwrap().len(), 1);
    let decided = Change::Put(Put {
        key: kv.0.names.redo_commit(),
        value: Text(b"0".to_vec()),
        lease: None,
    });
    kv.0.transact(&[], &[decided]).await.unwrap();
    assert_eq!(
        reader.get(b"entry/00000").await.unwrap_err(),
        KvError::NotWhole
    );
    kv.release().await;
    open(&address).await.release().await;
    assert!(reader.get(b"entry/00000").await.unwrap().is_some());
}

/// Its connections stay, and it answers nothing.
#[tokio::test]
async fn a_member_that_is_stopped_is_left_for_another_one() {
    let members = Members::start(3);
    let address: EtcdAddress = members.address().parse().unwrap();
    let kv = open(&address).await;
    kv.commit(numbered(1, "x")).await.unwrap();
    let reader = reader(&address).await;
    for member in 0..3 {
        members.signal(member, Signal::SIGSTOP);
        let read = async {
            while reader.scan(everything()).await.is_err() {}
            // And at once from then on.
            reader.scan(everything()).await.unwrap().len()
        };
        let read = tokio::time::timeout(Duration::from_secs(60), read).await;
        members.signal(member, Signal::SIGCONT);
        assert_eq!(read.unwrap(), 1, "member {member}");
    }
}
