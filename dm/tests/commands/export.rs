//! Live objects at the command line: as a list, and as a Template object.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, dm};

fn live() -> Value {
    json!({"items": [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop", "uid": "1"}, "data": {"user": "(redacted)"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 2}, "status": {}},
    ]})
}

#[actix_web::test]
async fn live_objects_are_printed_without_what_their_cluster_has_written() {
    let manager = Manager::start(&[("POST /export", 200, live())]);
    let said = manager
        .dm(&["export", "Secret/db", "Deployment", "-n", "shop"])
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert!(
        said.stderr.contains("the values of Secret db are masked"),
        "{said:?}"
    );
    insta::assert_snapshot!(said.stdout, @r"
    apiVersion: v1
    kind: List
    metadata: {}
    items:
    - apiVersion: v1
      kind: Secret
      metadata:
        name: db
      data:
        user: (redacted)
    - apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 2
    ");
    let objects = json!([{"type": "Secret", "name": "db"}, {"type": "Deployment"}]);
    let body = json!({"namespace": "shop", "objects": objects});
    assert_eq!(manager.asked()[0].body, body);
}

#[actix_web::test]
async fn a_template_of_live_objects_has_parameters() {
    let manager = Manager::start(&[("POST /export", 200, live())]);
    let args = [
        "export",
        "-l",
        "app=web",
        "--as-template",
        "web",
        "--parameterize",
        "-o",
        "json",
    ];
    let said = manager.dm(&args).await;
    let template: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(template["parameters"][0]["name"], "DB_USER");
    assert_eq!(template["parameters"][1]["name"], "WEB_REPLICAS");
    assert_eq!(
        template["objects"][1]["spec"]["replicas"],
        "$((WEB_REPLICAS))"
    );
    let body = &manager.asked()[0].body;
    assert_eq!(body["labelSelector"], "app=web");
    assert!(body["objects"].as_array().unwrap().len() > 10, "{body}");
}

#[actix_web::test]
async fn more_of_an_object_is_kept_on_request() {
    let service = "\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, uid: x, generateName: w-}
spec: {clusterIP: 10.0.0.1, ports: [{port: 80, nodePort: 30000}]}
status: {}
---
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: token}
";
    let ports = json!([{"port": 80}]);
    for (more, metadata, ports, count) in [
        (&[][..], json!({"generateName": "w-"}), ports, 1),
        (
            &["--exact"],
            json!({"name": "web", "namespace": "shop", "generateName": "w-"}),
            json!([{"port": 80, "nodePort": 30000}]),
            1,
        ),
        (
            &["--raw"],
            json!({"name": "web", "namespace": "shop", "uid": "x", "generateName": "w-"}),
            json!([{"port": 80, "nodePort": 30000}]),
            2,
        ),
    ] {
        let args = [&["export", "-f", "-", "-o", "json"][..], more].concat();
        let said = dm(&args, service.as_bytes()).await;
        let found: Value = serde_json::from_str(&said.stdout).unwrap();
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), count, "{more:?}");
        assert_eq!(items[0]["metadata"], metadata, "{more:?}");
        assert_eq!(items[0]["spec"]["ports"], ports, "{more:?}");
        let is_raw = more.contains(&"--raw");
        assert_eq!(items[0].get("status").is_some(), is_raw, "{more:?}");
    }
}

#[actix_web::test]
async fn an_export_needs_something_to_export() {
    let manager = Manager::start(&[("POST /export", 200, json!({"items": []}))]);
    for args in [
        &["export"][..],
        &["export", "Service", "--exact", "--raw"],
        &["export", "Service", "--parameterize"],
        &["export", "Service", "--raw", "--as-template", "web"],
    ] {
        assert_eq!(manager.dm(args).await.code, ExitCode::Usage, "{args:?}");
    }
    let said = manager.dm(&["export", "Service"]).await;
    assert_eq!(said.code, ExitCode::NotFound, "{said:?}");
    assert!(
        said.stderr
            .contains("no resources found - nothing to export"),
        "{said:?}"
    );
}

#[actix_web::test]
async fn objects_of_files_are_exported_without_a_manager() {
    let list = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: db, uid: x}, data: {user: cm9vdA==}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}, status: {}}
";
    let said = dm(&["export", "-f", "-", "-o", "json"], list.as_bytes()).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(said.stderr, "", "its values are not masked");
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(found["items"][0]["data"]["user"], "cm9vdA==");
    let expected = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}});
    assert_eq!(found["items"][1], expected);
    let args = ["export", "-f", "-", "--as-template", "web", "-o", "json"];
    let said = dm(&args, list.as_bytes()).await;
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&found["kind"], &found["objects"][1]),
        (&json!("Template"), &expected)
    );
    for (args, reason) in [
        (
            &["export", "-f", "-", "Deployment"][..],
            "cannot be used with",
        ),
        (&["export", "-f", "/none.yaml"], "cannot be read"),
    ] {
        let said = dm(args, b"").await;
        assert!(said.stderr.contains(reason), "{said:?}");
    }
    let said = dm(&["export", "-f", "-"], b"kind: Pod").await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    assert!(said.stderr.contains("it has no apiVersion"), "{said:?}");
}
