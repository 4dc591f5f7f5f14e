//! The threads that read: sled waits for the disk, so its calls keep off the threads that serve.
//!
//! One thread per processor: more would only take turns, each with its own memory. Further reads wait in a queue, and a
//! free thread takes the next one without going to sleep in between.

use std::num::NonZeroUsize;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinError;

/// So that one that waits for the disk does not hold up all.
const LEAST: usize = 2;

#[derive(Debug)]
pub struct Readers(Option<Runtime>);

impl Readers {
    pub fn start() -> std::io::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let runtime = Builder::new_current_thread()
            .thread_name("store-read")
            .max_blocking_threads(processors.max(LEAST))
            .build()?;
        Ok(Self(Some(runtime)))
    }

    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        match &self.0 {
            Some(runtime) => runtime.spawn_blocking(work).await,
            // Only while it is dropped.
            None => tokio::task::spawn_blocking(work).await,
        }
    }
}

impl Drop for Readers {
    /// Without waiting, as a thread that serves may be who drops it.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
