//! Whose turn it is: acceptances go before the operations that have not begun.
//!
//! A caller waits for an acceptance, and nobody for the begin of an operation that waits anyway. Both need the same processors and
//! the same store. So while acceptances are under way, an operation begins only if few others run. Those that run go on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Operations that run however many acceptances are under way, so that the work goes on.
const ALWAYS: usize = 4;

#[derive(Debug, Default)]
pub struct Turns {
    state: Mutex<State>,
    changed: Notify,
    /// The operations begin in the order of their acceptance: only the first one waits for its turn.
    line: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    acceptances: usize,
    running: usize,
}

impl State {
    fn lets_begin(&self) -> bool {
        self.acceptances == 0 || self.running < ALWAYS
    }
}

/// An acceptance under way.
#[derive(Debug)]
pub struct Acceptance<'a>(&'a Turns);

/// An operation that runs.
#[derive(Debug)]
pub struct Turn<'a>(&'a Turns);

impl Turns {
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
        loop {
            let changed = self.changed.notified();
            if let Some(turn) = self.taken() {
                return turn;
            }
            changed.await;
        }
    }

    fn taken(&self) -> Option<Turn<'_>> {
        let mut state = self.state();
        let begins = state.lets_begin();
        state.running += usize::from(begins);
        begins.then(|| Turn(self))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        if state.lets_begin() {
            self.changed.notify_waiters();
        }
    }
}

impl Drop for Acceptance<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.acceptances -= 1);
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

    #[tokio::test]
    async fn operations_begin_in_order_once_no_acceptance_is_under_way_or_few_run() {
        let turns = Turns::default();
        let mut running = Vec::new();
        for _ in 0..ALWAYS + 2 {
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
        drop(other);
        second.await;
        drop(turn);
    }
}
