//! Room for connections among the files that the process may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Open files that are not connections of callers: the store, the workers, requests to other services.
const OTHERS: usize = 512;

/// Raises the limit of open files for this number of connections, as far as the process may. Returns how many connections fit.
pub(in crate::server) fn make_room(connections: usize) -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return connections;
    };
    let wanted = (connections + OTHERS) as u64;
    let raised = wanted.min(hard);
    let now = match raised > soft && setrlimit(Resource::RLIMIT_NOFILE, raised, hard).is_ok() {
        true => raised,
        false => soft,
    };
    if now >= wanted {
        return connections;
    }
    let room = usize::try_from(now)
        .unwrap_or(usize::MAX)
        .saturating_sub(OTHERS)
        .max(64);
    tracing::warn!(
        "the system lets this process open {now} files: at most {room} connections at the same time, not {connections}; raise `ulimit -n`"
    );
    room
}
