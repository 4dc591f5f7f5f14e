//! Go, for what tests and benches borrow from it. Packages that do not depend on e2e take this file by its path.

use std::path::Path;
use std::process::Command;

/// Where Go may be, besides `PATH`.
const USUAL: &str = "/usr/local/go/bin/go";

/// A command of Go in a module's folder. Go keeps what it built before, and fetches the version that the module names.
pub fn command(folder: &Path) -> Command {
    let program = if Path::new(USUAL).exists() {
        USUAL
    } else {
        "go"
    };
    let mut command = Command::new(program);
    command.current_dir(folder).env("GOWORK", "off");
    command
}
