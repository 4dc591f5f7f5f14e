//! What `dm` does without a manager. `dm expand --local`: the program that it takes, what it asks of it, and what it makes of the answer.
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

/// One test at a time: a file that is being written cannot be run, and a process that another test starts meanwhile
/// would hold it open for writing.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with `dm` in it, a configuration, and beside `dm` the program that a script stands in for.
fn installed(stand_in: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::copy(env!("CARGO_BIN_EXE_dm"), at.join("dm")).unwrap();
    let config = "imports: [{path: t.jinja}]\nresources: [{name: a, type: t.jinja}]\n";
    std::fs::write(at.join("web.yaml"), config).unwrap();
    std::fs::write(at.join("t.jinja"), "resources: []").unwrap();
    if let Some(script) = stand_in {
        let program = at.join("expandybird");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// With a manager that is not there: nobody may ask for it.
fn dm(folder: &Path, args: &[&str]) -> Output {
    Command::new(folder.join("dm"))
        .args([
            "--service",
            "http://127.0.0.1:1",
            "expand",
            "web.yaml",
            "--local",
        ])
        .args(args)
        .current_dir(folder)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_program_beside_dm_is_asked_as_the_service_would_be_and_its_answer_shown() {
    let _alone = alone();
    let answer = json!({"config": {"resources": [{"name": "p", "type": "Pod"}]}, "layout": {"resources": []}, "warnings": ["mind"]});
    let script = format!("echo \"$@\" > args; cat > asked; echo '{answer}'");
    let folder = installed(Some(&script));
    let output = dm(folder.path(), &["--namespace", "shop"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "resources:\n- name: p\n  type: Pod\n"
    );
    assert_eq!(stderr(&output), "warning: mind\n");
    let args = std::fs::read_to_string(folder.path().join("args")).unwrap();
    assert_eq!(args, "expand --request\n");
    let asked: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("asked")).unwrap()).unwrap();
    assert_eq!(asked["name"], "web");
    assert_eq!(asked["imports"][0]["name"], "t.jinja");
    let env = &asked["env"];
    assert_eq!(
        (&env["deployment"], &env["namespace"], &env["project"]),
        (&json!("web"), &json!("shop"), &json!("shop"))
    );
}

#[test]
fn what_the_program_refuses_is_told_as_if_a_service_had() {
    let _alone = alone();
    let error = json!({"code": "INVALID_CONFIGURATION", "message": "Resource does not have a name.", "location": {"file": "web", "line": 2, "column": 1}});
    let folder = installed(Some(&format!("cat > /dev/null; echo '{error}'; exit 1")));
    let output = dm(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    let reported = stderr(&output);
    assert!(
        reported.contains("expanding web.yaml: Resource does not have a name."),
        "{reported}"
    );
    assert!(reported.contains("at web.yaml:2:1"), "{reported}");
}

#[test]
fn a_misspelled_template_is_an_error_and_the_nearest_import_is_named() {
    let _alone = alone();
    let answer = json!({"config": {"resources": [{"name": "a", "type": "tt.jinja"}]}, "layout": {"resources": []}, "unresolved": ["tt.jinja"]});
    let folder = installed(Some(&format!("cat > /dev/null; echo '{answer}'")));
    let output = dm(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("type 'tt.jinja'")
            && stderr(&output).contains("did you mean 't.jinja'?"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_program_that_is_missing_or_fails_is_named() {
    let _alone = alone();
    let missing = dm(installed(None).path(), &[]);
    assert_eq!(missing.status.code(), Some(5));
    let reported = stderr(&missing);
    assert!(
        reported.contains("program expandybird") && reported.contains("PATH"),
        "{reported}"
    );

    let failing = dm(installed(Some("echo broken >&2; exit 3")).path(), &[]);
    assert_eq!(failing.status.code(), Some(5));
    let reported = stderr(&failing);
    assert!(
        reported.contains("exit status: 3") && reported.contains("broken"),
        "{reported}"
    );
}

#[test]
fn what_asks_no_manager_needs_no_certificate_authorities() {
    let _alone = alone();
    let answer = json!({"config": {"resources": []}, "layout": {"resources": []}});
    let folder = installed(Some(&format!("cat > /dev/null; echo '{answer}'")));
    for args in [
        &["version"][..],
        &["--version"],
        &["completion", "bash"],
        &["expand", "web.yaml", "--local"],
    ] {
        let output = Command::new(folder.path().join("dm"))
            .args(args)
            .current_dir(folder.path())
            .env("DM_SERVICE", "https://manager.example")
            .env("SSL_CERT_FILE", "/nonexistent")
            .env("SSL_CERT_DIR", "/nonexistent")
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(!output.stdout.is_empty(), "{args:?}");
    }
}
