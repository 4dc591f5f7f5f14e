//! Which answers of one member are as new as the store.
//!
//! A member answers at once if it may answer for itself (etcd calls that *serializable*); otherwise it asks the others first
//! whether it is behind. Only the owner writes, so it knows the last revision with a change of its own. An answer from that revision
//! or a later one misses nothing. What another manager had written before has an earlier revision than the owner's key,
//! and later writes of it are refused.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::store::kv::KvError;
use crate::store::kv::etcd::client::Answer;
use crate::store::kv::etcd::client::wire::Number;

/// The last revision that the owner has seen in any answer.
#[derive(Debug)]
pub struct Freshness(AtomicI64);

impl Freshness {
    /// `fence` is the revision of the owner's key.
    pub fn new(fence: Number) -> Self {
        Self(AtomicI64::new(fence.0))
    }

    /// What one member says, or all of them if that one is behind: it refuses a revision then that it does not have yet, and
    /// its answer about now is too old. `ask` asks one that answers for itself, or not.
    pub async fn answer<A: Answer, F: Future<Output = Result<A, KvError>>>(
        &self,
        revision: Option<Number>,
        ask: impl Fn(bool) -> F,
    ) -> Result<A, KvError> {
        let least = self.last();
        let answer = match (ask(true).await, revision) {
            (Err(KvError::Failed { .. }), Some(_)) => ask(false).await?,
            (Ok(answer), None) if at(&answer) < least => ask(false).await?,
            (answer, _) => answer?,
        };
        self.see(at(&answer));
        Ok(answer)
    }

    fn last(&self) -> Number {
        Number(self.0.load(Ordering::Acquire))
    }

    pub fn see(&self, revision: Number) {
        self.0.fetch_max(revision.0, Ordering::AcqRel);
    }
}

fn at(answer: &impl Answer) -> Number {
    answer.header().map_or(Number(0), |header| header.revision)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::store::kv::etcd::client::refusal::failed;
    use crate::store::kv::etcd::client::wire::{Header, RangeAnswer};

    fn found(revision: i64) -> RangeAnswer {
        RangeAnswer {
            header: Header {
                revision: Number(revision),
                ..Header::default()
            },
            ..RangeAnswer::default()
        }
    }

    /// One member is at the first revision, and the store at the second.
    async fn asked(freshness: &Freshness, of: Option<i64>, (one, all): (i64, i64)) -> (i64, usize) {
        let questions = Cell::new(0);
        let ask = |is_one: bool| {
            questions.set(questions.get() + 1);
            let now = if is_one { one } else { all };
            let has = of.is_none_or(|revision| revision <= now);
            async move {
                let refused = || failed("used", &"required revision is a future revision");
                has.then(|| found(now)).ok_or_else(refused)
            }
        };
        let answer = freshness.answer(of.map(Number), ask).await.unwrap();
        (at(&answer).0, questions.get())
    }

    #[tokio::test]
    async fn a_member_that_is_behind_is_not_believed_and_no_other_is_asked_twice() {
        let freshness = Freshness::new(Number(5));
        assert_eq!(asked(&freshness, None, (5, 5)).await, (5, 1));
        assert_eq!(asked(&freshness, None, (4, 5)).await, (5, 2));
        // Another answer said so: what was seen once is not unseen.
        assert_eq!(asked(&freshness, None, (7, 7)).await, (7, 1));
        assert_eq!(asked(&freshness, None, (6, 7)).await, (7, 2));
        freshness.see(Number(9));
        assert_eq!(asked(&freshness, None, (8, 9)).await, (9, 2));
        // What was there at a revision does not change.
        assert_eq!(asked(&freshness, Some(6), (7, 9)).await, (7, 1));
        assert_eq!(asked(&freshness, Some(8), (7, 9)).await, (9, 2));
    }
}
