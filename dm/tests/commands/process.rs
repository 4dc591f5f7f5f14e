//! Template objects at the command line: processed, deployed, and with values that are made again.

use dm::ExitCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stand_in::{Manager, deployment, dm, operation};

const WEB: &str = "\
apiVersion: v1
kind: Template
metadata: {name: web, namespace: old}
parameters:
- {name: SLOT, required: true}
- {name: COUNT, type: int, value: \"1\"}
objects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: $(SLOT)}, data: {count: $(COUNT)}}
";

fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn processed() -> Value {
    json!({"kind": "Template", "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "blue"}}]})
}

#[actix_web::test]
async fn a_template_is_processed_without_a_manager() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let values = file(&folder, "values.env", "COUNT=3 # three\nSLOT=green\n");
    let more = file(&folder, "more.env", "COUNT=4\n");
    let files = ["--param-file", &values, "--param-file", &more];
    let args = [&["process", "-f", &web, "SLOT=blue", "--local"][..], &files].concat();
    let said = dm(&args, b"").await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let list: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(list["kind"], "List");
    assert_eq!(list["items"][0]["metadata"]["name"], "blue");
    assert_eq!(list["items"][0]["data"]["count"], "3");
    for (name, file) in [("SLOT", &values), ("COUNT", &more)] {
        let warning = format!(
            "warning: Template parameter {name:?} already defined, ignoring value from file {file:?}"
        );
        assert!(said.stderr.contains(&warning), "{said:?}");
    }
}

#[actix_web::test]
async fn standard_input_has_a_template_or_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let two = format!("{WEB}---\n{WEB}");
    let args = [
        "process",
        "-f",
        "-",
        "-p",
        "SLOT=a,COUNT=2",
        "--local",
        "-o",
        "name",
    ];
    let said = dm(&args, two.as_bytes()).await;
    assert_eq!(said.stdout, "configmap/a,COUNT=2\n", "{said:?}");
    assert!(said.stderr.contains("2 input templates found"), "{said:?}");
    assert!(
        said.stderr.contains("a comma does not separate"),
        "{said:?}"
    );
    let args = [
        "process",
        "-f",
        &web,
        "--param-file",
        "-",
        "--local",
        "-o",
        "name",
    ];
    let said = dm(&args, b"SLOT='b'").await;
    assert_eq!(said.stdout, "configmap/b\n", "{said:?}");
}

#[actix_web::test]
async fn objects_are_printed_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let process = [
        "process",
        "-f",
        &web,
        "SLOT=blue",
        "-l",
        "team=shop",
        "--local",
    ];
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: blue\n  labels:\n    team: shop\ndata:\n  count: \"1\"\n";
    for (more, start) in [
        (&["-o", "json"][..], "{\n  \"kind\": \"List\","),
        (&[], "{\n  \"kind\": \"List\","),
        (&["-o", "yaml"], "kind: List\n"),
        (&["-o", "yaml", "--raw"], object),
        (
            &["--raw"],
            "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"ConfigMap\",",
        ),
        (&["-o", "name"], "configmap/blue\n"),
        (&["-o", "describe"], "Name: web\n"),
    ] {
        let said = dm(&[&process[..], more].concat(), b"").await;
        assert_eq!(said.code, ExitCode::Done, "{said:?}");
        assert!(said.stdout.starts_with(start), "{more:?}: {said:?}");
    }
    let said = dm(&[&process[..], &["-o", "describe"]].concat(), b"").await;
    assert!(
        said.stdout.contains("Object labels: team=shop\n"),
        "{said:?}"
    );
}

#[actix_web::test]
async fn all_faults_of_a_template_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let said = dm(&["process", "-f", &web, "--local", "-p", "COUNT=x"], b"").await;
    assert_eq!(said.code, ExitCode::Failed, "{said:?}");
    for line in [
        "error: Template.template.openshift.io \"web\" is invalid: [parameters[0]",
        "parameters[0].value: Required value: parameter SLOT",
        "parameters[1].value: Invalid value: \"x\": must be a valid int",
    ] {
        assert!(said.stderr.contains(line), "{line}: {said:?}");
    }
    let args = [
        "process", "-f", &web, "--local", "-p", "A=1", "-p", "B=2", "-p", "SLOT=c",
    ];
    let said = dm(&args, b"").await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
    let unknown = "unknown parameter name \"A\"\nunknown parameter name \"B\"";
    assert!(said.stderr.contains(unknown), "{said:?}");
    let said = dm(&[&args[..], &["--ignore-unknown-parameters"]].concat(), b"").await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
}

#[actix_web::test]
async fn what_does_not_fit_together_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    for args in [
        &["process", "--local", "web"][..],
        &["process"],
        &["process", "web", "-f", &web, "--local"],
        &["process", "-f", &web, "--parameters", "-p", "A=1"],
        &["process", "-f", &web, "--parameters", "--raw"],
        &["process", "-f", &web, "--parameters", "-l", "a=b"],
        &["process", "-f", &web, "--parameters", "-t", "{{.kind}}"],
        &["process", "-f", &web, "--local", "-l", "=x"],
        &["process", "-f", &web, "--local", "=x"],
        &["process", "-f", &web, "--local", "-l", "x"],
        &["process", "-f", &web, "--local", "1=x"],
        &["process", "-f", &web, "--local", "A=x", "A=y"],
        &["version", "-o", "describe"],
    ] {
        let said = dm(args, b"").await;
        assert_eq!(said.code, ExitCode::Usage, "{args:?}: {said:?}");
    }
    let said = dm(&["process", "-f", &web, "--local", "--parameters"], b"").await;
    assert!(said.stdout.starts_with("NAME "), "{said:?}");
    let other = file(&folder, "other.yaml", "kind: List");
    let said = dm(&["process", "-f", &other, "--local"], b"").await;
    assert!(said.stderr.contains("has no Template"), "{said:?}");
}

#[actix_web::test]
async fn a_stored_template_is_processed_by_the_manager() {
    let template = json!({"kind": "Template", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "shop"},
        "parameters": [{"name": "SLOT", "required": true}], "objects": []});
    let manager = Manager::start(&[
        ("GET /templates/web?namespace=shop", 200, template),
        ("POST /processedtemplates", 201, processed()),
    ]);
    for name in ["shop//web", "shop/template/web"] {
        let args = ["process", name, "SLOT=blue", "-l", "a=b", "-o", "name"];
        let said = manager.dm(&args).await;
        assert_eq!(said.stdout, "configmap/blue\n", "{said:?}");
    }
    for (output, expected) in [
        ("jsonpath={.items[*].metadata.name}", "blue"),
        ("go-template={{range .items}}{{.kind}}{{end}}", "ConfigMap"),
    ] {
        let args = ["process", "shop//web", "SLOT=blue", "-o", output];
        assert_eq!(manager.dm(&args).await.stdout, expected);
    }
    let args = [
        "process",
        "template/web",
        "-n",
        "shop",
        "SLOT=blue",
        "-l",
        "a=b",
        "--raw",
    ];
    assert_eq!(manager.dm(&args).await.code, ExitCode::Done);
    let asked = manager.asked();
    let posted = asked
        .iter()
        .find(|request| request.asked.starts_with("POST"));
    let body = &posted.unwrap().body;
    assert_eq!(body["parameters"][0]["value"], "blue");
    assert_eq!(body["labels"], json!({"a": "b"}));

    let said = manager.dm(&["process", "nothing"]).await;
    assert_eq!(said.code, ExitCode::NotFound, "{said:?}");
    assert!(
        said.stderr
            .contains("template \"nothing\" could not be found")
    );
    let said = manager.dm(&["process", "service/web"]).await;
    assert!(
        said.stderr
            .contains("unable to process invalid resource \"service/web\"")
    );
}

#[actix_web::test]
async fn a_template_comes_from_a_url_and_faults_from_the_manager() {
    let template = json!({"kind": "Template", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "old"}, "objects": []});
    let fault = json!({"code": "INVALID_TEMPLATE", "message": "all", "causes": [
        {"code": "INVALID_TEMPLATE", "message": "parameters[0].value: Required value"}]});
    let manager = Manager::start(&[
        ("GET /t.json", 200, template),
        ("POST /processedtemplates", 422, fault),
    ]);
    let url = format!("{}/t.json", manager.url);
    let said = manager.dm(&["process", "-f", &url, "-n", "new"]).await;
    assert_eq!(said.code, ExitCode::Failed);
    let message = "unable to process template\n  parameters[0].value: Required value";
    assert!(said.stderr.contains(message), "{said:?}");
    let asked = manager.asked();
    assert_eq!(asked[1].body["metadata"]["namespace"], "new");
}

#[actix_web::test]
async fn a_template_object_is_deployed_with_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let created = operation("CREATE", "DONE");
    let manager = Manager::start(&[
        ("POST /deployments", 202, created),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let said = manager
        .dm(&["deploy", &web, "-p", "SLOT=1,2", "--set", "COUNT=3"])
        .await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let request = &manager.asked()[0].body;
    let content = request["content"].as_str().unwrap();
    assert!(content.contains("type: web.yaml"), "{content}");
    assert!(
        content.contains("SLOT: 1,2") && content.contains("COUNT: 3"),
        "{content}"
    );
    assert_eq!(request["imports"][0]["name"], "web.yaml");
    assert_eq!(request["imports"][0]["content"], WEB);
}

#[actix_web::test]
async fn a_template_object_from_standard_input_needs_a_name() {
    let said = dm(&["deploy", "-"], WEB.as_bytes()).await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
    assert!(said.stderr.contains("--name"), "{said:?}");
}

#[actix_web::test]
async fn an_update_names_the_values_that_are_made_again() {
    let put = "PUT /deployments/web?regenerate=%24.resources%5B0%5D.A%2C%24.resources%5B1%5D";
    let manager = Manager::start(&[
        (put, 202, operation("UPDATE", "DONE")),
        ("GET /deployments/web", 200, deployment("Deployed", &[])),
    ]);
    let args = [
        "update",
        "web",
        "--regenerate",
        "$.resources[0].A",
        "--regenerate",
        "$.resources[1]",
    ];
    let said = manager.dm(&args).await;
    assert_eq!(said.code, ExitCode::Done, "{said:?}");
    let said = manager
        .dm(&["update", "web", "--regenerate", "PASSWORD"])
        .await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
}

#[actix_web::test]
async fn an_expression_prints_what_it_finds_in_the_objects() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let process = ["process", "-f", &web, "SLOT=blue", "--local"];
    for (more, expected) in [
        (&["-o", "jsonpath={.items[*].metadata.name}"][..], "blue"),
        (&["--raw", "-o", "jsonpath={.data.count}"], "1"),
        (&["-o", "go-template={{len .items}}"], "1"),
        (&["--template", "{{.kind}}"], "List"),
        (&["-o", "go-template", "-t", "{{.kind}}"], "List"),
    ] {
        let said = dm(&[&process[..], more].concat(), b"").await;
        assert_eq!(
            (said.code, &*said.stdout),
            (ExitCode::Done, expected),
            "{said:?}"
        );
    }
}

#[actix_web::test]
async fn an_expression_that_cannot_be_read_or_is_missing_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let web = file(&folder, "web.yaml", WEB);
    let process = ["process", "-f", &web, "SLOT=blue", "--local"];
    for (more, reason) in [
        (
            &["-o", "jsonpath={.items"][..],
            "a brace that is not closed",
        ),
        (&["-o", "jsonpath"], "write what to print: -o jsonpath="),
        (
            &["-o", "go-template={{.items"],
            "the Go template: template: output:1",
        ),
        (
            &["-o", "go-template"],
            "write what to print: -o go-template=",
        ),
        (
            &["-o", "yaml", "-t", "{{.kind}}"],
            "--template is a Go template",
        ),
        (&["--parameters", "-o", "yaml"], "cannot be used with"),
        (&["-o", "xml"], "invalid value 'xml'"),
    ] {
        let said = dm(&[&process[..], more].concat(), b"").await;
        assert_eq!(said.code, ExitCode::Usage, "{said:?}");
        assert!(said.stderr.contains(reason), "{said:?}");
    }
    let said = dm(&["list", "-o", "describe"], b"").await;
    assert_eq!(said.code, ExitCode::Usage, "{said:?}");
    assert!(said.stderr.contains("only for dm process"), "{said:?}");
}
