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
