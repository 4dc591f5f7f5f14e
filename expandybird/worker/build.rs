//! Ties the worker to the interpreter it is built for: where its shared library is, and its home.
//! Puts the worker's own clocks in the place of the C library's.

use std::process::Command;

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
    own_clocks();
    // An embedded interpreter would guess its home from a program's folder, which is not its own.
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

/// Nothing of ours calls these functions, so the linker must be asked to keep them.
fn own_clocks() {
    const SOURCE: &str = "src/native/machine.c";
    println!("cargo:rerun-if-changed={SOURCE}");
    cc::Build::new()
        .file(SOURCE)
        .warnings_into_errors(true)
        .link_lib_modifier("+whole-archive")
        .compile("machine");
}
