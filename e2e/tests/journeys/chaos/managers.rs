//! The managers that a user asks: another one as soon as one gives no answer, and from time to time anyway.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::client::{ClientError, ManagerClient};
use tokio::time::timeout;

/// Between two looks at an operation, or two tries of a request.
pub const LOOK: Duration = Duration::from_millis(200);
/// No outage and no operation is so long.
pub const PATIENCE: Duration = Duration::from_secs(180);
/// A user asks another manager after so long without an answer.
pub const ANSWER: Duration = Duration::from_secs(15);
/// Calls of one user to the same manager.
const CALLS: usize = 10;

/// A request to one manager that failed.
#[derive(Debug)]
pub struct Try {
    pub manager: usize,
    pub begun: Instant,
    pub ended: Instant,
    pub error: String,
}

/// A question of a user whose first try failed.
#[derive(Debug)]
pub struct Call {
    pub failed: Vec<Try>,
    pub ended: Instant,
}

pub struct Managers {
    all: Vec<ManagerClient>,
    answer: Duration,
    calls: AtomicUsize,
    failed: Mutex<Vec<Call>>,
}

impl Managers {
    /// The first call goes to this one of them. A user waits so long for an answer of one.
    pub fn new(all: Vec<ManagerClient>, first: usize, answer: Duration) -> Self {
        Self {
            all,
            answer,
            calls: AtomicUsize::new(first * CALLS),
            failed: Mutex::default(),
        }
    }

    /// Asks until there is an answer.
    pub async fn ask<T, F>(&self, question: impl Fn(ManagerClient) -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let mut failed = Vec::new();
        let start = Instant::now();
        let answer = loop {
            let call = self.calls.fetch_add(1, Ordering::Relaxed);
            let manager = call / CALLS % self.all.len();
            let begun = Instant::now();
            let answer = timeout(self.answer, question(self.all[manager].clone())).await;
            let error = match answer {
                Ok(Err(error)) if error.is_transient() => error.to_string(),
                Ok(answer) => break answer.map_err(|error| error.to_string()),
                Err(_) => "no answer".to_owned(),
            };
            failed.push(Try {
                manager,
                begun,
                ended: Instant::now(),
                error: error.clone(),
            });
            if start.elapsed() > PATIENCE {
                break Err(error);
            }
            self.calls.fetch_add(CALLS, Ordering::Relaxed);
            tokio::time::sleep(LOOK).await;
        };
        if !failed.is_empty() {
            let mut calls = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            calls.push(Call {
                failed,
                ended: Instant::now(),
            });
        }
        answer
    }

    pub fn into_calls(self) -> Vec<Call> {
        self.failed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
