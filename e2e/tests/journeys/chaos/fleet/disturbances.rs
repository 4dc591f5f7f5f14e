//! When which manager could not answer, because of something that was done to it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A request that was sent before, or that is answered just after, may fail too.
const MARGIN: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Disturbance {
    manager: usize,
    begun: Instant,
    ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Disturbances(Mutex<Vec<Disturbance>>);

impl Disturbances {
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Disturbance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, manager: usize) {
        self.all().push(Disturbance {
            manager,
            begun: Instant::now(),
            ended: None,
        });
    }

    pub fn end(&self, manager: usize) {
        let mut all = self.all();
        let open = all.iter_mut().rev();
        let mut open = open.filter(|one| one.manager == manager && one.ended.is_none());
        if let Some(last) = open.next() {
            last.ended = Some(Instant::now());
        }
    }

    /// Whether the manager was disturbed at any time between these.
    pub fn cover(&self, manager: usize, begun: Instant, ended: Instant) -> bool {
        self.all().iter().any(|one| {
            one.manager == manager
                && one.begun <= ended
                && one.ended.is_none_or(|end| begun <= end + MARGIN)
        })
    }
}
