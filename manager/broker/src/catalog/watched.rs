//! The catalog as its sources say now. While one of them has a fault, there is no catalog.
//!
//! Not [`common::reload`]: a faulty catalog must not be answered from its previous contents, and the files of templates
//! are known only after the catalog is read.
//!
//! Documents may be of strangers. They are read on a thread that serves no requests, one catalog at a time; until it is
//! read, requests are answered from the previous one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use common::work;
use futures::future::join_all;

use super::Catalog;
use super::read::{Reading, read};
use super::source::{File, Source, SourceError};

/// Sources that have not answered after this time do not delay the start.
const FIRST: Duration = Duration::from_secs(5);

/// The catalog of some sources.
pub struct Catalogs {
    sources: Vec<Arc<dyn Source>>,
    /// What is answered. It is locked for a moment only.
    answered: Arc<Mutex<Outcome>>,
    /// It is locked while documents are read.
    state: Arc<tokio::sync::Mutex<State>>,
}

/// A catalog, or every fault of its sources.
type Outcome = Result<Arc<Catalog>, Arc<Vec<String>>>;

struct State {
    /// What each source has. None: it has not answered yet.
    held: Vec<Option<Held>>,
    /// The files on disk that documents name, as they were read.
    stamps: Vec<Stamp>,
}

struct Held {
    files: Result<Vec<File>, String>,
    is_reachable: bool,
}

/// A file with its time and size. None if it is missing.
type Stamp = (PathBuf, Option<(SystemTime, u64)>);

impl Catalogs {
    /// Nothing is read yet.
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        let names: Vec<_> = sources.iter().map(|source| source.name()).collect();
        let waits = format!("{} is not read yet", names.join(", "));
        let state = State {
            held: sources.iter().map(|_| None).collect(),
            stamps: Vec::new(),
        };
        Self {
            sources,
            answered: Arc::new(Mutex::new(Err(Arc::new(vec![waits])))),
            state: Arc::new(tokio::sync::Mutex::new(state)),
        }
    }

    /// Reads the sources. Faults are logged, and answered until they are corrected.
    pub async fn open(sources: Vec<Arc<dyn Source>>) -> Self {
        let catalogs = Self::new(sources);
        let looked = tokio::time::timeout(FIRST, catalogs.look()).await;
        if looked.is_err() {
            tracing::warn!("the sources of the broker's catalog have not all answered yet");
        }
        catalogs
    }

    /// The catalog, or every fault of its sources.
    pub fn get(&self) -> Result<Arc<Catalog>, Arc<Vec<String>>> {
        locked(&self.answered).clone()
    }

    /// Reads all sources again.
    pub async fn look(&self) {
        join_all((0..self.sources.len()).map(|index| self.look_at(index))).await;
    }

    /// Reads the sources again and again, each at its pace.
    pub async fn follow(&self) {
        let following = self.sources.iter().enumerate();
        let following = following.map(|(index, source)| async move {
            loop {
                tokio::time::sleep(source.interval()).await;
                self.look_at(index).await;
            }
        });
        join_all(following).await;
    }

    async fn look_at(&self, index: usize) {
        let source = &self.sources[index];
        let (fetched, name) = (source.fetch().await, source.name());
        let mut state = self.state.clone().lock_owned().await;
        let answered = self.answered.clone();
        work::large(move || {
            let is_new = take(&mut state.held[index], fetched, &name);
            if is_new || state.has_changed_files() {
                state.read(&answered);
            }
        })
        .await;
    }
}

fn locked(answered: &Mutex<Outcome>) -> MutexGuard<'_, Outcome> {
    answered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes what a source has now. Whether it is something else than before.
fn take(held: &mut Option<Held>, fetched: Result<Vec<File>, SourceError>, source: &str) -> bool {
    if let (
        Some(Held {
            files: Ok(_),
            is_reachable,
        }),
        Err(SourceError::Unreachable(reason)),
    ) = (held.as_mut(), &fetched)
    {
        // What was read from it is still what there was last.
        if std::mem::take(is_reachable) {
            tracing::warn!(
                source,
                reason,
                "a source of the broker's catalog is unreachable, and what it had remains: {reason}"
            );
        }
        return false;
    }
    let files = fetched.map_err(|error| error.to_string());
    let is_new = held.as_ref().is_none_or(|held| held.files != files);
    *held = Some(Held {
        files,
        is_reachable: true,
    });
    is_new
}

impl State {
    fn has_changed_files(&self) -> bool {
        let changed = |(path, before): &Stamp| stamp(path.clone()).1 != *before;
        self.stamps.iter().any(changed)
    }

    /// Reads the catalog anew, as soon as all sources have answered.
    fn read(&mut self, answered: &Mutex<Outcome>) {
        let held: Option<Vec<&Held>> = self.held.iter().map(Option::as_ref).collect();
        let Some(held) = held else { return };
        let files = held.iter().filter_map(|held| held.files.as_ref().ok());
        let Reading { catalog, files } = read(files.flatten());
        let unread = held.iter().filter_map(|held| held.files.as_ref().err());
        let unread: Vec<String> = unread.cloned().collect();
        // What is missing makes faults elsewhere.
        let catalog = match unread.is_empty() {
            true => catalog,
            false => Err(unread),
        };
        if let Err(faults) = &catalog {
            let faults = faults.join("; ");
            tracing::error!(
                faults,
                "the catalog of the service broker is not valid: {faults}"
            );
        }
        *locked(answered) = catalog.map(Arc::new).map_err(Arc::new);
        self.stamps = files.into_iter().map(stamp).collect();
    }
}

fn stamp(path: PathBuf) -> Stamp {
    let metadata = std::fs::metadata(&path).ok();
    let known = metadata.and_then(|file| Some((file.modified().ok()?, file.len())));
    (path, known)
}
