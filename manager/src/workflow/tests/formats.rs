//! What each format writes: what an older manager reads, and what an update has to write.

use std::sync::Mutex;

use async_trait::async_trait;
use common::api::manager::TypeInstance;
use common::api::page::PageQuery;
use common::model::AppliedObject;
use uuid::Uuid;

use super::*;
use crate::auth::Caller;
use crate::store::deployments::Objects;
use crate::store::format::{NEWEST, OLDEST};
use crate::store::kv::{Commit, Kv, KvError, MemoryKv, Scan};
use crate::store::maintenance::{upgrade, verify::verify};
use crate::store::{Changes, Store, deployments, record};
use crate::testing::{WrappedKv, items};

/// The largest entry of a store on etcd, with room for a seal.
const ENTRY_BYTES: usize = 1024 * 1024 - 64;

/// A store that remembers its commits, and takes no entry that a store on etcd would not take.
#[derive(Debug, Default)]
struct Watched {
    inner: MemoryKv,
    commits: Mutex<Vec<Commit>>,
}

impl Watched {
    fn puts(&self) -> usize {
        let commits = self.commits.lock().unwrap();
        commits.iter().map(|commit| commit.put.len()).sum()
    }

    fn bytes(&self) -> usize {
        let commits = self.commits.lock().unwrap();
        let put = commits.iter().flat_map(|commit| &commit.put);
        put.map(|(key, value)| key.len() + value.len()).sum()
    }
}

#[async_trait]
impl WrappedKv for Watched {
    fn inner(&self) -> &dyn Kv {
        &self.inner
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        if let Some((key, value)) = commit.put.iter().find(|(_, v)| v.len() > ENTRY_BYTES) {
            return Err(KvError::Failed {
                action: "written",
                reason: format!("{} has {} bytes", String::from_utf8_lossy(key), value.len()),
            });
        }
        self.commits.lock().unwrap().push(commit.clone());
        self.inner.commit(commit).await
    }
}

/// A new store, in a format.
async fn in_format(format: u32, kv: &dyn Kv) {
    let said = record::write_as(format, &format).unwrap();
    let commit = Commit {
        put: vec![(b"format".to_vec(), said)],
        ..Commit::default()
    };
    kv.commit(commit).await.unwrap();
}

/// So many objects of some hundred bytes, the first of which has this value.
fn many(count: usize, first: &str) -> String {
    let object = |n: usize| {
        let value = if n == 0 { first } else { "the same" };
        let data = json!({"value": value, "text": "x".repeat(200), "number": n});
        json!({"name": format!("object-{n:05}"), "type": "Service", "properties": {"data": data}})
    };
    json!({"resources": (0..count).map(object).collect::<Vec<_>>()}).to_string()
}

/// Entries and bytes of an update of one of 1,000 objects.
async fn update_of_one(format: u32) -> (usize, usize) {
    let kv = Arc::new(Watched::default());
    in_format(format, &*kv).await;
    let bed = TestBed::on(kv.clone());
    let app = bed.manager().await;
    let (writes, plain) = (&app.services.writes, WriteQuery::default());
    let created = writes.create(create(many(1000, "first")), &plain);
    let created = created.await.unwrap().outcome().await.unwrap();
    assert_eq!(created.operation.error, None);
    kv.commits.lock().unwrap().clear();
    let update: UpdateDeployment =
        serde_json::from_value(json!({"content": many(1000, "second")})).unwrap();
    let updated = writes.update(web(), update, &plain);
    let updated = updated.await.unwrap().outcome().await.unwrap();
    assert_eq!(updated.operation.error, None);
    let store = Store::open(bed.kv.clone()).await.unwrap();
    assert_eq!(store.format().number(), format);
    let found = verify(&store).await.unwrap();
    assert!(found.ok, "{:?}", found.problems);
    (kv.puts(), kv.bytes())
}

#[tokio::test]
async fn an_update_of_one_of_many_objects_writes_what_changed() {
    let (before, after) = (update_of_one(2).await, update_of_one(NEWEST).await);
    println!("puts and bytes of an update of one of 1,000 objects: {before:?}, now {after:?}");
    assert!(before.0 > 1000, "{before:?}");
    assert!(after.0 < 120, "{after:?}");
    assert!(after.1 < before.1, "{after:?} beside {before:?}");
}

#[tokio::test]
async fn a_deployment_of_more_objects_than_one_entry_has_room_for_is_applied_and_deleted() {
    let kv = Arc::new(Watched::default());
    let bed = TestBed::on(kv.clone());
    let app = bed.manager().await;
    let (writes, plain) = (&app.services.writes, WriteQuery::default());
    let created = writes.create(create(many(10_000, "first")), &plain);
    let created = created.await.unwrap().outcome().await.unwrap();
    assert_eq!(created.operation.error, None);
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let known = deployments::objects(&store, &web()).await.unwrap();
    assert_eq!(known.recorded.len(), 10_000);
    assert!(verify(&store).await.unwrap().ok);
    let deleted = Write::Delete.finish(&app).await;
    assert_eq!(deleted.operation.error, None);
    let left = bed.keys().await.into_iter();
    let left: Vec<_> = left.filter(|key| key.starts_with("recorded")).collect();
    assert_eq!(left, Vec::<String>::new());
}

/// Nothing that the manager before this one would not read.
async fn is_of_format_2(kv: &dyn Kv) {
    let everything = Scan {
        limit: usize::MAX,
        ..Scan::default()
    };
    for (key, value) in kv.scan(everything).await.unwrap() {
        let name = String::from_utf8_lossy(&key).replace('\0', "·");
        assert!(!name.starts_with("recorded·"), "{name}");
        assert!(!value.starts_with(br#"{"version":3"#), "{name}");
        if name.starts_with("instance·") {
            let _: TypeInstance = record::read(&value).unwrap();
        }
    }
}

#[tokio::test]
async fn whatever_is_written_while_an_older_format_is_in_force_is_of_that_format() {
    for write in WRITES {
        let kv: Arc<dyn Kv> = Arc::new(MemoryKv::default());
        in_format(OLDEST, &*kv).await;
        let bed = prepared(TestBed::on(kv.clone()), write).await;
        let app = bed.manager().await;
        write.finish(&app).await;
        is_of_format_2(&*kv).await;
        let store = Store::open(kv).await.unwrap();
        let found = verify(&store).await.unwrap();
        assert!(found.ok, "{write:?}: {:?}", found.problems);
    }
}

#[tokio::test]
async fn what_was_written_in_an_older_format_is_read_and_changed_after_the_upgrade() {
    for write in WRITES {
        let kv: Arc<dyn Kv> = Arc::new(MemoryKv::default());
        in_format(OLDEST, &*kv).await;
        let bed = prepared(TestBed::on(kv.clone()), write).await;
        let app = bed.manager().await;
        let formats = app.services.admin.formats().await.unwrap();
        assert_eq!((formats.in_force, formats.newest), (OLDEST, NEWEST));
        let formats = app.services.admin.upgrade().await.unwrap();
        assert_eq!(formats.in_force, NEWEST);
        let ended = write.finish(&app).await;
        let name = app.services.deployments.get(&web()).await.ok();
        let latest = name.and_then(|found| found.latest_manifest);
        let all = serde_json::from_value(json!("all")).unwrap();
        let page = PageQuery::default();
        let types = &app.services.types;
        let listed = types.instances(&all, &page, &Caller::default()).await;
        for instance in items::<TypeInstance>(&listed.unwrap()) {
            assert_eq!(Some(instance.manifest), latest, "{write:?}");
        }
        let store = Store::open(kv).await.unwrap();
        assert_eq!(store.format().number(), NEWEST);
        let found = verify(&store).await.unwrap();
        assert!(found.ok, "{write:?}, {ended:?}: {:?}", found.problems);
    }
}

/// Objects with uids as the API server gives them.
fn objects(rng: &mut fastrand::Rng, count: usize) -> Objects {
    let object = |n: usize| -> AppliedObject {
        let uid = Uuid::from_u128(rng.u128(..)).to_string();
        serde_json::from_value(json!({
            "resource": format!("object-{n}"), "uid": uid,
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": format!("object-{n}"),
        }))
        .unwrap()
    };
    Objects {
        recorded: (0..count).map(object).collect(),
        ..Objects::default()
    }
}

#[tokio::test]
async fn recorded_objects_are_read_as_they_were_written_in_any_order_of_sizes_and_formats() {
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let kv: Arc<dyn Kv> = Arc::new(MemoryKv::default());
        in_format(OLDEST, &*kv).await;
        let store = Store::open(kv.clone()).await.unwrap();
        let upgraded = rng.usize(0..8);
        let mut now = Objects::default();
        for step in 0..8 {
            if step == upgraded {
                upgrade::raise(&store).await.unwrap();
            }
            now = match rng.usize(0..4) {
                0 => Objects::default(),
                1 => {
                    let count = now.recorded.len();
                    let all = now.recorded.split_off(rng.usize(0..=count));
                    now.recorded.extend(all.into_iter().skip(1));
                    now
                }
                _ => {
                    let count = rng.usize(0..1500);
                    objects(&mut rng, count)
                }
            };
            let mut changes = Changes::default();
            deployments::put_objects(&store, &mut changes, &web(), &now)
                .await
                .unwrap();
            store.commit(changes).await.unwrap();
            let found = deployments::objects(&store, &web()).await.unwrap();
            assert_eq!(found, now, "seed {seed}, step {step}");
            let problems = verify(&store).await.unwrap().problems;
            // There is no deployment: nothing else may be wrong.
            assert!(
                problems.len() <= 1,
                "seed {seed}, step {step}: {problems:?}"
            );
        }
    }
}
