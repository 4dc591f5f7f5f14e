//! Links the worker with its interpreter: the location of the shared library, and the Python home. Replaces the clocks
//! of the C library with the worker's own, and its `abort`.

use std::process::Command;

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
    own_clocks();
    // An embedded interpreter would guess its home from the folder of the program, which is not its own.
    println!("cargo:rustc-env=WORKER_PYTHON_HOME={}", python_home());
}

fn python_home() -> String {
    let python = pyo3_build_config::get().executable().unwrap_or("python3");
    let output = Command::new(python)
        .args(["-c", "import sys; print(sys.base_prefix, end='')"])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => {
            println!("cargo:error=cannot run {python}; set PYO3_PYTHON to a Python 3 interpreter");
            String::new()
        }
    }
}

/// No code of ours calls these functions, so the linker must keep them explicitly.
fn own_clocks() {
    const SOURCES: [&str; 6] = [
        "src/native/abort.c",
        "src/native/heap.c",
        "src/native/machine.c",
        "src/native/pages.c",
        "src/native/snapshot.c",
        "src/native/working_set.c",
    ];
    println!("cargo:rerun-if-changed=src/native");
    cc::Build::new()
        .files(SOURCES)
        .warnings_into_errors(true)
        .link_lib_modifier("+whole-archive")
        .compile("machine");
}
