//! Wherever an operation is stopped, what is left is sound, and the next write succeeds.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use common::model::Manifest;
use tokio::sync::Semaphore;

use super::*;
use crate::store::kv::{Commit, Kv, KvError};
use crate::store::maintenance::verify::verify;
use crate::store::{Store, deployments, manifests};
use crate::testing::WrappedKv;

/// When an operation is stopped: around one of its commits.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Commits that are done before.
    commits: usize,
    /// Whether the commit is under way; else it is done, and nobody knows of it yet.
    is_under_way: bool,
    /// Whether the manager dies at the same moment, so that the next one goes on.
    dies: bool,
}

/// A store whose commit at the moment waits until the test lets it go on. Others do not wait.
#[derive(Debug)]
struct PausingKv {
    inner: Arc<dyn Kv>,
    moment: Moment,
    commits: AtomicUsize,
    reached: Semaphore,
    go: Semaphore,
}

impl PausingKv {
    fn new(inner: Arc<dyn Kv>, moment: Moment) -> Arc<Self> {
        Arc::new(Self {
            inner,
            moment,
            commits: AtomicUsize::new(0),
            reached: Semaphore::new(0),
            go: Semaphore::new(0),
        })
    }

    /// Returns when the moment has come.
    async fn reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    fn go_on(&self) {
        self.go.add_permits(1);
    }

    async fn pause(&self) {
        self.reached.add_permits(1);
        self.go.acquire().await.unwrap().forget();
    }
}

#[async_trait]
impl WrappedKv for PausingKv {
    fn inner(&self) -> &dyn Kv {
        self.inner.as_ref()
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        let is_it = self.commits.fetch_add(1, Ordering::SeqCst) == self.moment.commits;
        if is_it && self.moment.is_under_way {
            self.pause().await;
        }
        let done = self.inner.commit(commit).await;
        if is_it && !self.moment.is_under_way {
            self.pause().await;
        }
        done
    }
}

/// The operation that holds the deployment.
async fn running(bed: &TestBed) -> Option<common::model::OperationId> {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    deployments::holder(&store, &web()).await.unwrap()
}

/// Runs the write and stops its operation at the moment. Gives the operation; `None`: it had no such moment.
async fn stopped_at(bed: &TestBed, write: Write, moment: Moment) -> Option<Operation> {
    let kv = PausingKv::new(bed.kv.clone(), moment);
    let app = bed.manager_on(kv.clone()).await;
    let mut run = Box::pin(async {
        let handle = write.start(&app).await.ok()?;
        handle.outcome().await.ok()
    });
    tokio::select! {
        biased;
        _ = &mut run => return None,
        () = kv.reached() => {}
    }
    let Some(id) = running(bed).await else {
        // It is not accepted yet, or at its end: there is nothing to stop.
        kv.go_on();
        return run.await.map(|outcome| outcome.operation.clone());
    };
    // The wish is durable when this returns. An operation that nobody knows of yet finds it when it begins.
    let _ = app
        .services
        .operations
        .cancel(&id, &Default::default())
        .await;
    if !moment.dies {
        kv.go_on();
        return run.await.map(|outcome| outcome.operation.clone());
    }
    app.engine.suspend().await;
    let next = bed.manager().await;
    next.engine.recover().await.unwrap();
    let outcome = next.engine.handle(&id).unwrap().outcome().await.unwrap();
    next.engine.suspend().await;
    Some(outcome.operation.clone())
}

/// The manifests of the deployment, by name.
async fn manifests_of(bed: &TestBed) -> Vec<Manifest> {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let page = manifests::list(&store, &web(), &Default::default())
        .await
        .unwrap();
    let mut all = Vec::new();
    for one in page.items {
        all.push(
            manifests::get(&store, &web(), &one.name)
                .await
                .unwrap()
                .unwrap(),
        );
    }
    all
}

/// No record is broken, nothing is held, and each object in the cluster is known.
async fn assert_sound(bed: &TestBed, write: Write, case: &str) {
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let verified = verify(&store).await.unwrap();
    assert!(verified.ok, "{case}: {:?}", verified.problems);
    let held = ["lock·", "unfinished·", "payload·", "stop·"];
    let keys = bed.keys().await;
    let left: Vec<_> = keys
        .iter()
        .filter(|key| held.iter().any(|part| key.starts_with(part)))
        .collect();
    assert!(left.is_empty(), "{case}: {left:?}");
    let deployment = deployments::get(&store, &web()).await.unwrap();
    let known = deployments::objects(&store, &web()).await.unwrap();
    if deployment.is_none() && write != Write::DeleteAbandon {
        assert_eq!(bed.deployer.objects(), [""; 0], "{case}");
    }
    // What a manager that died had deleted may still be on record.
    if deployment.is_some() && known.unconfirmed.is_empty() {
        let objects = bed.deployer.objects();
        let is_recorded = |name: &String| {
            let mut recorded = known.recorded.iter();
            recorded.any(|object| object.object.name == *name)
        };
        assert!(objects.iter().all(is_recorded), "{case}: {objects:?}");
    }
}

/// Two further writes, to another content and to nothing, do all that they are asked for.
async fn assert_next_succeeds(bed: &TestBed, write: Write, case: &str) {
    let app = bed.manager().await;
    let exists = app.services.deployments.get(&web()).await.is_ok();
    if write == Write::DeleteAbandon && !exists {
        bed.deployer
            .objects()
            .iter()
            .for_each(|name| bed.deployer.lose(name));
    }
    let next = match exists {
        true => Write::Update,
        false => Write::Create,
    };
    assert_eq!(next.finish(&app).await.operation.error, None, "{case}");
    let expected = match next {
        Write::Update => ["b", "c"],
        _ => ["a", "b"],
    };
    assert_eq!(bed.deployer.objects(), expected, "{case}");
    assert_eq!(
        Write::Delete.finish(&app).await.operation.error,
        None,
        "{case}"
    );
    assert_eq!(bed.deployer.objects(), [""; 0], "{case}");
    app.engine.suspend().await;
}

/// Gives whether the write had the moment.
async fn holds_at(write: Write, moment: Moment) -> bool {
    let case = format!("{write:?} stopped at {moment:?}");
    let bed = bed_for(write).await;
    let before = manifests_of(&bed).await;
    let Some(operation) = stopped_at(&bed, write, moment).await else {
        return false;
    };
    assert_eq!(operation.status, OperationStatus::Done, "{case}");
    assert_sound(&bed, write, &case).await;
    let after = manifests_of(&bed).await;
    for manifest in before {
        let now = after.iter().find(|now| now.name == manifest.name);
        assert!(now.is_none_or(|now| *now == manifest), "{case}");
    }
    assert_next_succeeds(&bed, write, &case).await;
    assert_sound(&bed, write, &case).await;
    true
}

/// Around each commit the operation is stopped before it or after it, and the manager dies or lives: by chance.
#[tokio::test]
async fn wherever_a_write_is_stopped_the_store_is_sound_and_the_next_write_succeeds() {
    for write in WRITES {
        let mut commits = 0;
        loop {
            let moment = Moment {
                commits,
                is_under_way: fastrand::bool(),
                dies: fastrand::bool(),
            };
            if !holds_at(write, moment).await {
                break;
            }
            commits += 1;
        }
        assert!(commits >= 2, "{write:?} has only {commits} commits");
    }
}
