//! The order of requests: a limited number of places, shared fairly among callers.
//!
//! Each caller has its own queue, and the queues are served in turn. One caller never holds all places: some stay free
//! for others. A full queue rejects requests immediately.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// Waiting requests of one caller: as many as a harmless client opens.
const QUEUE: usize = 256;
/// Waiting requests of all callers.
const QUEUES: usize = 4096;

/// The caller: a digest of the user's name, or nothing if the request has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Caller(String);

impl Caller {
    /// Longer names are cut, because they come from a header.
    pub fn new(name: &str) -> Self {
        const LENGTH: usize = 64;
        Self(name.chars().take(LENGTH).collect())
    }
}

/// Why a request gets no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPermit {
    /// This caller has the maximum number of waiting requests.
    QueueFull,
    /// All callers together have the maximum number.
    AllQueuesFull,
    /// The deadline passed in the queue.
    TooLate,
}

/// A number of places.
#[derive(Debug)]
pub struct Permits {
    total: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    by_caller: HashMap<Caller, Share>,
    /// The callers that wait, the next one first. Each is listed once.
    turns: VecDeque<Caller>,
    waiting: usize,
}

/// The places and waiting requests of one caller.
#[derive(Debug, Default)]
struct Share {
    held: usize,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

/// One place. Dropping it frees the place.
#[derive(Debug)]
pub struct Permit {
    /// `None` after the place was returned explicitly.
    places: Option<Arc<Permits>>,
    caller: Caller,
}

impl Permits {
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self {
            total,
            state: Mutex::default(),
        })
    }

    pub fn total(&self) -> usize {
        self.total
    }

    /// The maximum of one caller. A quarter of the places, at least one, is for the others.
    fn most_of_one(&self) -> usize {
        match self.total {
            0 | 1 => self.total,
            total => total - (total / 4).max(1),
        }
    }

    /// Waits for a place until the deadline.
    pub async fn take(
        self: &Arc<Self>,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Permit, NoPermit> {
        let turn = self.queue_up(caller)?;
        match timeout_at(deadline, turn).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(NoPermit::TooLate),
        }
    }

    fn queue_up(self: &Arc<Self>, caller: &Caller) -> Result<oneshot::Receiver<Permit>, NoPermit> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        state.forget_who_left(caller);
        if state.waiting >= QUEUES {
            return Err(NoPermit::AllQueuesFull);
        }
        let share = state.by_caller.entry(caller.clone()).or_default();
        if share.waiting.len() >= QUEUE {
            return Err(NoPermit::QueueFull);
        }
        share.waiting.push_back(sender);
        if share.waiting.len() == 1 {
            state.turns.push_back(caller.clone());
        }
        state.waiting += 1;
        self.serve(&mut state);
        Ok(receiver)
    }

    /// Gives free places to the callers whose turn it is.
    fn serve(self: &Arc<Self>, state: &mut State) {
        let most = self.most_of_one();
        let mut passed_over = 0;
        while state.taken < self.total && passed_over < state.turns.len() {
            let Some(caller) = state.turns.pop_front() else {
                return;
            };
            let Some(share) = state.by_caller.get_mut(&caller) else {
                continue;
            };
            if share.held >= most {
                state.turns.push_back(caller);
                passed_over += 1;
                continue;
            }
            if let Some(waiting) = share.waiting.pop_front() {
                state.waiting -= 1;
                let place = Permit {
                    places: Some(self.clone()),
                    caller: caller.clone(),
                };
                match waiting.send(place) {
                    Ok(()) => {
                        share.held += 1;
                        state.taken += 1;
                    }
                    // The request no longer waits. The place was never counted.
                    Err(mut place) => place.places = None,
                }
            }
            match share.waiting.is_empty() {
                true => state.forget_idle(&caller),
                false => state.turns.push_back(caller),
            }
            passed_over = 0;
        }
    }

    fn give_back(self: &Arc<Self>, caller: &Caller) {
        let mut state = self.state();
        state.taken -= 1;
        if let Some(share) = state.by_caller.get_mut(caller) {
            share.held -= 1;
        }
        state.forget_idle(caller);
        self.serve(&mut state);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Requests whose client went away do not fill the queue.
    fn forget_who_left(&mut self, caller: &Caller) {
        let Some(share) = self.by_caller.get_mut(caller) else {
            return;
        };
        if share.waiting.len() < QUEUE {
            return;
        }
        let before = share.waiting.len();
        share.waiting.retain(|waiting| !waiting.is_closed());
        self.waiting -= before - share.waiting.len();
        if share.waiting.is_empty() {
            self.turns.retain(|other| other != caller);
        }
    }

    fn forget_idle(&mut self, caller: &Caller) {
        let idle = |share: &Share| share.held == 0 && share.waiting.is_empty();
        if self.by_caller.get(caller).is_some_and(idle) {
            self.by_caller.remove(caller);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(places) = self.places.take() {
            places.give_back(&self.caller);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// The present use of a caller.
    fn granted(turn: &mut oneshot::Receiver<Permit>) -> Option<Permit> {
        turn.try_recv().ok()
    }

    #[test]
    fn one_caller_never_holds_all_places() {
        let places = Permits::new(8);
        let (a, b) = (Caller::new("a"), Caller::new("b"));
        let mut turns: Vec<_> = (0..20).map(|_| places.queue_up(&a).unwrap()).collect();
        let held: Vec<_> = turns.iter_mut().filter_map(granted).collect();
        assert_eq!(held.len(), 6);
        let mut other = places.queue_up(&b).unwrap();
        assert!(granted(&mut other).is_some());
    }

    #[test]
    fn callers_are_served_in_turn() {
        let places = Permits::new(1);
        let first = granted(&mut places.queue_up(&Caller::new("a")).unwrap());
        let mut turns: Vec<_> = ["a", "a", "a", "b", "c"]
            .iter()
            .map(|name| (*name, places.queue_up(&Caller::new(name)).unwrap()))
            .collect();
        drop(first);
        let mut order = String::new();
        while !turns.is_empty() {
            let served = turns
                .iter_mut()
                .position(|(_, turn)| granted(turn).is_some())
                .unwrap();
            order.push_str(turns.remove(served).0);
        }
        assert_eq!(order, "abcaa");
    }

    #[test]
    fn who_left_the_queue_takes_no_place() {
        let places = Permits::new(1);
        let caller = Caller::new("a");
        let first = granted(&mut places.queue_up(&caller).unwrap());
        let left = places.queue_up(&caller).unwrap();
        let mut stays = places.queue_up(&caller).unwrap();
        drop(left);
        drop(first);
        assert!(granted(&mut stays).is_some());
        let state = places.state();
        assert!(state.by_caller.is_empty());
        assert_eq!((state.taken, state.waiting), (0, 0));
    }

    #[test]
    fn a_place_that_nobody_picked_up_is_free_again() {
        let places = Permits::new(1);
        drop(places.queue_up(&Caller::new("a")).unwrap());
        assert_eq!(places.state().taken, 0);
    }

    #[test]
    fn a_full_queue_refuses_only_its_own_caller() {
        let places = Permits::new(1);
        let (a, b) = (Caller::new("a"), Caller::new("b"));
        let _held = granted(&mut places.queue_up(&b).unwrap());
        let turns: Vec<_> = (0..QUEUE).map(|_| places.queue_up(&a).unwrap()).collect();
        assert_eq!(places.queue_up(&a).unwrap_err(), NoPermit::QueueFull);
        assert!(places.queue_up(&b).is_ok());
        drop(turns);
        // Cancelled requests make room.
        assert!(places.queue_up(&a).is_ok());
    }

    #[tokio::test]
    async fn a_deadline_in_the_queue_passes() {
        let places = Permits::new(1);
        let caller = Caller::new("a");
        let _held = places.take(&caller, soon()).await.unwrap();
        let late = places.take(&caller, Instant::now()).await;
        assert_eq!(late.unwrap_err(), NoPermit::TooLate);
    }
}
