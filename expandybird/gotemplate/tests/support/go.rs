//! Programs of Go that tests run beside ours. The tests of `expandybird/sprig` use this file too.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Go may be, besides `PATH`.
const USUAL: &str = "/usr/local/go/bin/go";

/// Builds the program in this folder, and returns its file. Go keeps what it built before.
pub fn build(folder: &str, name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let go = if Path::new(USUAL).exists() {
        USUAL
    } else {
        "go"
    };
    let status = Command::new(go)
        .args(["build", "-o"])
        .arg(&program)
        .current_dir(folder)
        .status();
    let status = status.unwrap_or_else(|error| panic!("cannot run {go}: {error}. Install Go 1.26"));
    assert!(status.success(), "{go} cannot build {folder}");
    program
}
