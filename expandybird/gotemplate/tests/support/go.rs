//! Programs of Go that tests run beside ours. The tests of `expandybird/sprig` use this file too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Where Go may be, besides `PATH`.
const USUAL: &str = "/usr/local/go/bin/go";

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
    let go = if Path::new(USUAL).exists() {
        USUAL
    } else {
        "go"
    };
    let status = Command::new(go)
        .args(["build", "-o"])
        .arg(program)
        .current_dir(folder)
        .status();
    let status = status.unwrap_or_else(|error| panic!("cannot run {go}: {error}. Install Go 1.26"));
    assert!(status.success(), "{go} cannot build {folder}");
}
