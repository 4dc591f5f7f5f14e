//! How the memory allocator of a service treats large blocks.

use std::os::unix::process::CommandExt;
use std::process::Command;

const VARIABLE: &str = "GLIBC_TUNABLES";
const SETTING: &str = "glibc.malloc.mmap_threshold";
/// Bodies of this size and above are large (1 MiB), and so is what they become.
const THRESHOLD: usize = 1 << 20;

/// Makes the allocator give blocks of 1 MiB and more back to the system as soon as they are freed.
///
/// glibc has a limit of its own for this, and raises it to 32 MiB when such a block is freed. From then on, blocks below
/// it are in a heap. A heap does not shrink while there is something at its end: a service kept hundreds of MiB of
/// bodies that it had answered long before, and took more than its limits add up to.
///
/// glibc reads the setting when a program starts, and to change it later takes `unsafe`. So this starts the program
/// again, in the same process, with the same arguments. It must be the first thing that a service does. It does nothing
/// if the environment has the setting. If the program cannot be started again, it says so to standard error, and the
/// service goes on.
#[expect(
    clippy::disallowed_methods,
    reason = "it is glibc's variable, not a setting of the service"
)]
pub fn return_large_blocks(service: &str) {
    let present = std::env::var(VARIABLE).unwrap_or_default();
    if let Some(tunables) = with_setting(&present) {
        let error = start_again(&tunables);
        eprintln!("{service}: it will keep memory that it no longer needs: {error}");
    }
}

/// Returns only if it cannot.
fn start_again(tunables: &str) -> std::io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let (mut program, mut arguments) = (Command::new(program), std::env::args_os());
    if let Some(name) = arguments.next() {
        program.arg0(name);
    }
    program.args(arguments).env(VARIABLE, tunables).exec()
}

/// The variable with the setting; `None` if it has it.
fn with_setting(present: &str) -> Option<String> {
    let own = format!("{SETTING}={THRESHOLD}");
    let mut settings = present.split(':').filter(|one| !one.is_empty());
    let is_set = settings.any(|one| one.split('=').next() == Some(SETTING));
    (!is_set).then(|| match present {
        "" => own,
        others => format!("{others}:{own}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_added_to_others_and_not_given_twice() {
        let own = "glibc.malloc.mmap_threshold=1048576";
        assert_eq!(with_setting("").as_deref(), Some(own));
        let others = "glibc.malloc.check=1";
        let both = format!("{others}:{own}");
        assert_eq!(with_setting(others), Some(both.clone()));
        assert_eq!(with_setting(&both), None);
        assert_eq!(with_setting("glibc.malloc.mmap_threshold=4096"), None);
    }
}
