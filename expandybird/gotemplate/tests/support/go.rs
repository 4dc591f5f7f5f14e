//! Programs of Go that tests run beside ours.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[path = "../../../../e2e/src/go.rs"]
mod command;

/// The programs that this process has built. No program is written while another test runs it.
static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Builds the program in this folder once, and returns its file. Go keeps what it built before.
pub fn build(folder: &str, name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if built.insert(program.clone()) {
        compile(folder, &program);
    }
    program
}

fn compile(folder: &str, program: &Path) {
    let status = command::command(Path::new(folder))
        .args(["build", "-o"])
        .arg(program)
        .status();
    let status = status.unwrap_or_else(|error| panic!("cannot run Go: {error}. Install Go 1.26"));
    assert!(status.success(), "Go cannot build {folder}");
}
