//! The use of each caller's share: token buckets for rates, counts for requests and streams at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Share, overloaded};
use crate::api::error::ErrorCode;
use crate::server::answer::error::ApiError;

/// How many callers are remembered. Callers without a request for two seconds are forgotten first.
const CALLERS: usize = 10_000;
/// A bucket holds the tokens of this many seconds.
const BURST_SECONDS: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Shares {
    share: Share,
    callers: Mutex<HashMap<String, Taken>>,
}

#[derive(Debug)]
struct Taken {
    reads: Bucket,
    writes: Bucket,
    requests: u32,
    streams: u32,
}

/// A token bucket: tokens arrive steadily, and each request takes one.
#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    fn new(rate: Option<u32>, now: Instant) -> Self {
        Self {
            tokens: rate.map_or(0.0, |rate| f64::from(rate) * BURST_SECONDS),
            filled: now,
        }
    }

    fn fill(&mut self, rate: u32, now: Instant) {
        let rate = f64::from(rate);
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + passed * rate).min(rate * BURST_SECONDS);
        self.filled = now;
    }

    /// Takes a token, or returns the seconds until the next one.
    fn take(&mut self, rate: Option<u32>, now: Instant) -> Result<(), f64> {
        let Some(rate) = rate else { return Ok(()) };
        self.fill(rate, now);
        if self.tokens < 1.0 {
            return Err((1.0 - self.tokens) / f64::from(rate));
        }
        self.tokens -= 1.0;
        Ok(())
    }
}

impl Taken {
    fn new(share: Share, now: Instant) -> Self {
        Self {
            reads: Bucket::new(share.reads, now),
            writes: Bucket::new(share.writes, now),
            requests: 0,
            streams: 0,
        }
    }

    /// Whether the caller can be forgotten, because a new entry would be equal.
    fn is_idle(&self, now: Instant) -> bool {
        let full = |bucket: &Bucket| {
            now.saturating_duration_since(bucket.filled).as_secs_f64() >= BURST_SECONDS
        };
        self.requests == 0 && self.streams == 0 && full(&self.reads) && full(&self.writes)
    }
}

impl Shares {
    pub fn new(share: Share) -> Self {
        Self {
            share,
            callers: Mutex::default(),
        }
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<String, Taken>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn admit(self: &Arc<Self>, caller: &str, reads: bool) -> Result<Admission, ApiError> {
        if self.share == Share::default() {
            return Ok(Admission(None));
        }
        self.admit_at(caller, reads, Instant::now())
    }

    fn admit_at(
        self: &Arc<Self>,
        caller: &str,
        reads: bool,
        now: Instant,
    ) -> Result<Admission, ApiError> {
        let mut callers = self.callers();
        let taken = remembered(&mut callers, caller, self.share, now)?;
        if let Some(most) = self.share.requests.filter(|most| taken.requests >= *most) {
            let message =
                format!("you have {most} open requests, the limit for one caller: retry later");
            return Err(too_many(message, 1));
        }
        let (what, rate, bucket) = match reads {
            true => ("reads", self.share.reads, &mut taken.reads),
            false => ("writes", self.share.writes, &mut taken.writes),
        };
        bucket.take(rate, now).map_err(|seconds| {
            let rate = rate.unwrap_or_default();
            let message = format!(
                "one caller may send {rate} {what} per second, and you sent more: retry later"
            );
            too_many(message, whole(seconds))
        })?;
        taken.requests += 1;
        Ok(Admission(Some((self.clone(), caller.to_owned()))))
    }

    pub fn stream(self: &Arc<Self>, caller: &str) -> Result<Stream, ApiError> {
        let Some(most) = self.share.streams else {
            return Ok(Stream(None));
        };
        let mut callers = self.callers();
        let taken = remembered(&mut callers, caller, self.share, Instant::now())?;
        if taken.streams >= most {
            let message = format!("you follow {most} streams, the limit for one caller: close one");
            return Err(too_many(message, 5));
        }
        taken.streams += 1;
        Ok(Stream(Some((self.clone(), caller.to_owned()))))
    }

    fn give_back(&self, caller: &str, what: impl FnOnce(&mut Taken)) {
        if let Some(taken) = self.callers().get_mut(caller) {
            what(taken);
        }
    }
}

/// The entry of a caller. The table never grows beyond its bound.
fn remembered<'c>(
    callers: &'c mut HashMap<String, Taken>,
    caller: &str,
    share: Share,
    now: Instant,
) -> Result<&'c mut Taken, ApiError> {
    if callers.len() >= CALLERS && !callers.contains_key(caller) {
        callers.retain(|_, taken| !taken.is_idle(now));
        if callers.len() >= CALLERS {
            return Err(overloaded(format!(
                "the service already serves {CALLERS} callers, its limit: retry later"
            )));
        }
    }
    Ok(callers
        .entry(caller.to_owned())
        .or_insert_with(|| Taken::new(share, now)))
}

fn too_many(message: String, seconds: u64) -> ApiError {
    ApiError::new(ErrorCode::TooManyRequests, message).retry_after(seconds)
}

/// Whole seconds, at least one, for Retry-After.
fn whole(seconds: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of seconds, of which a bucket is never empty for more than one"
    )]
    let whole = seconds.ceil() as u64;
    whole.max(1)
}

/// A running request of a caller. Dropping it ends the count.
#[derive(Debug, Default)]
pub struct Admission(Option<(Arc<Shares>, String)>);

impl Drop for Admission {
    fn drop(&mut self) {
        if let Some((shares, caller)) = &self.0 {
            shares.give_back(caller, |taken| {
                taken.requests = taken.requests.saturating_sub(1)
            });
        }
    }
}

/// An open stream of a caller. Dropping it ends the count.
#[derive(Debug, Default)]
pub struct Stream(Option<(Arc<Shares>, String)>);

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some((shares, caller)) = &self.0 {
            shares.give_back(caller, |taken| {
                taken.streams = taken.streams.saturating_sub(1)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shares() -> Arc<Shares> {
        Arc::new(Shares::new(Share {
            reads: Some(10),
            writes: Some(1),
            requests: Some(25),
            streams: Some(2),
        }))
    }

    /// How many of `asked` requests are accepted, each answered immediately.
    fn admitted(shares: &Arc<Shares>, who: &str, reads: bool, asked: usize, now: Instant) -> usize {
        let admit = |_: &usize| shares.admit_at(who, reads, now).is_ok();
        (0..asked).filter(admit).count()
    }

    #[test]
    fn a_caller_gets_its_rate_after_its_burst_and_others_are_not_touched() {
        let (shares, start) = (shares(), Instant::now());
        assert_eq!(admitted(&shares, "a", true, 100, start), 20);
        assert_eq!(admitted(&shares, "a", false, 100, start), 2);
        assert_eq!(admitted(&shares, "b", true, 5, start), 5);
        let later = start + Duration::from_secs(1);
        assert_eq!(admitted(&shares, "a", true, 100, later), 10);
        let refused = shares.admit_at("a", true, later).unwrap_err().0;
        assert_eq!(refused.code, ErrorCode::TooManyRequests);
        assert_eq!(refused.retry_after, Some(1));
    }

    #[test]
    fn what_is_open_at_once_counts_until_it_is_dropped() {
        let (shares, start) = (shares(), Instant::now());
        let open: Vec<_> = (0..25)
            .map(|n| {
                shares
                    .admit_at("a", true, start + Duration::from_secs(n))
                    .unwrap()
            })
            .collect();
        let later = start + Duration::from_secs(60);
        assert!(shares.admit_at("a", true, later).is_err());
        drop(open);
        assert!(shares.admit_at("a", true, later).is_ok());
        let streams = [shares.stream("a").unwrap(), shares.stream("a").unwrap()];
        assert!(shares.stream("a").is_err() && shares.stream("b").is_ok());
        drop(streams);
        assert!(shares.stream("a").is_ok());
    }

    #[test]
    fn the_table_of_callers_does_not_grow_beyond_its_bound() {
        let (shares, start) = (shares(), Instant::now());
        for n in 0..CALLERS {
            assert_eq!(admitted(&shares, &n.to_string(), true, 1, start), 1);
        }
        let refused = shares.admit_at("new", true, start).unwrap_err().0;
        assert_eq!(
            (refused.code, refused.retry_after),
            (ErrorCode::Unavailable, Some(1))
        );
        assert_eq!(admitted(&shares, "0", true, 1, start), 1);
        let later = start + Duration::from_secs(3);
        assert_eq!(admitted(&shares, "new", true, 1, later), 1);
        assert!(shares.callers().len() <= CALLERS);
    }
}
