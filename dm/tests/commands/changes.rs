//! Looking before the leap, and going back: previews, comparisons, commits, rollbacks, stops.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, Person, deployment, operation};

fn missing() -> Value {
    json!({"code": "NOT_FOUND", "message": "there is no deployment 'web'"})
}

fn changes(intent: &str) -> Value {
    json!([{"name": "web", "type": "Deployment", "intent": intent,
        "basis": {"object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}},
        "changes": [{"path": "spec.replicas", "before": 3, "after": 5}]}])
}

fn summary(update: usize, failing: usize) -> Value {
    json!({"create": 0, "update": update, "replace": 0, "delete": 0, "acquire": 0, "abandon": 0, "unchanged": 2, "failing": failing})
}

fn manifest(name: &str, replicas: u32) -> Value {
    json!({"name": name, "deployment": "web", "createdAt": "2026-01-01T00:00:00Z",
    "inputConfig": {"content": ""}, "layout": {"resources": []},
    "digests": {"input": "", "resolvedTypes": "", "expansion": ""},
    "expandedConfig": {"resources": [
        {"name": "web", "type": "Deployment", "properties": {"spec": {"replicas": replicas}}},
    ]}})
}

fn preview() -> Value {
    let mut manifest = manifest("m-2", 5);
    manifest["preview"] = json!({"base": "m-1", "policies": {}, "summary": summary(1, 0), "resources": changes("UPDATE")});
    manifest
}

fn refused(code: &str) -> Value {
    let mut operation = operation("UPDATE", "DONE");
    operation["error"] =
        json!({"code": code, "message": "it would delete 4 of the 5 objects of web"});
    operation
}

#[actix_web::test]
async fn every_write_that_can_name_a_service_account_does_so_by_the_same_flag() {
    let created = &["POST /deployments", "POST /deployments?preview=true"][..];
    let updated = &["PUT /deployments/web", "PUT /deployments/web?preview=true"][..];
    for (args, there, expected) in [
        (&["deploy", "t:v1"][..], false, created),
        (&["preview", "t:v1"], false, created),
        (&["update", "t:v1"], true, updated),
        (&["preview", "t:v1"], true, updated),
        (&["diff", "t:v1"], true, &["POST /deployments/web/diff"]),
    ] {
        let got = match there {
            true => (200, deployment("Deployed", &[])),
            false => (404, missing()),
        };
        for (account, sent) in [("robot", json!("robot")), ("", Value::Null)] {
            let manager = Manager::start(&[("GET /deployments/web", got.0, got.1.clone())]);
            let flags = ["--name", "web", "--service-account", account];
            manager.dm(&[args, &flags].concat()).await;
            let asked = manager.asked();
            let write = asked
                .iter()
                .find(|request| expected.contains(&request.asked.as_str()));
            let body = &write.unwrap_or_else(|| panic!("{args:?}: {asked:?}")).body;
            assert_eq!(body.get("serviceAccount").unwrap_or(&Value::Null), &sent);
            // A removal is sent only if there is something to remove.
            assert_eq!(
                body.get("serviceAccount").is_some(),
                there || !account.is_empty(),
                "{args:?} {body}"
            );
        }
    }
}

#[actix_web::test]
async fn a_preview_of_what_is_not_there_yet_is_a_create_and_says_how_to_go_on() {
    let manager = Manager::start(&[
        ("GET /deployments/web", 404, missing()),
        (
            "POST /deployments?preview=true",
            202,
            operation("PREVIEW", "DONE"),
        ),
        ("GET /deployments/web/preview", 200, preview()),
    ]);
    let said = manager.dm(&["preview", "t:v1", "--name", "web"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    insta::assert_snapshot!(said.stdout, @r"
    ~ update   Deployment shop/web
        ~ spec.replicas: 3 → 5
    1 to update, 2 unchanged
    apply it:  dm update web --commit m-2
    forget it: dm preview web --drop
    ");
}

#[actix_web::test]
async fn a_preview_of_what_is_there_is_an_update_with_the_policies_of_the_request() {
    let put =
        "PUT /deployments/web?preview=true&createPolicy=CREATE_OR_ACQUIRE&conflictPolicy=TAKE";
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        (put, 202, operation("PREVIEW", "DONE")),
        ("GET /deployments/web/preview", 200, preview()),
    ]);
    let policies = [
        "--create-policy",
        "create-or-acquire",
        "--conflict-policy",
        "TAKE",
    ];
    for command in ["preview", "update"] {
        let args = [&[command, "t:v1", "--name", "web"], &policies[..]].concat();
        let preview = if command == "update" {
            &["--preview"][..]
        } else {
            &[]
        };
        let said = manager.dm(&[&args, preview].concat()).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
    }
}

#[actix_web::test]
async fn a_preview_that_would_fail_ends_as_a_failure() {
    let mut failing = preview();
    failing["preview"]["summary"] = summary(1, 1);
    let manager = Manager::start(&[("GET /deployments/web/preview", 200, failing)]);
    let said = manager.dm(&["preview", "web"]).await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    assert!(said.stderr.contains("one resource would fail"), "{said:?}");
}

#[actix_web::test]
async fn a_preview_can_be_looked_at_again_and_dropped() {
    let manager = Manager::start(&[
        ("GET /deployments/web/preview", 200, preview()),
        (
            "DELETE /deployments/web/preview",
            200,
            deployment("Deployed", &[]),
        ),
    ]);
    let said = manager.dm(&["preview", "web"]).await;
    assert!(said.stdout.contains("spec.replicas: 3 → 5"), "{said:?}");
    let said = manager.dm(&["preview", "web", "--drop"]).await;
    assert_eq!(said.stdout, "the preview of web is dropped\n");
}

#[actix_web::test]
async fn a_commit_names_the_preview_and_nothing_else() {
    let mut previewed = deployment("Deployed", &[]);
    previewed["preview"] = json!("m-2");
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, previewed),
        ("PUT /deployments/web", 202, operation("UPDATE", "DONE")),
    ]);
    for args in [
        &["update", "web", "--commit"][..],
        &["update", "web", "--commit", "m-2"],
    ] {
        let said = manager.dm(args).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
    }
    let asked = manager.asked();
    let bodies: Vec<_> = asked
        .iter()
        .filter(|request| request.asked.starts_with("PUT"))
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(
        bodies,
        [json!({"manifest": "m-2"}), json!({"manifest": "m-2"})]
    );
    let said = manager
        .dm(&["update", "web", "more.yaml", "--commit", "m-2"])
        .await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
}

#[actix_web::test]
async fn diff_ends_like_diff() {
    let diff = |update, failing, intent| json!({"summary": summary(update, failing), "resources": changes(intent)});
    let post = "POST /deployments/web/diff";
    let bad = json!({"code": "INVALID_CONFIGURATION", "message": "no"});
    for (status, answer, expected) in [
        (200, diff(0, 0, "NONE"), ExitCode::Done),
        (200, diff(1, 0, "UPDATE"), ExitCode::Failed),
        (200, diff(1, 1, "UPDATE"), ExitCode::Usage),
        (400, bad, ExitCode::Usage),
        (404, missing(), ExitCode::NotFound),
    ] {
        let manager = Manager::start(&[(post, status, answer)]);
        let said = manager.dm(&["diff", "t:v1", "--name", "web"]).await;
        assert_eq!(said.code, expected, "{said:?}");
    }
}

#[actix_web::test]
async fn diff_with_a_name_compares_the_cluster_with_a_manifest() {
    let same = json!({"summary": summary(0, 0), "resources": []});
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        ("POST /deployments/web/diff", 200, same),
    ]);
    for (args, expected) in [
        (&["diff", "web"][..], "m-1"),
        (&["diff", "web", "m-0"], "m-0"),
    ] {
        let said = manager.dm(args).await;
        assert_eq!(said.stdout, "2 unchanged\n", "{said:?}");
        let asked = manager.asked();
        assert_eq!(asked.last().unwrap().body, json!({"manifest": expected}));
    }
}

#[actix_web::test]
async fn rollback_finds_the_manifest_that_was_deployed_before() {
    let ended = |kind: &str, manifest: &str, error: Value| {
        let mut operation = operation(kind, "DONE");
        operation["manifest"] = json!(manifest);
        operation["endTime"] = json!("2026-01-01T00:00:01Z");
        operation["error"] = error;
        operation
    };
    let failure = json!({"code": "RESOURCES_FAILED", "message": "no"});
    let operations = json!({"items": [
        ended("UPDATE", "m-1", Value::Null),
        ended("PREVIEW", "m-0c", Value::Null),
        ended("UPDATE", "m-0b", failure),
        ended("CREATE", "m-0a", Value::Null),
    ]});
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        ("GET /operations?limit=1000&deployment=web", 200, operations),
        (
            "POST /deployments/web/rollback?allowDeletes=true&hooks=false",
            202,
            operation("ROLLBACK", "DONE"),
        ),
        (
            "GET /deployments/web/manifests?limit=1000",
            200,
            json!({"items": [{"name": "m-0a", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z",
                "revision": 2, "templates": ["site:v2.0.0"]}]}),
        ),
    ]);
    let rollback = ["rollback", "web", "--allow-deletes", "--no-hooks"];
    let said = manager.dm(&rollback).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let sentence = "rolled back to revision 2 (site:v2.0.0)";
    assert!(said.stderr.contains(sentence), "{said:?}");
    let asked = manager.asked();
    let rollback = asked
        .iter()
        .find(|request| request.asked.starts_with("POST"));
    assert_eq!(rollback.unwrap().body, json!({"manifest": "m-0a"}));
}

#[actix_web::test]
async fn mass_deletion_is_asked_for_at_a_terminal_only() {
    let manager = Manager::start(&[
        ("PUT /deployments/web", 202, refused("DELETES_NOT_ALLOWED")),
        (
            "PUT /deployments/web?allowDeletes=true",
            202,
            operation("UPDATE", "DONE"),
        ),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let update = ["update", "t:v1", "--name", "web"];
    let said = manager.dm(&update).await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    assert!(said.stderr.contains("--allow-deletes"), "{said:?}");
    for (answer, expected) in [
        ("y\n", ExitCode::Done),
        ("\n", ExitCode::Failed),
        ("", ExitCode::Failed),
    ] {
        let said = manager.dm_with(&update, Person::Answers(answer)).await;
        assert_eq!(said.code, expected, "{said:?}");
        assert!(said.stderr.contains("4 of the 5 objects"), "{said:?}");
    }
    let said = manager
        .dm(&[&update[..], &["--allow-deletes"]].concat())
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
}

#[actix_web::test]
async fn a_failed_write_that_went_back_says_so() {
    let mut failed = refused("RESOURCES_FAILED");
    failed["rollback"] = json!({"to": "m-1", "manifest": "m-3"});
    let manager = Manager::start(&[("PUT /deployments/web?rollbackOnFailure=true", 202, failed)]);
    let args = ["update", "t:v1", "--name", "web", "--rollback-on-failure"];
    let said = manager.dm(&args).await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    assert!(
        said.stderr.contains("web failed and went back to m-1"),
        "{said:?}"
    );
}

#[actix_web::test]
async fn stopping_ends_with_the_operation_that_it_stopped() {
    let manager = Manager::start(&[
        (
            "POST /deployments/web/stop",
            200,
            operation("UPDATE", "RUNNING"),
        ),
        ("GET /operations/op-1", 200, refused("OPERATION_STOPPED")),
        (
            "POST /operations/op-1/cancel",
            200,
            refused("OPERATION_STOPPED"),
        ),
    ]);
    for args in [["stop", "web"], ["cancel", "op-1"]] {
        let said = manager.dm(&args).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
        assert!(
            said.stdout
                .contains("operation op-1 is stopped; nothing was undone"),
            "{said:?}"
        );
    }
}

#[actix_web::test]
async fn manifests_are_compared_without_the_cluster() {
    let compared = |from: &str, summary: Value| json!({"from": from, "to": "m-1", "sameInput": false, "summary": summary, "resources": changes("UPDATE")});
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        (
            "GET /deployments/web/manifests/m-1/diff?from=m-0",
            200,
            compared("m-0", summary(1, 0)),
        ),
        (
            "GET /deployments/web/manifests/m-1/diff?from=m-1",
            200,
            compared("m-1", summary(0, 0)),
        ),
    ]);
    let said = manager.dm(&["manifest", "diff", "web", "m-0"]).await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    insta::assert_snapshot!(said.stdout, @r"
    ~ update   Deployment shop/web
        ~ spec.replicas: 3 → 5
    1 to update, 2 unchanged: from m-0 to m-1
    ");
    let said = manager.dm(&["manifest", "diff", "web", "m-1", "m-1"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let said = manager.dm(&["manifest", "diff", "web", "m-9"]).await;
    assert_eq!(said.code, ExitCode::NotFound, "{said:?}");
}

#[actix_web::test]
async fn a_graph_is_a_tree_or_dot_and_nothing_else_is_dot() {
    let graph = json!({"nodes": [], "edges": []});
    let manager = Manager::start(&[("GET /deployments/web/graph", 200, graph)]);
    let said = manager.dm(&["status", "web", "--graph", "-o", "dot"]).await;
    assert!(said.stdout.starts_with("digraph"), "{said:?}");
    for args in [&["list"][..], &["status", "web"], &["delete", "web"]] {
        let said = manager.dm(&[args, &["-o", "dot"]].concat()).await;
        assert_eq!(said.code, ExitCode::Usage, "{said:?}");
    }
    assert_eq!(manager.asked().len(), 1);
}

#[actix_web::test]
async fn a_store_is_backed_up_verified_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.backup").display().to_string();
    let problem = json!({"key": "deployments/web", "message": "its manifest is missing"});
    let manager = Manager::start(&[
        ("GET /admin/backup", 200, json!("the store")),
        (
            "POST /admin/restore",
            200,
            json!({"entries": 7, "resumed": 1}),
        ),
        (
            "GET /admin/verify",
            200,
            json!({"ok": false, "checked": {"deployments": 1}, "problems": [problem], "further": 0}),
        ),
    ]);
    let said = manager.dm(&["admin", "backup", &file]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\"the store\"");
    let said = manager.dm(&["admin", "backup", &file]).await;
    assert_eq!(
        said.code,
        ExitCode::Failed,
        "it is not overwritten: {said:?}"
    );
    let said = manager.dm(&["admin", "restore", &file]).await;
    assert_eq!(
        said.stdout,
        "7 entries are restored; 1 unfinished operations continue\n"
    );
    assert_eq!(manager.asked().last().unwrap().body, json!("the store"));
    let said = manager.dm(&["admin", "verify"]).await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    assert!(
        said.stdout
            .contains("deployments/web: its manifest is missing"),
        "{said:?}"
    );
}
