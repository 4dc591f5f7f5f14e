//! Questions whose answers are needed soon: a member that is stopped costs a part of a second.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde::Serialize;
use tokio::time::{Instant, timeout};

use super::refusal::Attempt;
use super::{Answer, Client, PAUSE, json};
use crate::store::kv::KvError;

/// A further member is asked after so long without an answer.
const SILENCE: Duration = Duration::from_millis(400);

impl Client {
    /// As [`Self::call`], for what may be done twice: while a member is silent, further ones are asked, and the first
    /// answer counts.
    ///
    /// # Errors
    /// [`KvError::Unreachable`] if none has answered within the time.
    pub async fn first<A: Answer>(
        &self,
        path: &str,
        question: &impl Serialize,
        within: Duration,
    ) -> Result<A, KvError> {
        let bytes = self.ask_all(path, json(question)?, within).await?;
        self.understood(&bytes)
    }

    async fn ask_all(&self, path: &str, body: Bytes, within: Duration) -> Result<Bytes, KvError> {
        let (deadline, mut asked) = (Instant::now() + within, FuturesUnordered::new());
        let mut reason = "no member has answered in time".to_owned();
        let first = self.current.load(Ordering::Relaxed);
        for index in (0..self.members.len()).cycle().skip(first) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let question = self.ask(index, path, body.clone(), left);
            asked.push(async move { (index, question.await) });
            let Ok(Some((index, answer))) = timeout(SILENCE.min(left), asked.next()).await else {
                continue;
            };
            match answer {
                Ok(bytes) => {
                    self.current.store(index, Ordering::Relaxed);
                    return Ok(bytes);
                }
                Err(Attempt::Refused(error)) => return Err(error),
                Err(Attempt::NoToken) => self.log_in_or_leave(index).await?,
                Err(Attempt::Away(why)) => {
                    reason = why;
                    tokio::time::sleep(PAUSE.min(left)).await;
                }
            }
        }
        Err(KvError::Unreachable { reason })
    }
}
