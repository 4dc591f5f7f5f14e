//! A manager that is stopped anywhere, and wakes up when another one has the store and has done more: it changes nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::*;
use crate::deployer::fake::Slow;
use crate::store::kv::{Commit, Kv, KvError};
use crate::store::{Store, deployments};
use crate::testing::WrappedKv;

/// The store as a manager sees it that is stopped at one of its commits. Once it wakes up, another one has the store. Its
/// reads were answered before it was stopped.
#[derive(Debug)]
struct StoppingKv {
    inner: Arc<dyn Kv>,
    /// Commits that are done before.
    moment: usize,
    /// Whether the commit at the moment is done, and its answer not read.
    is_done: bool,
    commits: AtomicUsize,
    reached: Semaphore,
    wake: Semaphore,
    is_late: AtomicBool,
    refused: Semaphore,
}

impl StoppingKv {
    fn new(inner: Arc<dyn Kv>, moment: usize, is_done: bool) -> Arc<Self> {
        Arc::new(Self {
            inner,
            moment,
            is_done,
            commits: AtomicUsize::new(0),
            reached: Semaphore::new(0),
            wake: Semaphore::new(0),
            is_late: AtomicBool::new(false),
            refused: Semaphore::new(0),
        })
    }

    fn wake(&self) {
        self.is_late.store(true, Ordering::SeqCst);
        self.wake.add_permits(1);
    }

    async fn stop(&self) {
        self.reached.add_permits(1);
        self.wake.acquire().await.unwrap().forget();
    }

    fn admit(&self) -> Result<(), KvError> {
        if !self.is_late.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.refused.add_permits(1);
        Err(KvError::TakenOver {
            reason: "another manager has taken it over".to_owned(),
        })
    }
}

#[async_trait]
impl WrappedKv for StoppingKv {
    fn inner(&self) -> &dyn Kv {
        self.inner.as_ref()
    }

    async fn write(&self, commit: Commit) -> Result<(), KvError> {
        let is_it = self.commits.fetch_add(1, Ordering::SeqCst) == self.moment;
        if is_it && !self.is_done {
            self.stop().await;
        }
        self.admit()?;
        let outcome = self.inner.commit(commit).await;
        if is_it && self.is_done {
            self.stop().await;
        }
        outcome
    }

    async fn is_owned(&self) -> Result<(), KvError> {
        self.admit()
    }
}

/// The next manager ends what is begun, and makes a further write. Gives the objects that are there then.
async fn goes_on(bed: &TestBed, after: Write) -> Vec<String> {
    let next = bed.manager().await;
    let store = Store::open(bed.kv.clone()).await.unwrap();
    let running = deployments::holder(&store, &web()).await.unwrap();
    next.engine.recover().await.unwrap();
    if let Some(handle) = running.and_then(|id| next.engine.handle(&id)) {
        handle.outcome().await.unwrap();
    }
    let exists = next.services.deployments.get(&web()).await.is_ok();
    if after == Write::DeleteAbandon && !exists {
        let left = bed.deployer.objects();
        left.iter().for_each(|name| bed.deployer.lose(name));
    }
    let write = match exists {
        true => Write::Update,
        false => Write::Create,
    };
    assert_eq!(write.finish(&next).await.operation.error, None);
    next.engine.suspend().await;
    bed.deployer.objects()
}

/// Gives whether the write had the moment.
async fn changes_nothing(write: Write, moment: usize, is_done: bool) -> bool {
    let case = format!("{write:?} stopped at commit {moment}, done: {is_done}");
    let bed = bed_for(write).await;
    let kv = StoppingKv::new(bed.kv.clone(), moment, is_done);
    let app = bed.manager_on(kv.clone()).await;
    let mut run = Box::pin(async {
        let handle = write.start(&app).await.ok()?;
        handle.outcome().await.ok()
    });
    tokio::select! {
        biased;
        _ = &mut run => return false,
        reached = kv.reached.acquire() => reached.unwrap().forget(),
    }
    let objects = goes_on(&bed, write).await;
    // A deployer that knows nothing of all that: another instance, or one that was started again.
    let slow = Slow::new();
    slow.answers.add_permits(10);
    bed.deployer.interrupt([Interruption::Slow(slow.clone())]);
    kv.wake();
    tokio::select! {
        _ = run => {}
        refused = kv.refused.acquire() => refused.unwrap().forget(),
    }
    app.engine.suspend().await;
    assert_eq!(slow.until(), None, "{case}");
    assert_eq!(slow.written(), [""; 0], "{case}");
    assert_eq!(bed.deployer.objects(), objects, "{case}");
    true
}

/// Each commit is done already or not: by chance.
#[tokio::test]
async fn a_manager_that_wakes_up_after_another_took_over_changes_nothing_wherever_it_was_stopped() {
    for write in WRITES {
        let mut moment = 0;
        while changes_nothing(write, moment, fastrand::bool()).await {
            moment += 1;
        }
        assert!(moment >= 2, "{write:?} has only {moment} commits");
    }
}
