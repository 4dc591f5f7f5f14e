//! Jobs with a fence: stopped, superseded, or without a sign of life of their caller.

use common::api::deployer::Event;
use common::api::job::{Fence, Renewal, StopJobs};
use common::model::DeploymentName;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, LocalSet};

use super::*;

type Ended = JoinHandle<Result<Report, ErrorBody>>;

fn fence(number: u64, lease_ms: u64) -> Fence {
    Fence {
        store: "s".to_owned(),
        number,
        attempt: 0,
        lease_ms,
        operation: None,
    }
}

fn stop(number: u64) -> StopJobs {
    StopJobs {
        deployment: DeploymentName::parse("web").unwrap(),
        fence: fence(number, 0),
    }
}

impl World {
    /// Answers each beat, as a manager does.
    fn alive(&self, fence: Fence) -> Events {
        let (sender, mut receiver) = mpsc::channel(16);
        let deployer = self.deployer.clone();
        tokio::spawn(async move {
            while let Some(event) = receiver.recv().await {
                if let Event::Beat { beat } = event {
                    deployer.renew(&Renewal {
                        deployment: DeploymentName::parse("web").unwrap(),
                        fence: fence.clone(),
                        beat,
                    });
                }
            }
        });
        Events::new(sender)
    }

    async fn start(&self, fence: Fence, resources: Value, events: Events) -> Ended {
        let request = json!({
            "deployment": "web", "namespace": "home", "resources": resources, "timeoutMs": 60_000, "fence": fence,
        });
        let request: ApplyRequest = serde_json::from_value(request).unwrap();
        let prepared = self.deployer.prepare_apply(request).await.unwrap();
        tokio::task::spawn_local(async move { ended(prepared.apply(&events).await) })
    }

    async fn start_alive(&self, number: u64, resources: Value) -> Ended {
        let fence = fence(number, 60_000);
        let events = self.alive(fence.clone());
        self.start(fence, resources, events).await
    }

    /// Writes to the object stay on their way until the semaphore has a permit.
    fn hold(&self, name: &str) -> Arc<Semaphore> {
        let hold = Arc::new(Semaphore::new(0));
        self.cluster
            .with(|state| state.holds.insert(name.to_owned(), hold.clone()));
        hold
    }

    /// Returns when a write to a held object is on its way.
    async fn sent(&self, name: &str) {
        while !self
            .cluster
            .with(|state| state.sent.contains(&name.to_owned()))
        {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_stopped_apply_ends_when_its_write_is_answered_and_reports_what_it_did() {
    let test = async {
        let world = World::new();
        let hold = world.hold("a");
        let resources = json!([map("a"), map_after("b", "a"), map("c")]);
        let job = world.start_alive(1, resources).await;
        world.sent("a").await;
        let stop = stop(1);
        let mut stopping = Box::pin(world.deployer.stop(&stop));
        for _ in 0..100 {
            assert!(futures::poll!(stopping.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
        hold.add_permits(1);
        assert_eq!(stopping.await.ended, [0]);
        let report = job.await.unwrap().unwrap();
        assert!(report.stopped);
        use ResourceState::{Ready, Skipped};
        assert_eq!(
            states(&report),
            [("a", Ready), ("b", Skipped), ("c", Ready)]
        );
        let recorded = report
            .objects
            .iter()
            .map(|object| object.object.name.as_str());
        assert_eq!(recorded.collect::<Vec<_>>().len(), 2);
        assert_eq!(world.cluster.names(), ["a", "c"]);
    };
    LocalSet::new().run_until(test).await;
}

#[tokio::test]
async fn a_stopped_deletion_says_what_is_left() {
    let test = async {
        let world = World::new();
        let before = world
            .apply(json!([map("a"), map_after("b", "a")]), &Report::default())
            .await;
        let hold = world.hold("b");
        let fence = fence(1, 60_000);
        let request = json!({
            "deployment": "web", "namespace": "home", "recorded": before.objects, "timeoutMs": 60_000, "fence": fence,
        });
        let request: DeleteRequest = serde_json::from_value(request).unwrap();
        let prepared = world.deployer.prepare_delete(request).await.unwrap();
        let events = world.alive(fence);
        let job = tokio::task::spawn_local(async move { ended(prepared.delete(&events).await) });
        world.sent("b").await;
        let stop = stop(1);
        let mut stopping = Box::pin(world.deployer.stop(&stop));
        assert!(futures::poll!(stopping.as_mut()).is_pending());
        hold.add_permits(1);
        stopping.await;
        let report = job.await.unwrap().unwrap();
        assert!(report.stopped);
        let left = report
            .objects
            .iter()
            .map(|object| object.object.name.as_str());
        assert_eq!(left.collect::<Vec<_>>(), ["a"]);
        assert_eq!(world.cluster.names(), ["a"]);
    };
    LocalSet::new().run_until(test).await;
}

#[tokio::test]
async fn without_a_sign_of_life_nothing_is_ever_written() {
    let test = async {
        let world = World::new();
        let (sender, _unread) = mpsc::channel(1_024);
        let job = world.start(fence(1, 50), json!([map("a")]), Events::new(sender));
        let error = job.await.await.unwrap().unwrap_err();
        assert_eq!(error.code, ErrorCode::DeployerUnavailable);
        assert_eq!(world.calls(), [""; 0]);
    };
    LocalSet::new().run_until(test).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_the_job_after_the_write_that_is_on_its_way() {
    let test = async {
        let world = World::new();
        let hold = world.hold("a");
        let fence = fence(1, 60_000);
        let (sender, mut receiver) = mpsc::channel(16);
        let resources = json!([map("a"), map_after("b", "a")]);
        let job = world
            .start(fence.clone(), resources, Events::new(sender))
            .await;
        let Some(Event::Beat { beat }) = receiver.recv().await else {
            panic!("no beat")
        };
        let deployment = DeploymentName::parse("web").unwrap();
        let renewal = Renewal {
            deployment,
            fence,
            beat,
        };
        assert!(world.deployer.renew(&renewal).known);
        world.sent("a").await;
        drop(receiver);
        hold.add_permits(1);
        let error = job.await.unwrap().unwrap_err();
        assert_eq!(error.code, ErrorCode::DeployerUnavailable);
        assert_eq!(world.cluster.names(), ["a"]);
    };
    LocalSet::new().run_until(test).await;
}

#[tokio::test]
async fn a_later_job_begins_when_the_earlier_one_has_ended_and_an_older_one_never() {
    let test = async {
        let world = World::new();
        let hold = world.hold("a");
        let first = world
            .start_alive(1, json!([map("a"), map_after("b", "a")]))
            .await;
        world.sent("a").await;
        let second = world.start_alive(2, json!([map("c")])).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.cluster.names(), [""; 0]);
        hold.add_permits(1);
        let superseded = first.await.unwrap().unwrap_err();
        assert_eq!(superseded.code, ErrorCode::Superseded);
        assert!(!second.await.unwrap().unwrap().stopped);
        assert_eq!(world.cluster.names(), ["a", "c"]);
        let old = world.start_alive(1, json!([map("d")])).await;
        assert_eq!(old.await.unwrap().unwrap_err().code, ErrorCode::Superseded);
        assert_eq!(world.cluster.names(), ["a", "c"]);
    };
    LocalSet::new().run_until(test).await;
}
