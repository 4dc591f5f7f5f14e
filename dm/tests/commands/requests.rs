//! What `run` asks of the manager, and how it ends.

use std::path::Path;

use dm::ExitCode;
use serde_json::{Value, json};

use crate::stand_in::{Manager, deployment, dm, operation};

fn failed(error: Value) -> Value {
    let mut operation = operation("CREATE", "DONE");
    operation["error"] = error;
    operation
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

#[actix_web::test]
async fn a_template_is_deployed_as_a_configuration_of_one_resource_and_followed() {
    let manager = Manager::start(&[
        (
            "POST /deployments?timeoutMs=90000",
            202,
            operation("CREATE", "RUNNING"),
        ),
        ("GET /operations/op-1", 200, operation("CREATE", "DONE")),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let args = [
        "--properties",
        "replicas=3,a.b=x",
        "deploy",
        "replicatedservice:v1",
        "--name",
        "web",
        "--namespace",
        "shop",
        "--label",
        "team=a",
        "--timeout",
        "90s",
    ];
    let said = manager.dm(&args).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(said.stdout, "web is Deployed\n");
    assert_eq!(said.stderr, "create web: applying\n");
    let asked = &manager.asked()[0];
    assert_eq!(asked.prefer.as_deref(), Some("respond-async"));
    insta::assert_json_snapshot!(asked.body);
}

#[actix_web::test]
async fn a_file_is_sent_with_its_imports_and_an_update_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "t.py",
        "def GenerateConfig(context): return {}\n",
    );
    write(folder.path(), "t.py.schema", "required: [size]\n");
    let config = write(folder.path(), "web.yaml", "imports: [{path: t.py}]\n");
    let manager = Manager::start(&[
        ("PUT /deployments/web", 202, operation("UPDATE", "DONE")),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let said = manager.dm(&["update", &config, "-o", "json"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let shown: Value = serde_json::from_str(&said.stdout).unwrap();
    for (field, value) in deployment("Deployed", &[]).as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
    assert_eq!(
        (&shown["description"], &shown["labels"]),
        (&json!(""), &json!({}))
    );
    insta::assert_json_snapshot!(&manager.asked()[0].body);
}

#[actix_web::test]
async fn a_failed_operation_is_shown_at_the_local_line_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let config = write(folder.path(), "web.yaml", "resources:\n- type: Pod\n");
    let error = json!({"code": "INVALID_CONFIGURATION", "message": "Resource does not have a name.",
        "location": {"file": "web", "line": 2, "column": 3}});
    let manager = Manager::start(&[("POST /deployments", 202, failed(error))]);
    let said = manager.dm(&["deploy", &config]).await;
    assert_eq!(said.code, ExitCode::Failed);
    for part in [
        "web.yaml:2:3",
        "2 | - type: Pod",
        "Resource does not have a name.",
    ] {
        assert!(
            said.stderr.contains(part),
            "{part} is not in\n{}",
            said.stderr
        );
    }
}

#[actix_web::test]
async fn a_deployment_that_ends_failed_is_a_failure_that_says_why() {
    let manager = Manager::start(&[
        ("POST /deployments", 202, operation("CREATE", "DONE")),
        (
            "GET /deployments/web",
            200,
            deployment("Failed", &["web-rc: no such image"]),
        ),
    ]);
    let said = manager.dm(&["deploy", "t:v1", "--name", "web"]).await;
    assert_eq!(said.code, ExitCode::Failed);
    assert!(
        said.stderr.contains("no such image") && said.stderr.contains("dm status web"),
        "{}",
        said.stderr
    );
}

#[actix_web::test]
async fn an_asynchronous_write_prints_the_operation_and_does_not_wait() {
    let manager = Manager::start(&[(
        "DELETE /deployments/web?deletePolicy=ABANDON",
        202,
        operation("DELETE", "RUNNING"),
    )]);
    let said = manager.dm(&["delete", "web", "--abandon", "--async"]).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert!(said.stdout.contains("dm wait op-1"), "{}", said.stdout);
    assert_eq!(manager.asked().len(), 1);
}

#[actix_web::test]
async fn waiting_ends_at_its_timeout_and_says_how_to_go_on() {
    let manager = Manager::start(&[("GET /operations/op-1", 200, operation("CREATE", "RUNNING"))]);
    let said = manager.dm(&["wait", "op-1", "--timeout", "300ms"]).await;
    assert_eq!(said.code, ExitCode::Timeout);
    assert!(said.stderr.contains("dm wait op-1"), "{}", said.stderr);
    manager.now_answers("GET /operations/op-1", operation("DELETE", "DONE"));
    assert_eq!(
        manager.dm(&["wait", "op-1"]).await.stdout,
        "web is deleted\n"
    );
}

#[actix_web::test]
async fn a_list_is_one_document_of_all_pages() {
    let type_name = |name: &str| json!({"name": name, "instances": 1});
    let manager = Manager::start(&[
        (
            "GET /types?limit=1000",
            200,
            json!({"items": [type_name("Pod")], "nextPageToken": "p2"}),
        ),
        (
            "GET /types?limit=1000&pageToken=p2",
            200,
            json!({"items": [type_name("a/b:v1")]}),
        ),
    ]);
    let said = manager.dm(&["deployed-types", "-o", "json"]).await;
    let expected = json!({"items": [type_name("Pod"), type_name("a/b:v1")]});
    assert_eq!(
        serde_json::from_str::<Value>(&said.stdout).unwrap(),
        expected,
        "{said:?}"
    );
}

#[actix_web::test]
async fn a_type_in_a_path_and_a_regular_expression_in_a_query_are_encoded() {
    let page = json!({"items": []});
    let manager = Manager::start(&[
        (
            "GET /types/github.com%2Fo%2Fr%2Ft:v1/instances?limit=1000",
            200,
            page.clone(),
        ),
        (
            "GET /registries/default/types?limit=1000&regex=%5Ered.%2B",
            200,
            page.clone(),
        ),
        (
            "GET /registries/shop/types?limit=1000&regex=%5Ered.%2B",
            200,
            page,
        ),
    ]);
    for args in [
        &["deployed-instances", "github.com/o/r/t:v1"][..],
        &["templates", "default", "^red.+"],
        &["templates", "--registry", "shop", "^red.+"],
    ] {
        let said = manager.dm(args).await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
    }
}

#[actix_web::test]
async fn what_is_wrong_with_the_command_line_never_reaches_the_manager() {
    let manager = Manager::start(&[]);
    for args in [
        &["frobnicate"][..],
        &["deploy"],
        &["deploy", "t:v1", "--name", "Not A Name"],
        &["deploy", "t:v1", "--properties", "a"],
        &["deploy", "t:v1", "--registry", "only-org/"],
        &["--properties", "a=1", "list"],
        &["templates", "shop", "^red", "--registry", "shop"],
        &["wait", "op-1", "--timeout", "5"],
        &["--service", "nonsense", "list"],
    ] {
        let said = match args.contains(&"nonsense") {
            true => dm(args, b"").await,
            false => manager.dm(args).await,
        };
        assert_eq!(said.code, ExitCode::Usage, "{args:?} {said:?}");
        assert!(
            said.stdout.is_empty() && !said.stderr.is_empty(),
            "{args:?} {said:?}"
        );
    }
    assert!(manager.asked().is_empty());
}

#[actix_web::test]
async fn a_manager_that_is_away_is_named_with_the_next_step() {
    let said = dm(&["list", "--service", "http://127.0.0.1:1"], b"").await;
    assert_eq!(said.code, ExitCode::Unavailable);
    assert!(
        said.stderr.contains("http://127.0.0.1:1") && said.stderr.contains("DM_SERVICE"),
        "{}",
        said.stderr
    );
}

#[actix_web::test]
async fn the_next_of_several_managers_is_asked_when_one_cannot_be_reached() {
    let manager = Manager::start(&[("GET /deployments?limit=1000", 200, json!({"items": []}))]);
    let several = format!("http://127.0.0.1:1,{}", manager.url);
    let said = dm(&["list", "--service", &several], b"").await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    assert_eq!(manager.asked().len(), 1);
    let none = "http://127.0.0.1:1,http://127.0.0.1:2";
    let said = dm(&["list", "--service", none], b"").await;
    assert_eq!(said.code, ExitCode::Unavailable, "{said:?}");
    for address in ["http://127.0.0.1:1", "http://127.0.0.1:2"] {
        assert!(said.stderr.contains(address), "{}", said.stderr);
    }
}

#[actix_web::test]
async fn a_write_that_one_manager_breaks_off_goes_on_at_the_next_with_the_same_key() {
    use tokio::io::AsyncReadExt as _;
    let breaking = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = breaking.local_addr().unwrap();
    let broken = tokio::spawn(async move {
        let (mut stream, _) = breaking.accept().await.unwrap();
        let (mut seen, mut part) = (Vec::new(), [0; 4096]);
        while !seen.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut part).await.unwrap();
            assert!(read > 0, "the request ended");
            seen.extend(&part[..read]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    });
    let manager = Manager::start(&[
        ("POST /deployments", 202, operation("CREATE", "DONE")),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let several = format!("http://{address},{}", manager.url);
    let deploy = ["deploy", "t:v1", "--name", "web", "--service", &several];
    let said = dm(&deploy, b"").await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let first = broken.await.unwrap().to_lowercase();
    let key = manager.asked()[0].key.clone().unwrap();
    assert!(
        first.contains(&format!("idempotency-key: {key}")),
        "{first}"
    );
}

#[actix_web::test]
async fn a_configuration_comes_from_standard_input() {
    let expansion = json!({"expandedConfig": {"resources": []}, "layout": {"resources": []}});
    let manager = Manager::start(&[("POST /expand", 200, expansion)]);
    let args = [
        "expand",
        "--stdin",
        "--name",
        "web",
        "--service",
        &manager.url,
    ];
    let said = dm(&args, b"resources: []\n").await;
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (ExitCode::Done, "resources: []\n"),
        "{}",
        said.stderr
    );
    assert_eq!(manager.asked()[0].body["content"], "resources: []\n");
}
