//! The jobs of this process. At most one job per deployment writes, and never an older one after a newer one. A request
//! to stop jobs is answered when they have ended.
//!
//! The highest fence of each deployment is remembered, so that a late request starts nothing. Jobs of other processes
//! are not known here: they end with their leases.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::api::deployer::Event;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::job::{EndedTake, Fence, JobsStopped, Renewal, StopJobs};
use common::model::DeploymentName;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::apply::Events;
use crate::kubectl::{Gate, Halt};

/// Beats per lease. Some may be late, and the job still continues.
const BEATS: u32 = 8;
/// The maximum lease of a request.
const LEASE: Duration = Duration::from_secs(120);
/// Remembered takes of one deployment. A manager that is killed repeatedly needs a few.
const TAKES: usize = 16;
/// Remembered deployments. Beyond that, those with the oldest writes are forgotten.
const REMEMBERED: usize = 100_000;

/// A take and its attempt.
type Order = (u64, u32);
/// By the store of the fences.
type Key = (String, DeploymentName);

#[derive(Debug, Default)]
pub struct Jobs {
    known: Mutex<HashMap<Key, Entry>>,
}

/// What is known about one deployment.
#[derive(Debug)]
struct Entry {
    /// The lowest take that may start.
    least: Order,
    running: Vec<Arc<Running>>,
    /// The last takes that ran here, and their ended attempts.
    ended: BTreeMap<u64, Vec<u32>>,
    at: Instant,
}

/// A job that has not ended.
#[derive(Debug)]
struct Running {
    fence: Fence,
    gate: Arc<Gate>,
    beats: Mutex<Beats>,
    ended: watch::Sender<bool>,
}

/// The last beats, with the times at which they were sent.
#[derive(Debug, Default)]
struct Beats {
    next: u64,
    sent: VecDeque<(u64, Instant)>,
}

/// A job of this process. Dropping it ends the job.
#[derive(Debug)]
pub struct Job {
    /// Absent if the request has no fence.
    registered: Option<Registered>,
    gate: Arc<Gate>,
}

#[derive(Debug)]
struct Registered {
    jobs: Arc<Jobs>,
    key: Key,
    running: Arc<Running>,
    /// The jobs that must end first.
    earlier: Vec<Arc<Running>>,
}

/// The gate for the calls of a request.
pub fn gate(fence: Option<&Fence>) -> Arc<Gate> {
    Arc::new(match fence {
        Some(fence) => Gate::leased(lease(fence)),
        None => Gate::open(),
    })
}

/// A little less than the granted lease: the API server counts the time of a write from its arrival.
fn lease(fence: &Fence) -> Duration {
    let granted = Duration::from_millis(fence.lease_ms).min(LEASE);
    granted - granted / 30
}

impl Jobs {
    /// Replaces earlier jobs of the deployment, which end.
    ///
    /// # Errors
    /// A job with a higher number was here, or this one was stopped before it came.
    pub fn begin(
        self: &Arc<Self>,
        deployment: &DeploymentName,
        fence: Option<&Fence>,
        gate: Arc<Gate>,
    ) -> Result<Job, ErrorBody> {
        let Some(fence) = fence else {
            return Ok(Job {
                registered: None,
                gate,
            });
        };
        let key = (fence.store.clone(), deployment.clone());
        let running = Arc::new(Running {
            fence: fence.clone(),
            gate: gate.clone(),
            beats: Mutex::default(),
            ended: watch::Sender::new(false),
        });
        let mut known = self.known();
        forget_old(&mut known);
        let entry = known.entry(key.clone()).or_insert_with(Entry::new);
        if order(fence) < entry.least {
            return Err(superseded(deployment));
        }
        (entry.least, entry.at) = (after(fence), Instant::now());
        let earlier = entry.running.clone();
        for job in &earlier {
            job.gate.halt(Halt::Superseded);
        }
        entry.running.push(running.clone());
        drop(known);
        Ok(Job {
            registered: Some(Registered {
                jobs: self.clone(),
                key,
                running,
                earlier,
            }),
            gate,
        })
    }

    /// The manager is alive. Returns whether the job runs here.
    pub fn renew(&self, renewal: &Renewal) -> bool {
        let fence = &renewal.fence;
        let key = (fence.store.clone(), renewal.deployment.clone());
        let job = self.known().get(&key).and_then(|entry| {
            let mut running = entry.running.iter();
            running.find(|job| job.fence == *fence).cloned()
        });
        let Some(job) = job else {
            return false;
        };
        let beats = lock(&job.beats);
        let sent = beats.sent.iter().find(|(beat, _)| *beat == renewal.beat);
        if let Some((_, at)) = sent {
            job.gate.renew(*at + lease(fence));
        }
        true
    }

    /// Ends the jobs up to a fence. Returns when they write nothing to the cluster any more.
    pub async fn stop(&self, stop: &StopJobs) -> JobsStopped {
        let number = stop.fence.number;
        let key = (stop.fence.store.clone(), stop.deployment.clone());
        let halted = {
            let mut known = self.known();
            let entry = known.entry(key.clone()).or_insert_with(Entry::new);
            entry.least = entry.least.max(after(&stop.fence));
            let running = entry.running.iter();
            let halted = running.filter(|job| order(&job.fence) <= order(&stop.fence));
            halted.cloned().collect::<Vec<_>>()
        };
        halted.iter().for_each(|job| job.gate.halt(Halt::Stopped));
        for job in &halted {
            job.has_ended().await;
        }
        let known = self.known();
        let ended = known.get(&key).map(|entry| entry.ended.clone());
        let mut ended = ended.unwrap_or_default();
        let earlier = ended.clone().into_iter();
        let earlier = earlier.filter(|(earlier, _)| *earlier < number);
        JobsStopped {
            ended: ended.remove(&number).unwrap_or_default(),
            earlier: earlier
                .map(|(number, attempts)| EndedTake { number, attempts })
                .collect(),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        lock(&self.known)
    }
}

impl Entry {
    fn new() -> Self {
        Self {
            least: (0, 0),
            running: Vec::new(),
            ended: BTreeMap::new(),
            at: Instant::now(),
        }
    }
}

/// Forgets a quarter of the deployments at once, so that it happens rarely.
fn forget_old(known: &mut HashMap<Key, Entry>) {
    if known.len() < REMEMBERED {
        return;
    }
    let mut times: Vec<Instant> = known.values().map(|entry| entry.at).collect();
    let (_, quarter, _) = times.select_nth_unstable(REMEMBERED / 4);
    let quarter = *quarter;
    known.retain(|_, entry| entry.at > quarter || !entry.running.is_empty());
}

impl Running {
    async fn has_ended(&self) {
        let mut ended = self.ended.subscribe();
        // `self` holds the sender.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// A new beat. It counts from now, a little before it is sent.
    fn beat(&self) -> u64 {
        let mut beats = lock(&self.beats);
        let beat = beats.next;
        beats.next += 1;
        beats.sent.push_back((beat, Instant::now()));
        if beats.sent.len() > 2 * BEATS as usize {
            beats.sent.pop_front();
        }
        beat
    }
}

impl Job {
    /// Does the work after earlier jobs of the deployment have ended. Asks the caller for signs of life meanwhile, and
    /// returns when the API server has finished all requests of the work.
    pub async fn run<T>(self, events: &Events, work: impl Future<Output = T>) -> T {
        let work = async {
            for earlier in self.registered.iter().flat_map(|job| &job.earlier) {
                earlier.has_ended().await;
            }
            let done = work.await;
            self.gate.settled().await;
            done
        };
        tokio::select! {
            // A missing caller is noticed before the next step of the work.
            biased;
            never = self.caller(events) => match never {},
            never = self.beats(events) => match never {},
            done = work => done,
        }
    }

    async fn beats(&self, events: &Events) -> Infallible {
        if let Some(Registered { running, .. }) = &self.registered {
            let pause = lease(&running.fence) / BEATS;
            loop {
                let beat = running.beat();
                if events.send(Event::Beat { beat }).await.is_err() {
                    break;
                }
                tokio::time::sleep(pause).await;
            }
        }
        std::future::pending().await
    }

    /// A caller that does not read has gone away.
    async fn caller(&self, events: &Events) -> Infallible {
        events.gone().await;
        self.gate.halt(Halt::CallerGone);
        std::future::pending().await
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let Fence {
            number, attempt, ..
        } = self.running.fence;
        let mut known = self.jobs.known();
        if let Some(entry) = known.get_mut(&self.key) {
            entry.running.retain(|job| !Arc::ptr_eq(job, &self.running));
            entry.ended.entry(number).or_default().push(attempt);
            if entry.ended.len() > TAKES {
                entry.ended.pop_first();
            }
        }
        drop(known);
        self.running.gate.halt(Halt::CallerGone);
        self.running.ended.send_replace(true);
    }
}

fn order(fence: &Fence) -> Order {
    (fence.number, fence.attempt)
}

/// The lowest fence that may follow.
fn after(fence: &Fence) -> Order {
    (fence.number, fence.attempt.saturating_add(1))
}

fn superseded(deployment: &DeploymentName) -> ErrorBody {
    let message = format!(
        "a later operation has taken over deployment '{deployment}', so this one makes no more changes; look at the deployment, and repeat the request if it is still needed"
    );
    ErrorBody::new(ErrorCode::Superseded, message)
}

/// No holder of the lock panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn web() -> DeploymentName {
        DeploymentName::parse("web").unwrap()
    }

    fn fence(number: u64, attempt: u32) -> Fence {
        Fence {
            store: "s".to_owned(),
            number,
            attempt,
            lease_ms: 60_000,
            operation: None,
        }
    }

    fn begin(jobs: &Arc<Jobs>, fence: &Fence) -> Result<(Job, Arc<Gate>), ErrorBody> {
        let gate = gate(Some(fence));
        let job = jobs.begin(&web(), Some(fence), gate.clone())?;
        Ok((job, gate))
    }

    fn stop(number: u64, attempt: u32) -> StopJobs {
        StopJobs {
            deployment: web(),
            fence: fence(number, attempt),
        }
    }

    #[tokio::test]
    async fn a_job_that_arrives_after_a_later_one_or_after_its_own_stop_begins_nothing() {
        let jobs = Arc::new(Jobs::default());
        drop(begin(&jobs, &fence(5, 0)).unwrap());
        let refused = begin(&jobs, &fence(4, 0)).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Superseded);
        drop(begin(&jobs, &fence(5, 1)).unwrap());
        assert_eq!(jobs.stop(&stop(5, 2)).await.ended, [0, 1]);
        assert!(begin(&jobs, &fence(5, 2)).is_err());
        assert!(begin(&jobs, &fence(5, 3)).is_ok());
        assert!(begin(&jobs, &fence(6, 0)).is_ok());
        let stopped = jobs.stop(&stop(7, 0)).await;
        assert_eq!(stopped.ended, [0_u32; 0]);
        let earlier = stopped.earlier.into_iter();
        let earlier = earlier.map(|take| (take.number, take.attempts));
        assert_eq!(
            earlier.collect::<Vec<_>>(),
            [(5, vec![0, 1, 3]), (6, vec![0])]
        );
        // Numbers of another store cannot be compared.
        let other = Fence {
            store: "other".to_owned(),
            ..fence(1, 0)
        };
        assert!(begin(&jobs, &other).is_ok());
    }

    #[tokio::test]
    async fn a_stop_is_answered_when_the_job_has_ended_and_names_what_ran_here() {
        let jobs = Arc::new(Jobs::default());
        assert_eq!(jobs.stop(&stop(1, 0)).await.ended, [0_u32; 0]);
        let (job, gate) = begin(&jobs, &fence(2, 3)).unwrap();
        let stop = stop(2, 3);
        let mut stopping = std::pin::pin!(jobs.stop(&stop));
        assert!(futures::poll!(stopping.as_mut()).is_pending());
        assert_eq!(gate.halted(), Some(Halt::Stopped));
        drop(job);
        assert_eq!(stopping.await.ended, [3]);
    }

    #[tokio::test]
    async fn a_stop_by_a_later_take_waits_for_every_attempt_of_the_earlier_one() {
        let jobs = Arc::new(Jobs::default());
        let (first, first_gate) = begin(&jobs, &fence(5, 0)).unwrap();
        let (second, second_gate) = begin(&jobs, &fence(5, 1)).unwrap();
        let stop = stop(6, 0);
        let mut stopping = std::pin::pin!(jobs.stop(&stop));
        assert!(futures::poll!(stopping.as_mut()).is_pending());
        assert!(first_gate.halted().is_some() && second_gate.halted().is_some());
        drop(second);
        assert!(futures::poll!(stopping.as_mut()).is_pending());
        drop(first);
        let earlier = stopping.await.earlier.into_iter();
        let earlier = earlier.map(|take| (take.number, take.attempts));
        // In the order of their ends.
        assert_eq!(earlier.collect::<Vec<_>>(), [(5, vec![1, 0])]);
    }

    #[tokio::test]
    async fn a_later_job_waits_until_the_earlier_one_has_ended() {
        let jobs = Arc::new(Jobs::default());
        let (sender, _receiver) = mpsc::channel(16);
        let events = Events::new(sender);
        let (first, gate) = begin(&jobs, &fence(1, 0)).unwrap();
        let (second, _) = begin(&jobs, &fence(2, 0)).unwrap();
        assert_eq!(gate.halted(), Some(Halt::Superseded));
        let mut work = std::pin::pin!(second.run(&events, async { "done" }));
        assert!(futures::poll!(work.as_mut()).is_pending());
        drop(first);
        assert_eq!(work.await, "done");
    }

    #[tokio::test]
    async fn a_beat_that_is_read_renews_the_job_and_an_invented_one_does_not() {
        let jobs = Arc::new(Jobs::default());
        let (job, gate) = begin(&jobs, &fence(1, 0)).unwrap();
        let beat = job.registered.as_ref().unwrap().running.beat();
        let renewal = |beat, attempt| Renewal {
            deployment: web(),
            fence: fence(1, attempt),
            beat,
        };
        let enters = || {
            let enter = std::pin::pin!(gate.enter(String::new()));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let polled = std::future::Future::poll(enter, &mut context);
            polled.is_ready()
        };
        assert!(!jobs.renew(&renewal(beat, 1)));
        assert!(jobs.renew(&renewal(beat + 7, 0)));
        assert!(!enters());
        assert!(jobs.renew(&renewal(beat, 0)));
        assert!(enters());
    }

    #[tokio::test]
    async fn a_job_whose_caller_reads_no_more_is_halted() {
        let jobs = Arc::new(Jobs::default());
        let (sender, receiver) = mpsc::channel(16);
        let events = Events::new(sender);
        let (job, gate) = begin(&jobs, &fence(1, 0)).unwrap();
        drop(receiver);
        let halt = job.run(&events, async { gate.closed().await }).await;
        assert_eq!(halt, Halt::CallerGone);
    }
}
