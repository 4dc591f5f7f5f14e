//! The store's bad luck, seen from outside: what the manager's process says, and how it ends.

#![expect(clippy::unwrap_used, reason = "what drives the tests is part of them")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Starting takes a second or so.
const PATIENCE: Duration = Duration::from_secs(30);

fn manager(store: &Path, port_file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manager"));
    command
        .args(["--listen", "127.0.0.1:0", "--port-file"])
        .arg(port_file)
        .arg("--store")
        .arg(format!("sled:{}", store.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// One that runs, and does not outlive its test.
struct Running(Child);

impl Running {
    fn start(store: &Path, folder: &Path) -> Self {
        let port_file = folder.join("port");
        let _ = std::fs::remove_file(&port_file);
        let mut child = manager(store, &port_file).spawn().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !port_file.exists() {
            assert_eq!(child.try_wait().unwrap(), None, "it ended");
            assert!(Instant::now() < deadline, "it does not listen");
            std::thread::yield_now();
        }
        Self(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one that cannot; gives what it said.
fn refused(store: &Path, folder: &Path) -> String {
    let Output { status, stderr, .. } = manager(store, &folder.join("refused")).output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn of_two_managers_on_one_store_the_second_says_so_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let first = Running::start(&store, folder.path());
    let said = refused(&store, folder.path());
    assert!(said.contains("in use by another manager"), "{said}");
    assert!(said.contains(&store.display().to_string()), "{said}");
    drop(first);
    Running::start(&store, folder.path());
}

#[test]
fn a_store_whose_file_is_damaged_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    let log = store.join("db");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.iter_mut().for_each(|byte| *byte ^= 0xff);
    std::fs::write(&log, bytes).unwrap();
    let said = refused(&store, folder.path());
    assert!(said.contains(&log.display().to_string()), "{said}");
    assert!(said.contains("restore a backup"), "{said}");
}

#[test]
fn a_store_whose_file_is_gone_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    std::fs::remove_file(store.join("db")).unwrap();
    let said = refused(&store, folder.path());
    assert!(said.contains("restore a backup"), "{said}");
}

#[test]
fn a_manager_that_is_killed_while_it_opens_its_store_keeps_no_later_one_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    for _ in 0..5 {
        let mut starting = manager(&store, &folder.path().join("starting"))
            .spawn()
            .unwrap();
        starting.kill().unwrap();
        starting.wait().unwrap();
        drop(Running::start(&store, folder.path()));
    }
}
