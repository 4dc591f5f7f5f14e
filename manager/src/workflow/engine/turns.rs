//! Whose turn it is: acceptances go before the operations that have not begun.
//!
//! A caller waits for an acceptance, and nobody for the begin of an operation that waits anyway. Both need the same processors and
//! the same store. So while acceptances are under way, an operation begins only if few others run. Those that run go on.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Callers that send one write after another leave gaps of a few milliseconds. The others begin in a longer one.
const QUIET: Duration = Duration::from_millis(20);
/// However busy the manager is, operations begin so often.
const LONGEST: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Turns {
    /// Operations that run however many acceptances are under way, so that the work goes on.
    always: NonZeroUsize,
    /// An operation does not wait longer for its turn than this after the one before it.
    longest: Duration,
    state: Mutex<State>,
    changed: Notify,
    /// The operations begin in the order of their acceptance: only the first one waits for its turn.
    line: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    acceptances: usize,
    running: usize,
    /// When the last acceptance ended.
    last: Option<Instant>,
}

impl State {
    /// When an operation may begin, as far as that is known.
    fn begins(&self, always: NonZeroUsize) -> Option<Instant> {
        let now = Instant::now();
        match self.last {
            _ if self.running < always.get() => Some(now),
            _ if self.acceptances > 0 => None,
            last => Some(last.map_or(now, |last| last + QUIET)),
        }
    }
}

/// An acceptance under way.
#[derive(Debug)]
pub struct Acceptance<'a>(&'a Turns);

/// An operation that runs.
#[derive(Debug)]
pub struct Turn<'a>(&'a Turns);

impl Turns {
    pub fn new(always: NonZeroUsize, longest: Duration) -> Self {
        Self {
            always,
            longest,
            state: Mutex::default(),
            changed: Notify::new(),
            line: tokio::sync::Mutex::default(),
        }
    }

    /// Operations always have half of the processors.
    pub fn of_this_machine() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let half = NonZeroUsize::new(processors / 2).unwrap_or(NonZeroUsize::MIN);
        Self::new(half, LONGEST)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn accept(&self) -> Acceptance<'_> {
        self.state().acceptances += 1;
        Acceptance(self)
    }

    /// Waits until an operation may begin.
    pub async fn begin(&self) -> Turn<'_> {
        let _first = self.line.lock().await;
        let latest = Instant::now() + self.longest;
        loop {
            let changed = self.changed.notified();
            let begins = self.state().begins(self.always);
            let begins = begins.unwrap_or(latest).min(latest);
            if begins <= Instant::now() {
                self.state().running += 1;
                return Turn(self);
            }
            // Whatever ended the wait is looked at next.
            let _ = timeout_at(begins, changed).await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        if state.begins(self.always).is_some() {
            self.changed.notify_waiters();
        }
    }
}

impl Drop for Acceptance<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.acceptances -= 1;
            state.last = Some(Instant::now());
        });
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.running -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::poll;

    use super::*;

    const ALWAYS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    #[tokio::test]
    async fn operations_begin_in_order_in_a_gap_between_acceptances_or_if_few_run() {
        // Longer than any pause of the machine.
        let turns = Turns::new(ALWAYS, Duration::from_secs(3600));
        let mut running = Vec::new();
        for _ in 0..ALWAYS.get() + 2 {
            running.push(turns.begin().await);
        }
        let accepted = [turns.accept(), turns.accept()];
        let (mut first, mut second) = (pin!(turns.begin()), pin!(turns.begin()));
        for _ in 0..3 {
            assert!(poll!(first.as_mut()).is_pending());
            assert!(poll!(second.as_mut()).is_pending());
            running.pop();
        }
        // One less than always may run.
        let turn = first.await;
        assert!(poll!(second.as_mut()).is_pending());
        let [one, other] = accepted;
        drop(one);
        assert!(poll!(second.as_mut()).is_pending());
        assert_eq!(turns.state().begins(ALWAYS), None);
        drop(other);
        // A caller that sends one write after another.
        drop(turns.accept());
        let (last, begins) = {
            let state = turns.state();
            (state.last.unwrap(), state.begins(ALWAYS))
        };
        assert_eq!(begins, Some(last + QUIET));
        second.await;
        drop(turn);
    }

    #[tokio::test]
    async fn an_operation_begins_at_last_though_acceptances_do_not_end() {
        let turns = Turns::new(ALWAYS, LONGEST);
        let mut running = Vec::new();
        for _ in 0..ALWAYS.get() {
            running.push(turns.begin().await);
        }
        let _accepted = turns.accept();
        assert_eq!(turns.state().begins(ALWAYS), None);
        for _ in 0..2 {
            running.push(turns.begin().await);
        }
    }
}
