//! Opening a folder, or an error that says why it cannot be opened.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use std::thread;

use super::super::KvError;
use super::Data;
use super::acknowledged::{self, Acknowledged};
use super::disk::files::LOG;
use super::disk::private;
use super::loss::{self, Loss};
use super::tip::{self, Tip};

/// What sled counts of the file in memory, and it counts late: some hundred MiB more may be there. The default, 1 GiB, is
/// more than all of a manager should take.
pub const CACHE_BYTES: u64 = 40 * 1024 * 1024;
/// The thread that opens; what panics in it becomes an error.
const OPENING: &str = "store-open";

/// The store, and what it holds.
///
/// # Errors
/// [`KvError::Damaged`] if something that was acknowledged is missing, unless `accept` is the token of this very loss.
pub fn open(path: &Path, accept: Option<&str>) -> Result<(Data, Tip), KvError> {
    let (folder, accept) = (path.to_owned(), accept.map(str::to_owned));
    let opened = move || opened(&folder, accept.as_deref());
    let work = move || panic::catch_unwind(AssertUnwindSafe(opened));
    quiet();
    let opening = thread::Builder::new().name(OPENING.to_owned()).spawn(work);
    let opening = opening.map_err(|error| super::failed("opened", &error))?;
    // Both what panics while it opens and what panics while it is dropped.
    let outcome = opening.join().and_then(|outcome| outcome);
    outcome.unwrap_or_else(|_| Err(loss::damaged(path, LOG, "sled cannot read it")))
}

fn opened(path: &Path, accept: Option<&str>) -> Result<(Data, Tip), KvError> {
    let mut acknowledged = acknowledged::read(path)?;
    if acknowledged == Acknowledged::New {
        let tip = Tip::of_new_store()?;
        acknowledged::make(path, tip).map_err(|error| not_made(path, &error))?;
        acknowledged = Acknowledged::Tip(tip);
    }
    // sled would make a new one.
    if acknowledged.commits() > 0 && !path.join(LOG).exists() {
        return Err(loss::damaged(path, LOG, "it is missing"));
    }
    let config = sled::Config::new().path(path).cache_capacity(CACHE_BYTES);
    let db = config.open().map_err(|error| not_opened(path, &error))?;
    let found = Tip::read(&db).map_err(|error| not_opened(path, &error))?;
    let data = Data::new(path, db);
    let held = match (found, accept) {
        (Some(tip), None) => tip,
        _ => tip::counted(&data)?,
    };
    let mut loss = Loss::between(acknowledged, found);
    if found.is_some_and(|found| found.sum != held.sum) {
        loss = loss.or(Some(Loss::of_entries()));
    }
    match (loss, accept) {
        (None, None) => {}
        (None, Some(_)) => {
            tracing::warn!("the store has lost nothing: leave out --accept-loss");
        }
        (Some(loss), accept) => {
            let token = loss::token(acknowledged, found);
            if accept != Some(&token) {
                return Err(loss.refused(path, token));
            }
            tracing::warn!(
                commits = held.commits,
                "the store goes on with what is left after {} commits, as --accept-loss says: run dm admin verify, and leave out --accept-loss from now on",
                held.commits
            );
        }
    }
    let tip = settled(&data, acknowledged, found, held)?;
    private::close(path).map_err(|error| not_made(path, &error))?;
    Ok((data, tip))
}

/// Makes log and file say what the store holds, where they do not yet.
fn settled(
    data: &Data,
    acknowledged: Acknowledged,
    found: Option<Tip>,
    held: Tip,
) -> Result<Tip, KvError> {
    let known = match acknowledged {
        Acknowledged::Tip(said) => said.store,
        Acknowledged::New | Acknowledged::Old(_) | Acknowledged::Lost(_) => 0,
    };
    let tip = match (held.store, known) {
        (0, 0) => Tip {
            store: Tip::of_new_store()?.store,
            ..held
        },
        (0, store) => Tip { store, ..held },
        _ => held,
    };
    if found != Some(tip) {
        let written = data.db.insert(tip::KEY, &tip.encoded());
        let written = written.and_then(|_| data.db.flush());
        written.map_err(|error| data.failed("written", &error))?;
    }
    if acknowledged != Acknowledged::Tip(tip) {
        let made = acknowledged::make(&data.path, tip);
        made.map_err(|error| not_made(&data.path, &error))?;
    }
    Ok(tip)
}

fn not_made(path: &Path, error: &std::io::Error) -> KvError {
    let path = path.display();
    super::failed("opened", &format!("{path}: {error}"))
}

/// sled panics on some kinds of damage. The panic becomes one error, without a backtrace.
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

/// sled reports a lock that is held only in the text of its error.
fn not_opened(path: &Path, error: &sled::Error) -> KvError {
    match error {
        sled::Error::Io(io) if io.to_string().contains("could not acquire lock") => {
            KvError::InUse {
                path: path.display().to_string(),
            }
        }
        error if loss::is_damage(error) => {
            loss::damaged(path, LOG, &format!("sled cannot read it ({error})"))
        }
        _ => KvError::Failed {
            action: "opened",
            reason: format!("{}: {error}", path.display()),
        },
    }
}
