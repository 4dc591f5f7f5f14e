//! Sealed values on a store in memory.

use super::super::MemoryKv;
use super::*;

const FIRST: &[u8] = b"format";

fn put(entries: &[(&str, &str)]) -> Commit {
    let entry =
        |(key, value): &(&str, &str)| (key.as_bytes().to_vec(), Bytes::from((*value).to_owned()));
    Commit {
        put: entries.iter().map(entry).collect(),
        ..Commit::default()
    }
}

async fn all(kv: &dyn Kv) -> Vec<(Key, Bytes)> {
    let scan = Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    kv.scan(scan).await.unwrap()
}

async fn open(kv: &Arc<MemoryKv>, place: &KeyPlace) -> Result<SealedKv, SealError> {
    SealedKv::open(kv.clone(), place.clone(), &FIRST.to_vec()).await
}

fn place(folder: &tempfile::TempDir) -> KeyPlace {
    KeyPlace::File(folder.path().join("key"))
}

async fn has(kv: &MemoryKv, text: &str) -> bool {
    let all = all(kv).await;
    all.iter()
        .any(|(_, value)| String::from_utf8_lossy(value).contains(text))
}

#[tokio::test]
async fn nothing_below_can_be_read_moved_or_changed() {
    let (below, folder) = (Arc::new(MemoryKv::default()), tempfile::tempdir().unwrap());
    let kv = open(&below, &place(&folder)).await.unwrap();
    kv.commit(put(&[("a", "s3cret"), ("b", "other")]))
        .await
        .unwrap();
    assert!(!has(&below, "s3cret").await);
    let sealed = below.get(b"a").await.unwrap().unwrap().value;
    let mut changed = sealed.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    for value in [sealed.clone(), changed.into(), sealed.slice(..HEAD_BYTES)] {
        let commit = Commit {
            put: vec![(b"b".to_vec(), value)],
            ..Commit::default()
        };
        below.commit(commit).await.unwrap();
        let error = kv.get(b"b").await.unwrap_err();
        assert!(matches!(error, KvError::Damaged { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_store_of_before_is_sealed_as_a_whole_however_often_that_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    for commits in 0..6 {
        let below = Arc::new(MemoryKv::default());
        let entries: Vec<_> = (0..600).map(|n| format!("e/{n:04}")).collect();
        let entries: Vec<_> = entries.iter().map(|key| (key.as_str(), "s3cret")).collect();
        below.commit(put(&entries)).await.unwrap();
        below
            .commit(put(&[("format", "{2}"), ("type", "12")]))
            .await
            .unwrap();
        let before = all(&*below).await;
        let dying = crate::testing::DyingKv::after(commits, below.clone());
        let cut_off = SealedKv::open(dying, place(&folder), &FIRST.to_vec()).await;
        assert_eq!(cut_off.is_err(), commits < 4, "{commits}");
        let kv = open(&below, &place(&folder)).await.unwrap();
        assert!(!has(&below, "s3cret").await);
        assert_eq!(all(&kv).await, before);
        assert_eq!(
            below.get(b"type").await.unwrap().as_deref(),
            Some(&b"12"[..])
        );
    }
}

#[tokio::test]
async fn without_its_key_a_store_is_not_opened() {
    let (below, folder) = (Arc::new(MemoryKv::default()), tempfile::tempdir().unwrap());
    let kv = open(&below, &place(&folder)).await.unwrap();
    kv.commit(put(&[("format", "{2}")])).await.unwrap();
    let other = tempfile::tempdir().unwrap();
    let missing = open(&below, &place(&other)).await.unwrap_err().to_string();
    assert!(missing.contains("is not there"), "{missing}");
    drop(Ring::open(place(&other), false).unwrap());
    let wrong = open(&below, &place(&other)).await.unwrap_err().to_string();
    assert!(wrong.contains("another key"), "{wrong}");
}

#[tokio::test]
async fn after_a_rotation_the_old_key_is_not_needed_and_what_is_expected_still_holds() {
    let (below, folder) = (Arc::new(MemoryKv::default()), tempfile::tempdir().unwrap());
    let kv = open(&below, &place(&folder)).await.unwrap();
    kv.commit(put(&[("format", "{2}"), ("a", "s3cret"), ("n", "5")]))
        .await
        .unwrap();
    let before = kv.get(b"a").await.unwrap();
    let old = kv.ring().newest().unwrap().id;
    let new = kv.ring().renew().unwrap().id;
    assert_eq!(kv.reseal(None).await.unwrap(), 2);
    assert_eq!(kv.reseal(None).await.unwrap(), 0);
    assert_eq!(kv.keys_in_use().await.unwrap(), BTreeMap::from([(new, 2)]));
    let expecting = Commit {
        expect: vec![(b"a".to_vec(), before)],
        ..put(&[("a", "changed")])
    };
    kv.commit(expecting).await.unwrap();
    let file = folder.path().join("key");
    let keys = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, keys.lines().next().unwrap()).unwrap();
    let restarted = open(&below, &place(&folder)).await.unwrap();
    assert!(restarted.ring().find(&old.0).is_none());
    assert_eq!(
        restarted.get(b"a").await.unwrap().as_deref(),
        Some(&b"changed"[..])
    );
}
