//! Puts the page into the program: a table of the files that `make ui` made.
//!
//! Without them the table is empty, so that `cargo build` needs no Node. With `DM_UI_REQUIRED`, which releases set, an empty
//! table is an error.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo and make say things to build scripts by the environment"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../target/ui");
    // Cargo would compile the package every time if the folder that it watches were missing.
    fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed=DM_UI_REQUIRED");
    let mut files = Vec::new();
    find(&folder, &mut files)?;
    files.sort();
    if files.is_empty() && env::var_os("DM_UI_REQUIRED").is_some() {
        return Err("there is no page to put into the manager: run make ui first".into());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("page_files.rs"), table(&folder, &files)?)?;
    Ok(())
}

/// All files below the folder that are not the compressed form of another.
fn find(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.extension() {
            _ if path.is_dir() => find(&path, found)?,
            Some(extension) if extension == "gz" => {}
            _ => found.push(path),
        }
    }
    Ok(())
}

/// The table as Rust: the path below `/ui/`, the bytes, and the bytes compressed with gzip.
fn table(folder: &Path, files: &[PathBuf]) -> Result<String, Box<dyn Error>> {
    let mut text = "pub const FILES: &[File] = &[\n".to_owned();
    for file in files {
        let path = file.strip_prefix(folder)?;
        let gzip = file.with_added_extension("gz");
        writeln!(
            text,
            "    File {{ path: {path:?}, bytes: include_bytes!({file:?}), gzip: include_bytes!({gzip:?}) }},"
        )?;
    }
    text.push_str("];\n");
    Ok(text)
}
