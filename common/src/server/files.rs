//! Room for connections among the files that the process may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files that are no connections: the store, the workers, what is asked for others.
const OTHERS: usize = 512;

/// Raises the limit for so many connections as far as the system allows without asking; how many there is room for.
pub(super) fn make_room(connections: usize) -> usize {
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
        "the system lets this process open {now} files: at most {room} connections at once, not {connections}; raise `ulimit -n`"
    );
    room
}
