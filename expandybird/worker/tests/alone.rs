//! The program alone. The tests of the server's sandbox cover its work for the server.

use std::process::{Command, Stdio};

#[test]
fn started_by_hand_it_says_who_starts_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_expandybird-worker"))
        .stdin(Stdio::null())
        .output()
        .expect("the worker runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("the expandybird service starts this program"),
        "{said}"
    );
}
