//! A platform and the service broker, on a real API server: provision, bind, update, unbind, deprovision, and kills.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::{Broker, Stack, until};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);
const INSTANCE: &str = "service_instances/shop-db";
const BINDING: &str = "service_instances/shop-db/service_bindings/app";
const QUERY: &str = "?accepts_incomplete=true&service_id=db&plan_id=small";

const CATALOG: &str = r"
services:
- id: db
  name: db
  description: a database
  bindable: true
  instances_retrievable: true
  bindings_retrievable: true
  plans:
  - id: small
    name: small
    description: in the background
    type: db.jinja
    properties: {replicas: 1}
    parameterMap: {size: replicas}
    async: true
    bind: {type: login.jinja}
";

const DB: &str = r"
resources:
- name: {{ env.deployment }}
  type: Deployment
  properties:
    spec:
      replicas: {{ properties.replicas }}
      selector: {matchLabels: {app: {{ env.deployment }}}}
      template:
        metadata: {labels: {app: {{ env.deployment }}}}
        spec: {containers: [{name: db, image: db}]}
";

const LOGIN: &str = r"
resources:
- name: {{ env.deployment }}
  type: Secret
  properties:
    stringData: {user: app, password: of-{{ env.instance_id }}-and-{{ env.binding_id }}}
outputs:
- name: credentials
  value:
    user: app
    password: of-{{ env.instance_id }}-and-{{ env.binding_id }}
    secret: $(ref.{{ env.deployment }}.metadata.uid)
";

/// A manager with a broker, and the platform that calls it.
struct Platform {
    broker: Broker,
    namespace: String,
}

impl Platform {
    async fn new(stack: &Stack) -> Result<Self> {
        let catalog = stack.write("catalog.yaml", CATALOG)?;
        stack.write("db.jinja", DB)?;
        stack.write("login.jinja", LOGIN)?;
        Ok(Self {
            broker: Broker::start(stack, &catalog.display().to_string()).await?,
            namespace: stack.namespace.clone(),
        })
    }

    fn body(&self, parameters: Value) -> Value {
        json!({
            "service_id": "db", "plan_id": "small", "organization_guid": "o", "space_guid": "s",
            "context": {"platform": "kubernetes", "namespace": self.namespace},
            "parameters": parameters,
        })
    }

    /// Polls until the operation has ended.
    async fn ended(&self, path: &str) -> Result<(StatusCode, Value)> {
        until("the operation to end", MINUTE, || async {
            let path = format!("{path}/last_operation");
            let (status, body) = self.broker.send(Method::GET, &path, None).await?;
            ensure!(body["state"] != "in progress", "{body}");
            Ok((status, body))
        })
        .await
    }

    async fn provision(&self) -> Result<(StatusCode, Value)> {
        let body = Some(self.body(json!({"size": 2})));
        self.broker
            .send(Method::PUT, &format!("{INSTANCE}{QUERY}"), body)
            .await
    }

    async fn bind(&self) -> Result<(StatusCode, Value)> {
        let body = json!({"service_id": "db", "plan_id": "small"});
        self.broker.send(Method::PUT, BINDING, Some(body)).await
    }

    async fn delete(&self, path: &str) -> Result<(StatusCode, Value)> {
        self.broker
            .send(Method::DELETE, &format!("{path}{QUERY}"), None)
            .await
    }
}

fn replicas(stack: &Stack) -> Result<Value> {
    let all = stack.cluster.objects(&stack.namespace, "deployments")?;
    let found = all.first().context("there is no Deployment")?;
    Ok(found["spec"]["replicas"].clone())
}

#[tokio::test]
async fn an_instance_lives_from_provision_to_deprovision_and_leaves_nothing() -> Result<()> {
    let stack = Stack::start().await?;
    let platform = Platform::new(&stack).await?;
    let (status, body) = platform.provision().await?;
    ensure!(status == StatusCode::ACCEPTED, "{body}");
    let (_, ended) = platform.ended(INSTANCE).await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    assert_eq!(replicas(&stack)?, 2);

    let (status, bound) = platform.bind().await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    assert_eq!(bound["credentials"]["password"], "of-shop-db-and-app");
    let uid = bound["credentials"]["secret"].as_str().unwrap_or_default();
    assert_eq!(uid.len(), 36, "{bound}");

    let change = platform.body(json!({"size": 3}));
    let path = format!("{INSTANCE}{QUERY}");
    let (status, body) = platform
        .broker
        .send(Method::PATCH, &path, Some(change))
        .await?;
    ensure!(status == StatusCode::ACCEPTED, "{body}");
    let (_, ended) = platform.ended(INSTANCE).await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    assert_eq!(replicas(&stack)?, 3);
    let (_, fetched) = platform.broker.send(Method::GET, INSTANCE, None).await?;
    assert_eq!(fetched["parameters"], json!({"size": 3}));

    let (status, body) = platform.delete(BINDING).await?;
    ensure!(status == StatusCode::OK, "{body}");
    let secrets = stack.names("secrets")?;
    assert!(secrets.is_empty(), "{secrets:?}");
    let (status, body) = platform.delete(INSTANCE).await?;
    ensure!(status == StatusCode::ACCEPTED, "{body}");
    let (status, _) = platform.ended(INSTANCE).await?;
    assert_eq!(status, StatusCode::GONE);
    assert!(stack.names("deployments")?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_kill_of_the_manager_loses_no_instance_and_no_credentials() -> Result<()> {
    let stack = Stack::start().await?;
    let mut platform = Platform::new(&stack).await?;
    let (_, accepted) = platform.provision().await?;
    platform.broker.kill_and_start().await?;
    let (status, again) = platform.provision().await?;
    ensure!(again == accepted || status == StatusCode::OK, "{again}");
    let (_, ended) = platform.ended(INSTANCE).await?;
    assert_eq!(ended["state"], "succeeded", "{ended}");

    let (_, bound) = platform.bind().await?;
    platform.broker.kill_and_start().await?;
    let (status, again) = platform.bind().await?;
    assert_eq!((status, &again), (StatusCode::OK, &bound));

    platform.delete(INSTANCE).await?;
    platform.broker.kill_and_start().await?;
    let (status, _) = platform.ended(INSTANCE).await?;
    assert_eq!(status, StatusCode::GONE);
    assert!(stack.names("deployments")?.is_empty());
    assert!(stack.names("secrets")?.is_empty());
    Ok(())
}
