//! `-o`: every command writes what it found in the same formats.

use dm::ExitCode;
use serde_json::json;

use super::stand_in::{Manager, deployment, operation};

fn manager() -> Manager {
    let manifest = json!({"name": "m-1", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "revision": 4});
    let whole = json!({"name": "m-1", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z", "inputConfig": {"content": "resources: []"},
        "expandedConfig": {"resources": []}, "layout": {"resources": []}, "digests": {"input": "", "resolvedTypes": "", "expansion": ""}});
    let layout = json!({"resources": [{"name": "pods", "type": "Deployment", "properties": {}, "resources": []}]});
    let resources = json!({"items": [
        {"resource": "pods", "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "uid": "1", "state": "READY"},
        {"resource": "service", "apiVersion": "v1", "kind": "Service", "namespace": "shop", "name": "web", "uid": "2", "state": "READY"},
    ]});
    let all = |items| json!({ "items": items });
    Manager::start(&[
        (
            "GET /deployments?limit=1000",
            200,
            all(json!([deployment("Deployed", &[])])),
        ),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        ("GET /deployments/web/resources?limit=5000", 200, resources),
        (
            "GET /deployments/web/manifests?limit=1000",
            200,
            all(json!([manifest])),
        ),
        ("GET /deployments/web/manifests/m-1", 200, whole),
        ("GET /deployments/web/manifests/m-1/layout", 200, layout),
        (
            "GET /operations?limit=1000&deployment=web",
            200,
            all(json!([operation("CREATE", "DONE")])),
        ),
        (
            "GET /operations?limit=1000",
            200,
            all(json!([operation("CREATE", "DONE")])),
        ),
    ])
}

#[actix_web::test]
async fn every_command_writes_names_and_what_an_expression_finds() {
    let manager = manager();
    for (args, names, path, found) in [
        (&["list"][..], "web\n", "{.items[*].name}", "web"),
        (&["get", "web"], "web\n", "{.state.status}", "Deployed"),
        (
            &["status", "web"],
            "deployment.apps/web\nservice/web\n",
            "{.items[*].resource}",
            "pods service",
        ),
        (&["manifest", "web"], "m-1\n", "{.deployment}", "web"),
        (
            &["layout", "web"],
            "pods\n",
            "{.resources[0].type}",
            "Deployment",
        ),
        (&["history", "web"], "4\n", "{.items[-1:].manifest}", "m-1"),
        (&["operations"], "op-1\n", "{.items[0].status}", "DONE"),
    ] {
        let run = async |output: String| {
            let said = manager.dm(&[args, &["-o", &output]].concat()).await;
            assert_eq!(said.code, ExitCode::Done, "{args:?} {output}: {said:?}");
            said.stdout
        };
        assert_eq!(run("name".to_owned()).await, names, "{args:?}");
        assert_eq!(run(format!("jsonpath={path}")).await, found, "{args:?}");
        let template = "go-template={{printf \"%T\" .}}".to_owned();
        assert_eq!(run(template).await, "map[string]interface {}", "{args:?}");
    }
}

#[actix_web::test]
async fn a_wrong_expression_is_found_before_anything_is_asked() {
    let manager = manager();
    for output in [
        "jsonpath={.items",
        "jsonpath",
        "go-template={{.items",
        "describe",
        "dot",
    ] {
        for args in [&["list"][..], &["delete", "web"]] {
            let said = manager.dm(&[args, &["-o", output]].concat()).await;
            assert_eq!(said.code, ExitCode::Usage, "{args:?} {output}: {said:?}");
        }
    }
    assert_eq!(manager.asked(), []);
}
