//! Opening a folder, and saying in a sentence why that cannot be.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use std::thread;

use super::super::KvError;
use super::files;
use super::tip::Tip;

/// What sled counts of the file in memory, and it counts late: some hundred MiB more may be there. The default, 1 GiB, is
/// more than all of a manager should take.
const CACHE_BYTES: u64 = 40 * 1024 * 1024;
/// The thread that opens; what panics in it becomes an error.
const OPENING: &str = "store-open";

/// The store, and what it should hold, if it knows.
pub fn open(path: &Path) -> Result<(sled::Db, Option<Tip>), KvError> {
    let folder = path.to_owned();
    let work = move || panic::catch_unwind(AssertUnwindSafe(|| opened(&folder)));
    quiet();
    let opening = thread::Builder::new().name(OPENING.to_owned()).spawn(work);
    let opening = opening.map_err(|error| super::failed("opened", &error))?;
    // Both what panics while it opens and what panics while it is dropped.
    let outcome = opening.join().and_then(|outcome| outcome);
    outcome.unwrap_or_else(|_| Err(damaged(path, "it cannot be made sense of")))
}

fn opened(path: &Path) -> Result<(sled::Db, Option<Tip>), KvError> {
    let config = sled::Config::new().path(path).cache_capacity(CACHE_BYTES);
    let db = config.open().map_err(|error| not_opened(path, &error))?;
    let tip = Tip::read(&db).map_err(|error| not_opened(path, &error))?;
    let acknowledged = files::acknowledged(path);
    let commits = tip.map_or(0, |tip| tip.commits);
    if commits < acknowledged {
        let lost = acknowledged - commits;
        return Err(damaged(
            path,
            &format!("its last {lost} commits are not in it"),
        ));
    }
    Ok((db, tip))
}

/// sled panics on some kinds of damage. They are told once, as an error, not as a backtrace beside it.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() == Some(OPENING) {
                tracing::debug!("sled gave up: {info}");
            } else {
                before(info);
            }
        }));
    });
}

pub fn damaged(path: &Path, reason: &str) -> KvError {
    KvError::Damaged {
        place: format!("the store's file {}", path.join(files::LOG).display()),
        reason: reason.to_owned(),
    }
}

/// sled tells a lock that is held only in the text of its error.
fn not_opened(path: &Path, error: &sled::Error) -> KvError {
    match error {
        sled::Error::Io(io) if io.to_string().contains("could not acquire lock") => {
            KvError::InUse {
                path: path.display().to_string(),
            }
        }
        sled::Error::Corruption { .. } | sled::Error::ReportableBug(_) => {
            damaged(path, "its checksums do not fit")
        }
        _ => KvError::Failed {
            action: "opened",
            reason: format!("{}: {error}", path.display()),
        },
    }
}
