//! The catalog as its files say now. While a file has a fault, there is no catalog.
//!
//! Not [`common::reload`]: a faulty catalog must not be answered from its previous contents, and the files of templates
//! are known only after the catalog is read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::Catalog;
use super::read::{Reading, Source, read};

/// How long a change may stay unnoticed.
const INTERVAL: Duration = Duration::from_secs(1);

/// The catalog of some files.
pub struct Catalogs {
    paths: Vec<PathBuf>,
    state: Mutex<State>,
}

struct State {
    catalog: Result<Arc<Catalog>, Arc<Vec<String>>>,
    /// All files that were read, as they were then.
    stamps: Vec<Stamp>,
    looked: Instant,
}

/// A file with its time and size. None if it is missing.
type Stamp = (PathBuf, Option<(SystemTime, u64)>);

impl Catalogs {
    /// Reads the files. Faults are logged, and answered until the files are corrected.
    pub fn open(paths: Vec<PathBuf>) -> Self {
        let state = Mutex::new(load(&paths));
        Self { paths, state }
    }

    /// The catalog, or every fault of its files.
    pub fn get(&self) -> Result<Arc<Catalog>, Arc<Vec<String>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() >= INTERVAL {
            self.look(&mut state);
        }
        state.catalog.clone()
    }

    fn look(&self, state: &mut State) {
        state.looked = Instant::now();
        let changed = |(path, before): &Stamp| stamp(path.clone()).1 != *before;
        if state.stamps.iter().any(changed) {
            *state = load(&self.paths);
        }
    }

    #[cfg(test)]
    pub fn look_now(&self) {
        self.look(&mut self.state.lock().unwrap());
    }
}

fn load(paths: &[PathBuf]) -> State {
    let stamps: Vec<_> = paths.iter().cloned().map(stamp).collect();
    let sources = paths.iter().map(|path| {
        let text = std::fs::read_to_string(path);
        text.map(|text| Source {
            path: path.clone(),
            text,
        })
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))
    });
    let Reading { catalog, files } = match sources.collect::<Result<Vec<_>, _>>() {
        Ok(sources) => read(&sources),
        Err(reason) => Reading {
            catalog: Err(vec![reason]),
            files: Default::default(),
        },
    };
    if let Err(faults) = &catalog {
        let faults = faults.join("; ");
        tracing::error!(
            faults,
            "the catalog of the service broker is not valid: {faults}"
        );
    }
    State {
        catalog: catalog.map(Arc::new).map_err(Arc::new),
        stamps: stamps
            .into_iter()
            .chain(files.into_iter().map(stamp))
            .collect(),
        looked: Instant::now(),
    }
}

fn stamp(path: PathBuf) -> Stamp {
    let metadata = std::fs::metadata(&path).ok();
    let known = metadata.and_then(|file| Some((file.modified().ok()?, file.len())));
    (path, known)
}
