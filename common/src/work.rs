//! Runs work on untrusted input on threads that do not serve requests.
//!
//! A thread that serves requests cannot do anything else while it computes: even `/healthz` waits. So work that grows
//! with untrusted input – JSON, plans, references, differences, redaction – runs here, on threads that may block. At
//! most one piece of work per processor runs at a time. The others wait in order: running more at once would not finish
//! earlier, and would need the memory of all of them.
//!
//! If the caller of waiting work goes away, the work never starts. Running work ends by itself: its time is linear in
//! an input of limited size.

use std::io;
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::Span;

/// Input of this size takes about a millisecond. Moving the work to another thread may cost as much on a busy machine.
const SMALL_BYTES: usize = 64 * 1024;

static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(processors))
});

/// Does work whose input may be large, and returns its result. A panic of the work continues here.
pub async fn large<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    // The semaphore is never closed, so the permit always comes.
    let place = PLACES.clone().acquire_owned().await.ok();
    let span = Span::current();
    let running = tokio::task::spawn_blocking(move || {
        let _place = place;
        span.in_scope(work)
    });
    match running.await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime shuts down, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// How large an input is, for [`sized`]. It is not a number that anything else could be bounded by: counting the bytes of
/// values stops where the input is large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size(usize);

impl Size {
    pub const fn bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Of the values as JSON, approximately. It costs little for any input.
    pub fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        Self(bytes_of(values))
    }

    /// Of an input with both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Of an input that is worked on so many times.
    #[must_use]
    pub const fn times(self, times: usize) -> Self {
        Self(self.0.saturating_mul(times))
    }

    const fn is_large(self) -> bool {
        self.0 > SMALL_BYTES
    }
}

/// [`large`] for a large input. Small work runs immediately on the current thread.
pub async fn sized<R: Send + 'static>(size: Size, work: impl FnOnce() -> R + Send + 'static) -> R {
    match size.is_large() {
        true => large(work).await,
        false => work(),
    }
}

/// The value as JSON. A small value is written immediately on the current thread.
///
/// # Errors
/// The value has no form in JSON, such as a map whose keys are no texts.
pub async fn json<T: Serialize + Send + 'static>(value: T) -> serde_json::Result<Vec<u8>> {
    let mut small = Small::default();
    match serde_json::to_writer(&mut small, &value) {
        Ok(()) => Ok(small.0),
        Err(error) if error.is_io() => large(move || serde_json::to_vec(&value)).await,
        Err(error) => Err(error),
    }
}

/// The written bytes, while they are few. The size of a value as JSON is known only after it is written.
#[derive(Default)]
struct Small(Vec<u8>);

impl io::Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > SMALL_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counting stops where the input is large.
fn bytes_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> usize {
    fn add(value: &Value, bytes: &mut usize) {
        *bytes += 4;
        match value {
            _ if *bytes > SMALL_BYTES => {}
            Value::String(text) => *bytes += text.len(),
            Value::Array(items) => {
                let mut items = items.iter();
                while let Some(item) = items.next().filter(|_| *bytes <= SMALL_BYTES) {
                    add(item, bytes);
                }
            }
            Value::Object(map) => {
                let mut fields = map.iter();
                while let Some((key, value)) = fields.next().filter(|_| *bytes <= SMALL_BYTES) {
                    *bytes += key.len();
                    add(value, bytes);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let (mut bytes, mut values) = (0, values.into_iter());
    while let Some(value) = values.next().filter(|_| bytes <= SMALL_BYTES) {
        add(value, &mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn the_thread_that_asks_goes_on_while_large_work_is_done() {
        let (begin, begun) = mpsc::channel();
        let work = tokio::spawn(large(move || begun.recv()));
        // On a single thread, this is reached only if the work waits for other work.
        tokio::task::yield_now().await;
        begin.send("done").unwrap();
        assert_eq!(work.await.unwrap(), Ok("done"));
    }

    #[tokio::test]
    async fn work_of_a_caller_who_is_gone_never_begins() {
        let processors = std::thread::available_parallelism().unwrap().get();
        let held: Vec<_> = (0..processors)
            .map(|_| {
                let (end, ended) = mpsc::channel::<()>();
                (end, tokio::spawn(large(move || ended.recv())))
            })
            .collect();
        tokio::task::yield_now().await;
        let (begin, begun) = mpsc::channel();
        let waiting = tokio::spawn(large(move || begin.send(())));
        tokio::task::yield_now().await;
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        for (end, running) in held {
            drop(end);
            assert!(running.await.unwrap().is_err());
        }
        assert!(begun.recv().is_err());
    }

    #[tokio::test]
    async fn values_of_any_size_are_written_as_json() {
        for size in [0, SMALL_BYTES - 2, SMALL_BYTES - 1, 10 * SMALL_BYTES] {
            let text = "x".repeat(size);
            let expected = serde_json::to_vec(&text).unwrap();
            assert!(json(text).await.unwrap() == expected, "{size}");
        }
        let without_form = std::collections::HashMap::from([([1, 2], 3)]);
        assert!(json(without_form).await.is_err());
    }

    #[test]
    fn large_values_differ_from_small_ones() {
        let small = serde_json::json!({"a": ["b", 1, null]});
        assert!((8..64).contains(&bytes_of([&small])));
        assert!(!Size::of([&small]).is_large());
        for large in [
            serde_json::json!(vec![0; SMALL_BYTES]),
            serde_json::json!({ "x".repeat(SMALL_BYTES + 1): 0 }),
            serde_json::json!([["x".repeat(SMALL_BYTES + 1)]]),
        ] {
            assert!(Size::of([&small, &large]).is_large());
        }
        assert!(Size::of(std::iter::repeat(&small)).is_large());
    }

    #[test]
    fn inputs_that_are_small_by_themselves_may_be_large_together() {
        let half = Size::bytes(SMALL_BYTES / 2 + 1);
        assert!(!half.is_large());
        for together in [half.and(half), half.times(2), half.times(usize::MAX)] {
            assert!(together.is_large());
        }
    }

    #[test]
    fn a_panic_of_the_work_is_its_callers() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let work = runtime.spawn(large(|| panic!("by the work")));
        assert!(runtime.block_on(work).unwrap_err().is_panic());
    }
}
