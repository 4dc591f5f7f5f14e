//! The gate that each call of a job passes on its way to the API server. A stopped job writes nothing more.
//!
//! ```text
//! waiting ──first renewal──► open ──renewals──► open ──halt, or no renewal in time──► closed
//! ```
//! A write passes at the last moment, directly before it is sent. The gate limits it to the time that the job may still
//! write, here and at the API server (`timeout`). So after a closed gate and the end of that time there are no more
//! writes. A closing gate cancels waiting reads.
//!
//! A write without an answer is recorded: until its time is over, the API server may still do it. A later answer to the
//! same call removes the record, because the API server does them one after the other.
//!
//! The gate does not know deployments, operations or jobs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// The maximum time of one write. A webhook has up to 30 s.
const WRITE: Duration = Duration::from_secs(30);
/// The API server's time starts when a write arrives, a little after it is sent.
const SLACK: Duration = Duration::from_secs(1);

/// Why a job must not continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    #[error("the caller went away")]
    CallerGone,
    #[error("the operation was stopped")]
    Stopped,
    #[error("a later operation has taken the deployment over")]
    Superseded,
    #[error("the manager gave no sign of life in time")]
    Expired,
}

#[derive(Debug)]
pub struct Gate {
    state: watch::Sender<State>,
    /// Writes without an answer, by call, and until when the API server may still do them.
    unanswered: Mutex<HashMap<String, Instant>>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// Whether writes are allowed yet.
    is_granted: bool,
    /// Nothing is written after this time. Without it, writing ends only when the gate closes.
    until: Option<Instant>,
    halted: Option<Halt>,
}

impl Gate {
    /// Open until it is closed: for reads, and for a request without an operation.
    pub fn open() -> Self {
        Self::new(true, None)
    }

    /// Reads pass immediately, and writes from the first renewal on. The gate closes if none comes for this long.
    pub fn leased(lease: Duration) -> Self {
        Self::new(false, Some(Instant::now() + lease))
    }

    fn new(is_granted: bool, until: Option<Instant>) -> Self {
        Self {
            state: watch::Sender::new(State {
                is_granted,
                until,
                halted: None,
            }),
            unanswered: Mutex::default(),
        }
    }

    /// Writes may pass until then. A closed gate stays closed.
    pub fn renew(&self, until: Instant) {
        if self.halted().is_some() {
            return;
        }
        self.state.send_modify(|state| {
            state.is_granted = true;
            state.until = state.until.max(Some(until));
        });
    }

    /// Closes the gate. The first reason stays.
    pub fn halt(&self, reason: Halt) {
        self.state.send_modify(|state| {
            state.halted.get_or_insert(reason);
        });
    }

    pub fn halted(&self) -> Option<Halt> {
        let state = *self.state.borrow();
        let is_over = state.until.is_some_and(|until| Instant::now() >= until);
        state.halted.or(is_over.then_some(Halt::Expired))
    }

    /// # Errors
    /// The gate is closed.
    pub fn check(&self) -> Result<(), Halt> {
        self.halted().map_or(Ok(()), Err)
    }

    /// Returns when the gate is closed.
    pub async fn closed(&self) -> Halt {
        let mut states = self.state.subscribe();
        loop {
            let state = *states.borrow_and_update();
            if let Some(halt) = self.halted() {
                return halt;
            }
            let end = async {
                match state.until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = end => {}
                // `self` holds the sender.
                _ = states.changed() => {}
            }
        }
    }

    /// Cancels the work when the gate closes.
    pub async fn while_open<T>(&self, work: impl Future<Output = T>) -> Result<T, Halt> {
        tokio::select! {
            biased;
            halt = self.closed() => Err(halt),
            done = work => Ok(done),
        }
    }

    /// Returns when writes are allowed.
    pub async fn granted(&self) -> Result<(), Halt> {
        let mut states = self.state.subscribe();
        let granted = states.wait_for(|state| state.is_granted);
        self.while_open(async { drop(granted.await) }).await
    }

    /// The permission for one write, which must be sent immediately.
    pub async fn enter(&self, call: String) -> Result<Pass<'_>, Halt> {
        self.granted().await?;
        let until = self.state.borrow().until;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        Ok(Pass {
            gate: self,
            within: left.map_or(WRITE, |left| left.min(WRITE)),
            call: Some(call),
        })
    }

    /// Waits until the API server has finished all requests.
    pub async fn settled(&self) {
        let last = self.unanswered().values().max().copied();
        if let Some(last) = last {
            tokio::time::sleep_until(last).await;
        }
    }

    fn unanswered(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        // No holder of the lock panics.
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write that was sent. If it is dropped without an answer, the API server may still do it.
#[derive(Debug)]
pub struct Pass<'g> {
    gate: &'g Gate,
    within: Duration,
    /// Until it is answered.
    call: Option<String>,
}

impl Pass<'_> {
    /// The time for it, here and at the API server.
    pub fn within(&self) -> Duration {
        self.within
    }

    /// The API server has answered: neither this call nor an earlier try of it is running any more.
    pub fn answered(mut self) {
        if let Some(call) = self.call.take() {
            self.gate.unanswered().remove(&call);
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let end = Instant::now() + self.within + SLACK;
            self.gate.unanswered().insert(call, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(10);

    async fn write(gate: &Gate) -> Result<Duration, Halt> {
        let pass = gate.enter("PATCH /a".to_owned()).await?;
        let within = pass.within();
        pass.answered();
        Ok(within)
    }

    #[tokio::test]
    async fn nothing_is_written_before_the_first_renewal_and_then_only_for_the_time_of_the_lease() {
        let gate = Gate::leased(LEASE);
        assert!(futures::poll!(std::pin::pin!(gate.enter(String::new()))).is_pending());
        gate.renew(Instant::now() + LEASE);
        let within = write(&gate).await.unwrap();
        assert!(within > LEASE / 2 && within <= LEASE, "{within:?}");
        // A renewal never shortens the time.
        gate.renew(Instant::now());
        assert!(write(&gate).await.unwrap() > LEASE / 2);
    }

    #[tokio::test]
    async fn a_gate_without_a_renewal_in_time_is_closed_for_good() {
        let gate = Gate::leased(Duration::ZERO);
        assert_eq!(write(&gate).await, Err(Halt::Expired));
        gate.renew(Instant::now() + LEASE);
        assert_eq!(write(&gate).await, Err(Halt::Expired));
    }

    #[tokio::test]
    async fn without_a_lease_a_write_has_its_own_bound() {
        assert_eq!(write(&Gate::open()).await, Ok(WRITE));
    }

    #[tokio::test]
    async fn a_halt_ends_what_waits_and_its_first_reason_counts() {
        let gate = Gate::leased(LEASE);
        let mut waiting = std::pin::pin!(gate.enter(String::new()));
        let mut reading = std::pin::pin!(gate.while_open(std::future::pending::<()>()));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        assert!(futures::poll!(reading.as_mut()).is_pending());
        gate.halt(Halt::Stopped);
        gate.halt(Halt::CallerGone);
        assert_eq!(waiting.await.map(drop), Err(Halt::Stopped));
        assert_eq!(reading.await, Err(Halt::Stopped));
        assert_eq!(gate.closed().await, Halt::Stopped);
    }

    #[tokio::test]
    async fn a_write_without_an_answer_is_waited_out_unless_the_same_call_is_answered() {
        let gate = Gate::open();
        drop(gate.enter("PATCH /a".to_owned()).await.unwrap());
        drop(gate.enter("PATCH /b".to_owned()).await.unwrap());
        gate.enter("PATCH /b".to_owned()).await.unwrap().answered();
        let left: Vec<String> = gate.unanswered().keys().cloned().collect();
        assert_eq!(left, ["PATCH /a"]);
        assert!(futures::poll!(std::pin::pin!(gate.settled())).is_pending());
        gate.enter("PATCH /a".to_owned()).await.unwrap().answered();
        gate.settled().await;
    }
}
