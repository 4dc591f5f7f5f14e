//! Ties the worker to the interpreter it is built for: where its shared library is, and its home.

use std::process::Command;

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
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
