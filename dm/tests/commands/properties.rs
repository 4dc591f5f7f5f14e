//! Changing some properties and keeping the rest; replacing all of them knowingly.

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, Person, deployment, operation};

fn put(manager: &Manager) -> Vec<Value> {
    let asked = manager.asked().into_iter();
    let puts = asked.filter(|request| request.asked.starts_with("PUT"));
    puts.map(|request| request.body).collect()
}

fn manifest(content: &str) -> Value {
    json!({"name": "m-1", "deployment": "web", "createdAt": "2026-01-01T00:00:00Z",
        "inputConfig": {"content": content}, "layout": {"resources": []}, "expandedConfig": {"resources": []},
        "digests": {"input": "", "resolvedTypes": "", "expansion": ""}})
}

const WEB: &str = "resources: [{name: web, type: t:v1, properties: {replicas: 3, config: {greeting: hi}, password: (redacted)}}]";

fn with_web() -> Manager {
    Manager::start(&[
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
        ("GET /deployments/web/manifests/m-1", 200, manifest(WEB)),
        ("PUT /deployments/web", 202, operation("UPDATE", "DONE")),
    ])
}

#[actix_web::test]
async fn a_name_with_properties_changes_these_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let values = folder.path().join("values.yaml");
    std::fs::write(&values, "config: {greeting: hello}\n").unwrap();
    let values = values.display().to_string();
    let manager = with_web();
    for args in [
        &["update", "web"][..],
        &["update", "web", "--set", "replicas=5,config.greeting=null"],
        &["update", "web", "--properties", "replicas=5"],
        &["update", "web", "--values", &values, "--set", "replicas=1"],
        &["update", "web", "-f", &values, "--reset-properties"],
    ] {
        let said = manager.dm(args).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
    }
    assert_eq!(
        put(&manager),
        [
            json!({"properties": {}}),
            json!({"properties": {"replicas": 5, "config": {"greeting": null}}}),
            json!({"properties": {"replicas": 5}}),
            json!({"properties": {"replicas": 1, "config": {"greeting": "hello"}}}),
            json!({"properties": {"config": {"greeting": "hello"}}, "resetProperties": true}),
        ]
    );
}

#[actix_web::test]
async fn a_replacement_shows_what_it_drops_and_asks_at_a_terminal() {
    let manager = with_web();
    let args = ["update", "t:v1", "--name", "web", "--set", "replicas=5"];
    for (answer, expected) in [("y\n", ExitCode::Done), ("n\n", ExitCode::Failed)] {
        let said = manager.dm_with(&args, Person::Answers(answer)).await;
        assert_eq!(said.code, expected, "{said:?}");
        assert!(said.stderr.contains("config, password"), "{said:?}");
    }
    assert_eq!(put(&manager).len(), 1);
    // A script is not asked, and its log says what went.
    let said = manager.dm(&args).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert!(said.stderr.contains("config, password"), "{said:?}");
    let said = manager
        .dm(&[&args[..], &["--reset-properties"]].concat())
        .await;
    assert!(!said.stderr.contains("password"), "{said:?}");
    let whole = [
        "update",
        "t:v1",
        "--name",
        "web",
        "--set",
        "replicas=5,config.greeting=a,password=b",
    ];
    let said = manager.dm(&whole).await;
    assert!(!said.stderr.contains("drops"), "{said:?}");
}

#[actix_web::test]
async fn other_properties_can_be_compared_and_previewed() {
    let summary = json!({"create": 0, "update": 0, "replace": 0, "delete": 0, "acquire": 0, "abandon": 0, "unchanged": 2, "failing": 0});
    let same = json!({"summary": summary, "resources": []});
    let manager = Manager::start(&[
        ("POST /deployments/web/diff", 200, same),
        (
            "PUT /deployments/web?preview=true",
            202,
            operation("PREVIEW", "RUNNING"),
        ),
    ]);
    let properties = json!({"properties": {"replicas": 5}});
    for args in [
        &["diff", "web", "--set", "replicas=5"][..],
        &["update", "web", "--set", "replicas=5", "--dry-run"],
        &["update", "web", "--set", "replicas=5", "--dry-run=server"],
        &["preview", "web", "--set", "replicas=5", "--async"],
    ] {
        let said = manager.dm(args).await;
        assert_eq!(said.code, ExitCode::Done, "{args:?}: {said:?}");
        assert_eq!(manager.asked().last().unwrap().body, properties);
    }
}
