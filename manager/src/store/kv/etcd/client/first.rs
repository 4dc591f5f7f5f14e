//! Questions whose answers are needed soon: a member that is stopped costs a part of a second.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::time::{Instant, timeout};

use super::question::Asked;
use super::refusal::{Attempt, unreachable};
use super::{Answer, Client, PAUSE, Question};
use crate::store::kv::KvError;

/// A further member is asked after so long without an answer.
const SILENCE: Duration = Duration::from_millis(400);

impl Client {
    /// As [`Self::call`], for what may be done twice: while a member is silent, further ones are asked, and the first
    /// answer counts.
    ///
    /// # Errors
    /// [`KvError::Unreachable`] if none has answered within the time.
    pub async fn first<Q: Question>(
        &self,
        question: &Q,
        within: Duration,
    ) -> Result<Q::Answer, KvError> {
        self.ask_all(&question.asked(), within).await
    }

    async fn ask_all<A: Answer>(&self, question: &Asked, within: Duration) -> Result<A, KvError> {
        let (deadline, mut asked) = (Instant::now() + within, FuturesUnordered::new());
        let (mut said, mut strangers) = (BTreeMap::new(), 0);
        let first = self.current.load(Ordering::Relaxed);
        for index in (0..self.members.len()).cycle().skip(first) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let answer = self.answer(index, question, left);
            asked.push(async move { (index, answer.await) });
            let Ok(Some((index, answer))) = timeout(SILENCE.min(left), asked.next()).await else {
                continue;
            };
            match answer {
                Ok(answer) => {
                    self.current.store(index, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Attempt::Refused(error)) => return Err(error),
                Err(Attempt::NoToken) => self.log_in_or_leave(index).await?,
                Err(Attempt::Away(why)) => {
                    strangers = 0;
                    said.insert(index, why);
                    tokio::time::sleep(PAUSE.min(left)).await;
                }
                Err(Attempt::Stranger(error)) => {
                    strangers += 1;
                    if strangers >= self.members.len() {
                        return Err(error);
                    }
                    said.insert(index, error.to_string());
                }
            }
        }
        Err(unreachable(self.members.len(), &said))
    }
}
