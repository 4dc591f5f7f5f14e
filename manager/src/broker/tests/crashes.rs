//! Wherever the manager dies, the next one knows every instance and every binding.

use super::*;
use crate::testing::DyingKv;

/// One life of an instance. The process may end within it.
async fn life(served: &Served) {
    let _ = served.provision("p").await;
    let _ = served.bind().await;
    let _ = served.update(3).await;
    let _ = served.unbind().await;
    let _ = served.deprovision("p").await;
}

/// Lives until the store dies. Whether the life was over before.
async fn lived(bed: &TestBed, dying: Arc<DyingKv>) -> bool {
    if bed.try_manager_on(dying.clone()).await.is_err() {
        return false;
    }
    let served = Served::new(bed, dying.clone()).await;
    tokio::select! {
        () = life(&served) => true,
        () = dying.death() => {
            served.app.engine.suspend().await;
            false
        }
    }
}

/// The last state of the instance, when nothing runs any more.
async fn settled(served: &Served) -> Result<Answer, BrokerError> {
    loop {
        let poll = served.broker.poll_instance("i", &Poll::default()).await;
        match &poll {
            Ok(answer) if answer.is_unfinished => tokio::task::yield_now().await,
            _ => return poll,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_after_any_commit_loses_nothing_and_leaves_nothing() {
    for commits in 0.. {
        let bed = bed();
        let is_over = lived(&bed, DyingKv::after(commits, bed.kv.clone())).await;
        let served = Served::recovered(&bed).await;
        let poll = settled(&served).await;
        // The instance that a platform knows is there, and so are its credentials.
        if served.broker.fetch_instance("i").await.is_ok() {
            let bound = served.bind().await;
            let bound = bound.unwrap_or_else(|error| panic!("after {commits}: {error}"));
            assert_eq!(bound.body["credentials"]["password"], "correct horse");
        }
        let deleted = served.deprovision("p").await;
        assert!(
            [200, 410].contains(&status(&deleted)),
            "after {commits}: {poll:?} {deleted:?}"
        );
        assert!(served.deployments().await.is_empty(), "after {commits}");
        assert!(bed.deployer.objects().is_empty(), "after {commits}");
        let report = verify(&served.app.services.writes.store).await.unwrap();
        assert!(report.ok, "after {commits}: {:?}", report.problems);
        if is_over {
            break;
        }
    }
}
