//! Pages of records.

use super::maintenance::archive;
use super::*;

#[tokio::test]
async fn pages_meet_every_record_once() {
    let store = Store::open(Arc::new(kv::MemoryKv::default()))
        .await
        .unwrap();
    let mut changes = Changes::default();
    for n in 0..10u8 {
        changes.put(vec![b'x', 0, n], &n).unwrap();
    }
    store.commit(changes).await.unwrap();
    let mut query = PageQuery {
        limit: Some(3),
        page_token: None,
    };
    let mut met: Vec<u8> = Vec::new();
    loop {
        let page = store
            .records::<u8>(vec![b'x', 0], &query, Order::Descending)
            .await
            .unwrap();
        met.extend(page.items);
        query.page_token = page.next_page_token;
        if query.page_token.is_none() {
            break;
        }
    }
    assert_eq!(met, (0..10).rev().collect::<Vec<_>>());
}

async fn entries(store: &Store) -> Vec<(Key, Bytes)> {
    let all = Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    store.kv.scan(all).await.unwrap()
}

#[tokio::test]
async fn a_backup_restores_into_another_kind_of_store_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let key = KeyPlace::File(folder.path().join("key"));
    let disk = async |name: &str| {
        let disk = kv::SledKv::open(&folder.path().join(name), None).unwrap();
        let sealed = Store::sealed(Arc::new(disk), key.clone()).await.unwrap();
        Store::open(sealed).await.unwrap()
    };
    let first = disk("first").await;
    for round in 0..3u32 {
        let mut changes = Changes::default();
        for n in 0..700 {
            let name = format!("{round}-{n}");
            changes.put(keys::key(&["x", &name]), &name).unwrap();
        }
        changes.add(keys::key(&["type", "Pod"]), 7);
        first.commit(changes).await.unwrap();
    }
    let etcd = kv::etcd_testing::store().await;
    let sealed = Store::sealed(Arc::new(etcd.clone()), key.clone());
    let second = Store::open(sealed.await.unwrap()).await.unwrap();
    let third = disk("third").await;
    for (from, to) in [(&first, &second), (&second, &third)] {
        let backup = archive::backup(from, jiff::Timestamp::now()).await.unwrap();
        let count = archive::restore(to, backup).await.unwrap();
        assert_eq!(entries(to).await, entries(from).await);
        assert_eq!(usize::try_from(count).unwrap(), entries(&first).await.len());
    }
    let again = archive::backup(&first, jiff::Timestamp::now())
        .await
        .unwrap();
    let refused = archive::restore(&second, again).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty), "{refused}");
    etcd.release().await;
}

async fn says_format(kv: &dyn Kv, format: u32) {
    let commit = Commit {
        put: vec![(keys::format(), record::write_as(format, &format).unwrap())],
        ..Commit::default()
    };
    kv.commit(commit).await.unwrap();
}

#[tokio::test]
async fn a_format_that_a_waiting_manager_does_not_read_is_not_put_in_force() {
    let address = kv::etcd_testing::place();
    let etcd = kv::etcd_testing::open(&address).await;
    says_format(&etcd, format::OLDEST).await;
    let bed = crate::testing::TestBed::on(Arc::new(etcd.clone()));
    let admin = bed.manager().await.services.admin;
    let waiting = tokio::spawn(async move {
        let older = kv::etcd_testing::candidate_reading(format::OLDEST);
        EtcdKv::open(&address, &StoreAccess::default(), None, &older).await
    });
    let formats = loop {
        let formats = admin.formats().await.unwrap();
        if formats.managers.len() == 2 {
            break formats;
        }
        tokio::task::yield_now().await;
    };
    let mut reads: Vec<_> = formats.managers.iter().map(|one| one.reads).collect();
    reads.sort_unstable();
    assert_eq!(reads, [format::OLDEST, u32::MAX]);
    let refused = admin.upgrade().await.unwrap_err();
    let refused = common::server::ApiError::from(refused).0;
    assert_eq!(refused.code, common::api::error::ErrorCode::ManagersBehind);
    assert!(
        refused.message.contains("up to format 2"),
        "{}",
        refused.message
    );
    assert_eq!(admin.formats().await.unwrap().in_force, format::OLDEST);

    etcd.release().await;
    let second = waiting.await.unwrap().unwrap();
    let left = second.managers().await.unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    second.release().await;
}

async fn with_keys(
    address: &kv::EtcdAddress,
    file: &std::path::Path,
) -> (EtcdKv, Arc<Ring>, Arc<dyn Kv>) {
    let (access, place) = (StoreAccess::default(), KeyPlace::File(file.to_owned()));
    let ring = Arc::new(Ring::open(place.clone(), false).unwrap());
    let candidate = Store::candidate(kv::Owner::this(None, None), &ring);
    let etcd = EtcdKv::open(address, &access, None, &candidate)
        .await
        .unwrap();
    let sealed = Store::sealed(Arc::new(etcd.clone()), place).await.unwrap();
    let ring = sealed.sealing().unwrap().ring();
    (etcd, ring, sealed)
}

#[tokio::test]
async fn a_key_that_a_waiting_manager_does_not_have_does_not_seal_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (folder.path().join("own"), folder.path().join("other"));
    let address = kv::etcd_testing::place();
    let (etcd, ring, sealed) = with_keys(&address, &own).await;
    let old = ring.newest().unwrap().id.to_string();
    std::fs::copy(&own, &other).unwrap();
    let bed = crate::testing::TestBed::on(sealed);
    let admin = bed.manager().await.services.admin;
    let waiting = tokio::spawn({
        let (address, other) = (address.clone(), other.clone());
        async move { with_keys(&address, &other).await }
    });
    while admin.formats().await.unwrap().managers.len() < 2 {
        tokio::task::yield_now().await;
    }
    let in_use = async || -> Vec<String> {
        let verified = admin.verify().await.unwrap();
        assert!(verified.ok, "{verified:?}");
        verified.keys.into_keys().collect()
    };
    for _ in 0..2 {
        let refused = admin.rotate().await.unwrap_err();
        let refused = common::server::ApiError::from(refused).0;
        assert_eq!(refused.code, common::api::error::ErrorCode::ManagersBehind);
        let file = own.display().to_string();
        assert!(refused.message.contains(&file), "{}", refused.message);
        assert_eq!(in_use().await, std::slice::from_ref(&old));
    }
    let lines = std::fs::read_to_string(&own).unwrap().lines().count();
    assert_eq!(lines, 2, "the key that waits is used again");

    std::fs::copy(&own, &other).unwrap();
    let rotated = admin.rotate().await.unwrap();
    assert_ne!(rotated.key, old);
    assert_eq!(in_use().await, std::slice::from_ref(&rotated.key));
    etcd.release().await;
    let (second, ring, sealed) = waiting.await.unwrap();
    assert_eq!(ring.newest().unwrap().id.to_string(), rotated.key);
    Store::open(sealed).await.unwrap();
    second.release().await;
}

#[tokio::test]
async fn a_manager_that_takes_over_during_a_rotation_seals_with_the_key_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let address = kv::etcd_testing::place();
    let (etcd, ring, sealed) = with_keys(&address, &file).await;
    Store::open(sealed).await.unwrap();
    let old = ring.newest().unwrap().id;
    let new = ring.prepare().unwrap().id;
    etcd.release().await;
    for (enforced, key) in [(false, old), (true, new)] {
        let (etcd, ring, sealed) = with_keys(&address, &file).await;
        if enforced {
            ring.prefer(new);
            let store = Store::open(sealed).await.unwrap();
            store.enforce_key().await.unwrap();
        }
        etcd.release().await;
        let (etcd, ring, sealed) = with_keys(&address, &file).await;
        assert_eq!(ring.newest().unwrap().id, key);
        Store::open(sealed).await.unwrap();
        etcd.release().await;
    }
}

#[tokio::test]
async fn a_store_on_etcd_of_a_format_that_a_manager_does_not_read_is_not_waited_for() {
    let address = kv::etcd_testing::place();
    let etcd = kv::etcd_testing::open(&address).await;
    let ring = Ring::open(KeyPlace::Memory, false).unwrap();
    let access = StoreAccess::default();
    let looked = async || Store::recognise(&address, &access, &ring).await;
    looked().await.unwrap();
    for format in format::FIRST..=format::NEWEST {
        says_format(&etcd, format).await;
        looked().await.unwrap();
    }
    says_format(&etcd, format::NEWEST + 1).await;
    let newer = looked().await.unwrap_err().to_string();
    assert!(newer.contains("run the newer manager"), "{newer}");
    says_format(&etcd, format::FIRST - 1).await;
    let older = looked().await.unwrap_err().to_string();
    assert!(older.contains("a release in between"), "{older}");
    etcd.release().await;
}
