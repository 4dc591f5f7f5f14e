//! When which manager could not answer, because of something that was done to it, or because the machine stood still;
//! and when something was done to etcd.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::fault::MANAGERS;

/// A request that was sent before, or that is answered just after, may fail too.
const MARGIN: Duration = Duration::from_secs(2);
/// A process that the machine did not let run for so long may have lost its lease.
const STILL: Duration = Duration::from_secs(2);
/// A manager that has lost its lease ends and starts again.
const RECOVERY: Duration = Duration::from_secs(20);
/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(100);

/// Who is disturbed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    Manager(usize),
    /// A member, or a way to one.
    Etcd,
}

#[derive(Debug)]
struct Disturbance {
    part: Part,
    begun: Instant,
    ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Disturbances(Mutex<Vec<Disturbance>>);

impl Disturbances {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Disturbance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, part: Part) {
        self.all().push(Disturbance {
            part,
            begun: Instant::now(),
            ended: None,
        });
    }

    pub fn end(&self, part: Part) {
        let mut all = self.all();
        let open = all.iter_mut().rev();
        let mut open = open.filter(|one| one.part == part && one.ended.is_none());
        if let Some(last) = open.next() {
            last.ended = Some(Instant::now());
        }
    }

    /// Notes when no process could run: all managers are disturbed then.
    pub async fn watch_machine(&self) -> Infallible {
        loop {
            let begun = Instant::now();
            tokio::time::sleep(TICK).await;
            let now = Instant::now();
            if now - begun < STILL {
                continue;
            }
            let seconds = (now - begun).as_secs_f32();
            println!("chaos of a fleet: the machine stood still for {seconds:.1} s");
            for manager in 0..MANAGERS {
                self.recovers(manager, begun);
            }
        }
    }

    /// The manager lost its lease because of what happened then, and starts again now.
    pub fn recovers(&self, manager: usize, begun: Instant) {
        self.all().push(Disturbance {
            part: Part::Manager(manager),
            begun,
            ended: Some(Instant::now() + RECOVERY),
        });
    }

    /// Whether it was disturbed at any time between these.
    pub fn cover(&self, part: Part, begun: Instant, ended: Instant) -> bool {
        self.all().iter().any(|one| {
            one.part == part
                && one.begun <= ended
                && one.ended.is_none_or(|end| begun <= end + MARGIN)
        })
    }
}
