//! Files of ordinary Kubernetes objects, deployed as they stand.

use anyhow::Result;
use e2e::Stack;
use reqwest::Method;
use serde_json::{Value, json};

const SETTINGS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  port: \"is $(ref.web.spec.ports[0].port)\"
  plain: \"{{ not.jinja }} $(HOME)\"
";

const WEB: &str = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
";

const KEY: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {pin: \"4711-is-secret\"}
";

fn pods(replicas: u32) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: pods}}\nspec:\n  replicas: {replicas}\n  \
         selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    \
         spec: {{containers: [{{name: main, image: simulated.invalid/well}}]}}\n"
    )
}

/// A field of an object in the test's namespace.
fn field(stack: &Stack, object: &str, path: &str) -> Result<String> {
    let path = format!("jsonpath={{{path}}}");
    let args = ["get", object, "--namespace", &stack.namespace, "-o", &path];
    stack.cluster.kubectl(&args)
}

/// The names of a deployment's resources, sorted.
async fn resources(stack: &Stack, name: &str) -> Result<Vec<String>> {
    let (_, body) = stack.get(&format!("/deployments/{name}/resources")).await?;
    let items = body["items"].as_array().cloned().unwrap_or_default();
    let name = |item: &Value| item["resource"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<_> = items.iter().map(name).collect();
    names.sort();
    Ok(names)
}

#[tokio::test]
async fn a_folder_of_objects_is_deployed_updated_pruned_and_deleted() -> Result<()> {
    let stack = Stack::start().await?;
    std::fs::create_dir_all(stack.folder().join("k8s/more"))?;
    stack.write("k8s/a.yaml", SETTINGS)?;
    stack.write("k8s/more/web.yml", &(WEB.to_owned() + &pods(2)))?;
    stack.write("k8s/key.yaml", KEY)?;
    stack.write("k8s/README.md", "not an object")?;

    stack.deploy(&["k8s/"]).await?;
    assert_eq!(stack.ready_pods()?, 2, "dm waits until all is ready");
    assert_eq!(
        resources(&stack, "k8s").await?,
        ["key", "pods", "settings", "web"]
    );
    assert_eq!(field(&stack, "configmap/settings", ".data.port")?, "is 80");
    let plain = field(&stack, "configmap/settings", ".data.plain")?;
    assert_eq!(plain, "{{ not.jinja }} $(HOME)");
    let layout = stack.dm.ok(&["layout", "k8s"]).await?;
    assert!(
        layout.contains("settings") && layout.contains("ConfigMap"),
        "{layout}"
    );
    let manifest = stack.dm.ok(&["manifest", "k8s", "-o", "yaml"]).await?;
    assert!(manifest.contains("# Source: more/web.yml"), "{manifest}");
    assert!(!manifest.contains("4711-is-secret"), "{manifest}");

    let unchanged = stack.dm.ok(&["diff", "k8s"]).await?;
    assert!(unchanged.contains("4 unchanged"), "{unchanged}");
    // A second object of that name: the resource is renamed, the object stays.
    let service = field(&stack, "service/web", ".metadata.uid")?;
    stack.write(
        "k8s/a.yaml",
        &SETTINGS
            .replace("name: settings", "name: web")
            .replace("ref.web.", "ref.web-service."),
    )?;
    stack.write("k8s/more/web.yml", &(WEB.to_owned() + &pods(3)))?;
    let preview = stack.dm.ok(&["update", "k8s", "--preview"]).await?;
    assert!(preview.contains("settings"), "{preview}");
    stack.dm.ok(&["update", "k8s", "--commit"]).await?;
    assert_eq!(
        resources(&stack, "k8s").await?,
        ["key", "pods", "web-configmap", "web-service"]
    );
    assert_eq!(field(&stack, "service/web", ".metadata.uid")?, service);
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt", "web"]);
    assert_eq!(stack.ready_pods()?, 3);

    stack.dm.ok(&["rollback", "k8s"]).await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt", "settings"]);
    stack.dm.ok(&["delete", "k8s"]).await?;
    for kind in ["configmaps", "secrets", "services", "deployments"] {
        let names = stack.names(kind)?;
        assert!(
            names.is_empty() || names == ["kube-root-ca.crt"],
            "{names:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_file_of_objects_works_by_dm_and_by_a_plain_post() -> Result<()> {
    let stack = Stack::start().await?;
    let text = format!("{SETTINGS}---\n{WEB}");
    stack.write("app.yaml", &text)?;
    stack.deploy(&["app.yaml"]).await?;
    let posted = json!({"name": "posted", "namespace": stack.namespace, "content": KEY});
    let (status, body) = stack
        .request(Method::POST, "/deployments", Some(&posted))
        .await?;
    assert_eq!(status, 201, "{body}");
    assert_eq!(resources(&stack, "posted").await?, ["key"]);
    let local = stack.dm.ok(&["expand", "app.yaml", "--local"]).await?;
    assert_eq!(stack.dm.ok(&["expand", "app.yaml"]).await?, local);
    let status = stack.dm.ok(&["status", "app"]).await?;
    assert!(
        status.contains("settings") && status.contains("web"),
        "{status}"
    );
    Ok(())
}

#[tokio::test]
async fn a_slip_never_deploys_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    std::fs::create_dir_all(stack.folder().join("twice"))?;
    for (file, text, expected) in [
        (
            "slip.yaml",
            SETTINGS.replace("apiVersion", "apiVerson"),
            "has 'apiVerson', 'kind', 'metadata', 'data', but no 'resources:'",
        ),
        ("empty.yaml", String::new(), "is empty"),
        (
            "typo.yaml",
            "resource: []\n".to_owned(),
            "has 'resource', but no 'resources:'",
        ),
        (
            "mixed.yaml",
            format!("{SETTINGS}---\nkind: Pod\n"),
            "mixed.yaml:8 is not a Kubernetes object",
        ),
        (
            "unknown.yaml",
            SETTINGS.replace("ref.web.", "ref.wbe."),
            "there is no 'wbe'",
        ),
    ] {
        stack.write(file, &text)?;
        let error = stack.dm.fails(1, &["deploy", file]).await?;
        assert!(error.contains(expected), "{file}: {error}");
    }
    stack.write("twice/a.yaml", WEB)?;
    stack.write("twice/b.yaml", WEB)?;
    let error = stack.dm.fails(1, &["deploy", "twice"]).await?;
    assert!(
        error.contains("twice/a.yaml:1") && error.contains("twice/b.yaml:1"),
        "{error}"
    );
    let listed = stack.dm.ok(&["list", "-o", "json"]).await?;
    assert!(!listed.contains("Deployed"), "{listed}");
    Ok(())
}
