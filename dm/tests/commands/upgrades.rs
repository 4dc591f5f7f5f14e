//! What a template's new version would change, and rolling it out.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, operation};

const WHATIF: &str = "POST /templates/whatif?limit=100&full=false";

fn item(name: &str, outcome: &str) -> Value {
    let summary = json!({"create": 0, "update": 1, "replace": 0, "delete": 0, "acquire": 0, "abandon": 0, "unchanged": 0, "failing": 0});
    let used =
        json!({"type": "t:v1", "version": "v1.0.1", "path": "$.resources[0]", "to": "t:v1.1"});
    json!({"deployment": name, "outcome": outcome, "uses": [used], "summary": summary,
        "may": {"upgrade": {"allowed": true}}})
}

fn found(items: &[(&str, &str)]) -> Value {
    let items: Vec<_> = items
        .iter()
        .map(|(name, outcome)| item(name, outcome))
        .collect();
    let template =
        json!({"type": "t:v1.1", "version": "v1.1", "url": "file:t", "sha256": "sha256:0"});
    json!({"template": template, "items": items})
}

fn upgrade(name: &str) -> String {
    format!("POST /deployments/{name}/upgrade")
}

/// The deployments that were asked to be upgraded.
fn begun(manager: &Manager) -> Vec<String> {
    let asked = manager.asked().into_iter();
    let begun = asked.filter_map(|request| {
        let path = request.asked.strip_prefix("POST /deployments/")?;
        Some(path.split('/').next()?.to_owned())
    });
    let mut begun: Vec<_> = begun.collect();
    begun.sort();
    begun
}

fn manager(items: &[(&str, &str)]) -> Manager {
    let mut failed = operation("UPDATE", "DONE");
    failed["error"] =
        json!({"code": "RESOURCES_FAILED", "message": "the cluster says no\n4 | a: b\n  | ^"});
    let whatif = (WHATIF.to_owned(), 200, found(items));
    let failing = items
        .iter()
        .map(|(name, _)| (upgrade(name), 202, failed.clone()));
    let answers: Vec<_> = std::iter::once(whatif).chain(failing).collect();
    let answers: Vec<_> = answers
        .iter()
        .map(|(asked, status, body)| (asked.as_str(), *status, body.clone()))
        .collect();
    Manager::start(&answers)
}

const ALL: [(&str, &str); 5] = [
    ("a", "CURRENT"),
    ("b", "CHANGED"),
    ("c", "UNFINISHED"),
    ("d", "UNCHANGED"),
    ("e", "CHANGED"),
];

#[actix_web::test]
async fn no_more_are_begun_than_were_asked_for_and_none_after_a_failure() {
    for (at_once, expected) in [
        ("1", &["b"][..]),
        ("2", &["b", "c"]),
        ("9", &["b", "c", "d", "e"]),
    ] {
        let manager = manager(&ALL);
        let args = ["upgrade", "--template", "t:v1.1", "--at-once", at_once];
        let said = manager.dm(&args).await;
        assert_eq!(said.code, ExitCode::Failed, "{said:?}");
        assert_eq!(begun(&manager), expected, "{said:?}");
    }
}

#[actix_web::test]
async fn what_is_done_and_what_is_not_is_said() {
    let manager = manager(&ALL);
    let said = manager
        .dm(&["upgrade", "--template", "t:v1.1", "--at-once", "1"])
        .await;
    insta::assert_snapshot!(said.stdout, @r"
    DEPLOYMENT  UPGRADE         REASON
    a           has it already
    b           FAILED          the cluster says no
    c           not begun
    d           not begun
    e           not begun
    ");
    assert!(said.stderr.contains("[1/4] b FAILED\n"), "{said:?}");
}

#[actix_web::test]
async fn a_dry_run_and_a_what_if_begin_nothing() {
    let manager = manager(&ALL);
    let shown = manager.dm(&["whatif", "t:v1.1"]).await;
    assert_eq!(shown.code, ExitCode::Done, "{shown:?}");
    insta::assert_snapshot!(shown.stdout, @r"
    DEPLOYMENT  HAS     WHAT WOULD CHANGE
    a           v1.0.1  nothing: it has this version
    b           v1.0.1  1 changed
    c           v1.0.1  nothing: it has this version, but its last operation failed
    d           v1.0.1  nothing: it expands to the same objects
    e           v1.0.1  1 changed
    ");
    let dry = ["upgrade", "--template", "t:v1.1", "--dry-run"];
    assert_eq!(manager.dm(&dry).await.stdout, shown.stdout);
    assert!(begun(&manager).is_empty());
}
