//! A ServiceBrokerConfig on a real API server: a database with an operator, two steps, TLS and users.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Broker, Stack, until};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);
const CONFIG: &str = include_str!("couchbase.yaml");
const QUERY: &str = "?accepts_incomplete=true&service_id=couchbase&plan_id=developer";

/// What the operator of the database would bring.
const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: couchbaseclusters.couchbase.com}
spec:
  group: couchbase.com
  scope: Namespaced
  names: {kind: CouchbaseCluster, plural: couchbaseclusters}
  versions:
  - name: v2
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"#;

/// A manager with a broker, and the platform that calls it.
struct Platform<'s> {
    stack: &'s Stack,
    broker: Broker,
}

impl<'s> Platform<'s> {
    async fn new(stack: &'s Stack) -> Result<Self> {
        stack.cluster.apply(DEFINITION)?;
        let config = stack.write("couchbase.yaml", CONFIG)?;
        Ok(Self {
            stack,
            broker: Broker::start(stack, &config.display().to_string()).await?,
        })
    }

    async fn provision(&self, id: &str, parameters: Value) -> Result<(StatusCode, Value)> {
        let body = json!({
            "service_id": "couchbase", "plan_id": "developer", "organization_guid": "o", "space_guid": "s",
            "context": {"platform": "kubernetes", "namespace": self.stack.namespace},
            "parameters": parameters,
        });
        let path = format!("service_instances/{id}{QUERY}");
        self.broker.send(Method::PUT, &path, Some(body)).await
    }

    async fn bind(&self, id: &str, binding: &str) -> Result<(StatusCode, Value)> {
        let body = json!({"service_id": "couchbase", "plan_id": "developer"});
        let path = format!("service_instances/{id}/service_bindings/{binding}");
        self.broker.send(Method::PUT, &path, Some(body)).await
    }

    async fn delete(&self, path: &str) -> Result<(StatusCode, Value)> {
        let path = format!("service_instances/{path}{QUERY}");
        self.broker.send(Method::DELETE, &path, None).await
    }

    /// Polls until the operation has ended. The database's operator is this test: it reports each cluster as available.
    async fn ended(&self, id: &str) -> Result<(StatusCode, Value)> {
        until("the operation to end", 3 * MINUTE, || async {
            self.operate()?;
            let path = format!("service_instances/{id}/last_operation");
            let (status, body) = self.broker.send(Method::GET, &path, None).await?;
            ensure!(body["state"] != "in progress", "{body}");
            Ok((status, body))
        })
        .await
    }

    fn operate(&self) -> Result<()> {
        let status = r#"{"status":{"conditions":[{"type":"Available","status":"True"}]}}"#;
        for name in self.stack.names("couchbaseclusters.couchbase.com")? {
            let cluster = format!("couchbaseclusters.couchbase.com/{name}");
            let args = [
                "patch",
                &cluster,
                "--namespace",
                &self.stack.namespace,
                "--subresource=status",
                "--type=merge",
                "--patch",
                status,
            ];
            self.stack.cluster.kubectl(&args)?;
        }
        Ok(())
    }

    fn clusters(&self) -> Result<Vec<Value>> {
        let kind = "couchbaseclusters.couchbase.com";
        self.stack.cluster.objects(&self.stack.namespace, kind)
    }

    fn nothing_is_left(&self) -> Result<()> {
        for kind in [
            "couchbaseclusters.couchbase.com",
            "secrets",
            "deployments.apps",
            "roles",
            "rolebindings",
        ] {
            let names = self.stack.names(kind)?;
            ensure!(names.is_empty(), "{kind}: {names:?}");
        }
        Ok(())
    }
}

fn parameters() -> Value {
    json!({"password": "correct-horse", "size": 3})
}

#[tokio::test]
async fn a_configuration_provisions_binds_updates_and_leaves_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    let platform = Platform::new(&stack).await?;
    let (_, catalog) = platform.broker.send(Method::GET, "catalog", None).await?;
    assert_eq!(catalog["services"][0]["plan_updateable"], true, "{catalog}");
    let (status, refused) = platform.provision("camelot", json!({"size": 3})).await?;
    ensure!(status == StatusCode::BAD_REQUEST, "{refused}");

    let (status, accepted) = platform.provision("camelot", parameters()).await?;
    ensure!(status == StatusCode::ACCEPTED, "{accepted}");
    let dashboard = accepted["dashboard_url"].as_str().context("no dashboard")?;
    let (_, ended) = platform.ended("camelot").await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let before = platform.clusters()?;
    let name = before[0]["metadata"]["name"]
        .as_str()
        .context("no cluster")?;
    assert!(dashboard.contains(name), "{dashboard} {name}");
    assert_eq!(before[0]["spec"]["size"], 3);
    let (status, again) = platform.provision("camelot", parameters()).await?;
    assert_eq!(
        (status, &again["dashboard_url"]),
        (StatusCode::OK, &json!(dashboard))
    );

    let (status, bound) = platform.bind("camelot", "excalibur").await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    let credentials = bound["credentials"].as_object().context("no credentials")?;
    assert!(
        credentials["ca"]
            .as_str()
            .unwrap_or_default()
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
    assert!(!credentials.contains_key("region"), "null is removed");
    let secrets = stack.cluster.objects(&stack.namespace, "secrets")?;
    let is_user = |secret: &&Value| secret["metadata"]["name"] == "user-excalibur";
    let secret = secrets
        .iter()
        .find(is_user)
        .context("no secret of the user")?;
    use base64::Engine as _;
    let stored = secret["data"]["password"].as_str().unwrap_or_default();
    let stored = base64::prelude::BASE64_STANDARD.decode(stored)?;
    assert_eq!(
        credentials["password"].as_str().map(str::as_bytes),
        Some(stored.as_slice())
    );

    let change =
        json!({"service_id": "couchbase", "plan_id": "production", "parameters": {"size": 5}});
    let path = format!("service_instances/camelot{QUERY}");
    let (status, body) = platform
        .broker
        .send(Method::PATCH, &path, Some(change))
        .await?;
    ensure!(status == StatusCode::ACCEPTED, "{body}");
    let (_, ended) = platform.ended("camelot").await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let after = platform.clusters()?;
    assert_eq!((after.len(), &after[0]["spec"]["size"]), (1, &json!(5)));
    assert_eq!(after[0]["metadata"]["uid"], before[0]["metadata"]["uid"]);
    let (_, same) = platform.bind("camelot", "excalibur").await?;
    assert_eq!(same, bound, "the credentials stay");

    let (status, body) = platform
        .delete("camelot/service_bindings/excalibur")
        .await?;
    ensure!(status == StatusCode::OK, "{body}");
    let path = format!(
        "service_instances/camelot{}",
        QUERY.replace("developer", "production")
    );
    let (status, body) = platform.broker.send(Method::DELETE, &path, None).await?;
    ensure!(status == StatusCode::ACCEPTED, "{body}");
    let (status, _) = platform.ended("camelot").await?;
    assert_eq!(status, StatusCode::GONE);
    platform.nothing_is_left()
}

#[tokio::test]
async fn a_kill_of_the_manager_loses_no_password_of_a_configuration() -> Result<()> {
    let stack = Stack::start().await?;
    let mut platform = Platform::new(&stack).await?;
    let (_, accepted) = platform.provision("camelot", parameters()).await?;
    platform.broker.kill_and_start().await?;
    let (_, again) = platform.provision("camelot", parameters()).await?;
    assert_eq!(again["dashboard_url"], accepted["dashboard_url"]);
    let (_, ended) = platform.ended("camelot").await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let (_, bound) = platform.bind("camelot", "excalibur").await?;
    platform.broker.kill_and_start().await?;
    let (status, again) = platform.bind("camelot", "excalibur").await?;
    assert_eq!((status, &again), (StatusCode::OK, &bound));
    platform.delete("camelot").await?;
    platform.broker.kill_and_start().await?;
    let (status, _) = platform.ended("camelot").await?;
    assert_eq!(status, StatusCode::GONE);
    platform.nothing_is_left()
}

#[tokio::test]
async fn dm_is_a_platform_and_warns_of_changes_past_the_broker() -> Result<()> {
    let stack = Stack::start().await?;
    let platform = Platform::new(&stack).await?;
    let url = platform.broker.url().await?;
    let users = stack.folder().join("users").display().to_string();
    let broker = |args: &[&str]| {
        let flags = ["broker", "--broker", &url, "--basic-file", &users];
        let all: Vec<String> = flags
            .iter()
            .chain(args)
            .map(|arg| (*arg).to_owned())
            .collect();
        all
    };
    let user = &stack.dm;
    let run = |args: Vec<String>| async move {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        user.ok(&args).await
    };
    let services = run(broker(&["services"])).await?;
    assert!(services.contains("developer"), "{services}");
    let provision = [
        "provision",
        "camelot",
        "--plan",
        "developer",
        "-n",
        &stack.namespace,
        "--set",
        "password=correct-horse",
    ];
    let provisioning = run(broker(&provision));
    let operating = async {
        until("the cluster", 3 * MINUTE, || async {
            platform.operate()?;
            let (_, body) = platform
                .broker
                .send(Method::GET, "service_instances/camelot", None)
                .await?;
            ensure!(body.get("service_id").is_some(), "{body}");
            Ok(())
        })
        .await
    };
    let (provisioned, ()) = tokio::try_join!(provisioning, operating)?;
    assert!(
        provisioned.contains("instance camelot is ready: https://"),
        "{provisioned}"
    );
    let bound = run(broker(&["bind", "camelot", "excalibur", "-o", "json"])).await?;
    let fetched = run(broker(&[
        "credentials",
        "camelot",
        "excalibur",
        "-o",
        "json",
    ]))
    .await?;
    let [bound, fetched] = [bound, fetched].map(|text| serde_json::from_str::<Value>(&text));
    assert_eq!(bound?["credentials"], fetched?["credentials"]);

    let dm = stack.dm.at(platform.broker.manager.url());
    let said = dm
        .run(&["update", "osb-camelot", "--set", "size=4"])
        .await?;
    assert!(
        said.stderr
            .contains("is a service instance of the service broker"),
        "{said:?}"
    );
    run(broker(&["unbind", "camelot", "excalibur"])).await?;
    let gone = run(broker(&["deprovision", "camelot"])).await?;
    assert!(gone.contains("instance camelot is deleted"), "{gone}");
    platform.nothing_is_left()
}
