//! Lets the worker find the Python library it was linked against, wherever that interpreter lives.

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
}
