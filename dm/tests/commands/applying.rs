//! `apply`, which creates or updates; and the numbered revisions to go back to.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, deployment, operation};

fn missing() -> Value {
    json!({"code": "NOT_FOUND", "message": "there is no deployment 'web'"})
}

fn writes(manager: &Manager) -> Vec<String> {
    let asked = manager.asked().into_iter();
    let writes = asked.filter(|request| !request.asked.starts_with("GET"));
    writes.map(|request| request.asked).collect()
}

#[actix_web::test]
async fn what_is_not_there_is_created_and_what_is_there_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.yaml");
    std::fs::write(&file, "resources: []\n").unwrap();
    let file = file.display().to_string();
    let there = deployment("Failed", &["web: no image"]);
    for (found, expected) in [
        ((404, missing()), "POST /deployments?createNamespace=true"),
        ((200, there), "PUT /deployments/web?createNamespace=true"),
    ] {
        let manager = Manager::start(&[
            ("GET /deployments/web", found.0, found.1),
            (
                "POST /deployments?createNamespace=true",
                202,
                operation("CREATE", "RUNNING"),
            ),
            (
                "PUT /deployments/web?createNamespace=true",
                202,
                operation("UPDATE", "RUNNING"),
            ),
        ]);
        let args = [
            "apply",
            "-f",
            &file,
            "-n",
            "default",
            "--create-namespace",
            "--async",
        ];
        let said = manager.dm(&args).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
        assert_eq!(writes(&manager), [expected]);
    }
}

#[actix_web::test]
async fn a_deployment_does_not_move_to_another_namespace() {
    let manager = Manager::start(&[("GET /deployments/web", 200, deployment("Deployed", &[]))]);
    let said = manager
        .dm(&["apply", "t:v1", "--name", "web", "-n", "shop"])
        .await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
    assert!(said.stderr.contains("cannot move to shop"), "{said:?}");
    assert!(writes(&manager).is_empty());
}

#[actix_web::test]
async fn the_dry_run_before_the_first_write_and_hooks_can_be_left_out() {
    let manager = Manager::start(&[
        ("GET /deployments/web", 404, missing()),
        (
            "POST /deployments?preflight=false&hooks=false",
            202,
            operation("CREATE", "RUNNING"),
        ),
    ]);
    let said = manager
        .dm(&[
            "apply",
            "t:v1",
            "--name",
            "web",
            "--no-preflight",
            "--no-hooks",
            "--async",
        ])
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
}

#[actix_web::test]
async fn a_revision_is_gone_back_to_by_its_number() {
    let manifest = |name: &str, revision: u64| json!({"name": name, "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "revision": revision});
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        (
            "GET /deployments/web/manifests?limit=1000",
            200,
            json!({"items": [manifest("m-0", 3), manifest("m-1", 4)]}),
        ),
        (
            "GET /operations?limit=1000&deployment=web",
            200,
            json!({"items": []}),
        ),
        (
            "POST /deployments/web/rollback",
            202,
            operation("ROLLBACK", "RUNNING"),
        ),
    ]);
    let said = manager.dm(&["rollback", "web", "3", "--async"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(
        manager.asked().last().unwrap().body,
        json!({"manifest": "m-0"})
    );
    let said = manager.dm(&["rollback", "web", "1"]).await;
    assert_eq!(said.code, ExitCode::NotFound, "{said:?}");
    assert!(said.stderr.contains("dm history web"), "{said:?}");
    let said = manager.dm(&["history", "web", "-o", "json"]).await;
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(shown["items"][1]["revision"], 4, "{said:?}");
    assert_eq!(shown["items"][1]["state"], "DEPLOYED", "{said:?}");
}

#[actix_web::test]
async fn parts_of_a_deployment_are_shown_alone() {
    let mut web = deployment("Deployed", &[]);
    web["outputs"] = json!([{"name": "url", "value": "http://web"}]);
    web["notes"] = json!("Open http://web\nand sign in.");
    web["warnings"] = json!(["nobody checks for drift"]);
    let manager = Manager::start(&[
        ("GET /deployments/web", 200, web),
        (
            "GET /deployments/web/manifests/m-1",
            200,
            json!({"name": "m-1", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z",
                "inputConfig": {"content": "resources: [{name: web, type: t:v1, properties: {replicas: 3}}]"},
                "layout": {"resources": []}, "expandedConfig": {"resources": []},
                "digests": {"input": "", "resolvedTypes": "", "expansion": ""}}),
        ),
    ]);
    for (part, expected) in [
        ("properties", "replicas: 3\n"),
        ("outputs", "Output:      url = http://web\n"),
        ("notes", "Open http://web\nand sign in.\n"),
    ] {
        let said = manager.dm(&["get", "web", part]).await;
        assert_eq!(said.stdout, expected, "{said:?}");
    }
    let said = manager.dm(&["describe", "deployment", "web"]).await;
    assert!(said.stderr.contains("nobody checks for drift"), "{said:?}");
    assert!(said.stdout.contains("Status:      Deployed"), "{said:?}");
}
