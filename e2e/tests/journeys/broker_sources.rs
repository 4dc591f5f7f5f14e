//! A catalog that is in the cluster, or in the store of the manager: it follows what kubectl and users do.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use e2e::{Broker, Dm, Stack, until};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const MINUTE: Duration = Duration::from_secs(60);
const SERVICE: &str = include_str!("plans/service.yaml");
const PLAN: &str = include_str!("plans/cache.yaml");
const I: &str = "service_instances/one";
const B: &str = "service_instances/one/service_bindings/app";

/// Where the Inter-operator and the service broker keep their configurations.
const DEFINITIONS: [(&str, &str, &str); 3] = [
    ("osb.servicefabrik.io", "SFService", "sfservices"),
    ("osb.servicefabrik.io", "SFPlan", "sfplans"),
    (
        "servicebroker.couchbase.com",
        "ServiceBrokerConfig",
        "servicebrokerconfigs",
    ),
];

const CONFIGURATION: &str = r#"
apiVersion: servicebroker.couchbase.com/v1alpha1
kind: ServiceBrokerConfig
metadata: {name: web}
spec:
  catalog:
    services:
    - {id: web, name: web, description: pages, bindable: false, plans: [{id: small, name: small, description: one page}]}
  templates:
  - name: page
    template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ registry "instance-id" }}'}, data: {code: '{{ registry "code" }}'}}
  bindings:
  - name: web-small
    service: web
    plan: small
    serviceInstance:
      registry: [{name: code, value: '{{ generatePassword 12 nil }}'}]
      templates: [page]
"#;

fn define(stack: &Stack) -> Result<()> {
    for (group, kind, plural) in DEFINITIONS {
        stack.cluster.apply(&format!(
            r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"#
        ))?;
        let definition = format!("crd/{plural}.{group}");
        let established = "--for=condition=Established";
        stack
            .cluster
            .kubectl(&["wait", established, "--timeout=60s", &definition])?;
    }
    Ok(())
}

/// A platform of a catalog that changes.
struct Platform<'s> {
    stack: &'s Stack,
    broker: Broker,
}

impl<'s> Platform<'s> {
    async fn new(stack: &'s Stack, sources: &[String]) -> Result<Self> {
        Ok(Self {
            stack,
            broker: Broker::start(stack, &sources.join(",")).await?,
        })
    }

    fn apply(&self, text: &str) -> Result<()> {
        let file = self.stack.write("applied.yaml", text)?;
        let file = file.display().to_string();
        let apply = ["apply", "-n", &self.stack.namespace, "-f", &file];
        self.stack.cluster.kubectl(&apply).map(drop)
    }

    fn delete(&self, what: &str) -> Result<()> {
        let delete = ["delete", what, "-n", &self.stack.namespace];
        self.stack.cluster.kubectl(&delete).map(drop)
    }

    /// Waits until the answer to a catalog request has the status and the text.
    async fn shows(&self, status: StatusCode, expected: &str) -> Result<Value> {
        until("the catalog to follow", MINUTE, || async {
            let (found, body) = self.broker.send(Method::GET, "catalog", None).await?;
            let has_text = body.to_string().contains(expected);
            ensure!(found == status && has_text, "{expected}: {found} {body}");
            Ok(body)
        })
        .await
    }

    async fn provision(&self, service: &str, plan: &str, parameters: Value) -> Result<()> {
        let body = json!({
            "service_id": service, "plan_id": plan, "organization_guid": "o", "space_guid": "s",
            "context": {"platform": "kubernetes", "namespace": self.stack.namespace}, "parameters": parameters,
        });
        let path = format!("{I}?accepts_incomplete=true");
        let (status, body) = self.broker.send(Method::PUT, &path, Some(body)).await?;
        ensure!(
            status == StatusCode::ACCEPTED || status == StatusCode::CREATED,
            "{status} {body}"
        );
        let (_, ended) = self.ended().await?;
        ensure!(ended["state"] == "succeeded", "{ended}");
        Ok(())
    }

    async fn ended(&self) -> Result<(StatusCode, Value)> {
        until("the operation to end", 3 * MINUTE, || async {
            let path = format!("{I}/last_operation");
            let (status, body) = self.broker.send(Method::GET, &path, None).await?;
            ensure!(body["state"] != "in progress", "{body}");
            Ok((status, body))
        })
        .await
    }

    async fn remove(&self, path: &str, service: &str, plan: &str) -> Result<()> {
        let query = format!("?accepts_incomplete=true&service_id={service}&plan_id={plan}");
        let path = format!("{path}{query}");
        let (status, body) = self.broker.send(Method::DELETE, &path, None).await?;
        ensure!(
            status == StatusCode::ACCEPTED || status == StatusCode::OK,
            "{status} {body}"
        );
        Ok(())
    }

    async fn deprovisioned(&self, service: &str, plan: &str) -> Result<()> {
        self.remove(I, service, plan).await?;
        let (status, body) = self.ended().await?;
        ensure!(status == StatusCode::GONE, "{status} {body}");
        Ok(())
    }
}

#[tokio::test]
async fn services_and_plans_of_the_inter_operator_are_followed_in_the_cluster() -> Result<()> {
    let stack = Stack::start().await?;
    define(&stack)?;
    let of = |kind: &str| {
        let namespace = &stack.namespace;
        format!("cluster:osb.servicefabrik.io/v1alpha1/{kind}/{namespace}")
    };
    let platform = Platform::new(&stack, &[of("SFService"), of("SFPlan")]).await?;
    let gone = StatusCode::SERVICE_UNAVAILABLE;
    platform.shows(gone, "has no object of this kind").await?;
    platform.apply(&format!("{SERVICE}\n---\n{PLAN}"))?;
    platform.shows(StatusCode::OK, "a cache").await?;
    platform
        .provision("data", "cache", json!({"replicas": 2}))
        .await?;
    assert_eq!(stack.names("statefulsets")?, ["cache-one"]);
    let bind = json!({"service_id": "data", "plan_id": "cache"});
    let (status, bound) = platform.broker.send(Method::PUT, B, Some(bind)).await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    assert_eq!(bound["credentials"]["password"], "pw-app");

    platform.apply(&PLAN.replace("a cache", "a large cache"))?;
    platform.shows(StatusCode::OK, "a large cache").await?;
    // A plan that is not valid closes the broker, and every fault has its place.
    platform.apply(&PLAN.replace("action: status", "action: other"))?;
    let refused = platform.shows(gone, "is none of provision").await?;
    let refused = refused["description"].as_str().unwrap_or_default();
    ensure!(
        refused.contains("cache.json:") && refused.contains("/spec/templates/"),
        "{refused}"
    );
    platform.apply(PLAN)?;
    platform.shows(StatusCode::OK, "a cache").await?;
    platform.remove(B, "data", "cache").await?;
    platform.deprovisioned("data", "cache").await?;
    assert!(stack.names("statefulsets")?.is_empty());
    platform.delete("sfplan/cache")?;
    platform.shows(gone, "has no object of this kind").await?;
    Ok(())
}

#[tokio::test]
async fn a_configuration_of_a_service_broker_is_followed_in_the_cluster() -> Result<()> {
    let stack = Stack::start().await?;
    define(&stack)?;
    let namespace = &stack.namespace;
    let source =
        format!("cluster:servicebroker.couchbase.com/v1alpha1/ServiceBrokerConfig/{namespace}/web");
    let mut platform = Platform::new(&stack, &[source]).await?;
    let gone = StatusCode::SERVICE_UNAVAILABLE;
    platform.shows(gone, "the object does not exist").await?;
    platform.apply(CONFIGURATION)?;
    platform.shows(StatusCode::OK, "one page").await?;
    platform.provision("web", "small", json!({})).await?;
    let code = || {
        stack.cluster.kubectl(&[
            "get",
            "configmap",
            "one",
            "-n",
            namespace,
            "-o",
            "jsonpath={.data.code}",
        ])
    };
    let first = code()?;
    assert_eq!(first.len(), 12, "{first}");
    // The next manager reads it anew, and the generated value stays.
    platform.broker.kill_and_start().await?;
    platform.shows(StatusCode::OK, "one page").await?;
    assert_eq!(code()?, first);
    platform.apply(&CONFIGURATION.replace("plan: small", "plan: other"))?;
    platform.shows(gone, "does not have a binding").await?;
    platform.apply(CONFIGURATION)?;
    platform.shows(StatusCode::OK, "one page").await?;
    platform.deprovisioned("web", "small").await?;
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    platform.delete("servicebrokerconfig/web")?;
    platform.shows(gone, "the object does not exist").await?;
    Ok(())
}

#[tokio::test]
async fn a_config_map_is_a_catalog_with_its_templates() -> Result<()> {
    let stack = Stack::start().await?;
    let source = format!("cluster:v1/ConfigMap/{}/catalog", stack.namespace);
    let platform = Platform::new(&stack, &[source]).await?;
    let catalog = |description: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "catalog"},
            "data": {
                "catalog.yaml": json!({"services": [{
                    "id": "s", "name": "empty", "description": description, "bindable": false,
                    "plans": [{"id": "p", "name": "free", "description": "free", "type": "page.jinja"}],
                }]}).to_string(),
                "page.jinja": "resources: [{name: page, type: ConfigMap, properties: {data: {of: {{ env.instance_id }}}}}]",
            },
        })
        .to_string()
    };
    platform.apply(&catalog("nothing yet"))?;
    platform.shows(StatusCode::OK, "nothing yet").await?;
    platform.provision("s", "p", json!({})).await?;
    assert_eq!(
        stack.names("configmaps")?,
        ["catalog", "kube-root-ca.crt", "page"]
    );
    platform.apply(&catalog("something"))?;
    platform.shows(StatusCode::OK, "something").await?;
    platform.deprovisioned("s", "p").await?;
    platform.delete("configmap/catalog")?;
    let gone = StatusCode::SERVICE_UNAVAILABLE;
    platform.shows(gone, "the object does not exist").await?;
    Ok(())
}

/// A password that is generated, in a Secret that exposes it.
fn template() -> Value {
    json!({
        "kind": "Template", "apiVersion": "template.openshift.io/v1",
        "metadata": {"name": "database", "annotations": {"description": "rows and columns", "tags": "database,sql"}},
        "parameters": [
            {"name": "USER", "value": "root"},
            {"name": "PASSWORD", "generate": "expression", "from": "pw-[a-z0-9]{12}"},
        ],
        "objects": [
            {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "${PASSWORD}"}, "metadata": {
                "name": "database", "annotations": {"template.openshift.io/expose-password": "{.data['password']}"}}},
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "database", "annotations": {
                "template.openshift.io/expose-uri": "db://{.spec.clusterIP}:{.spec.ports[?(.name==\"db\")].port}"}},
             "spec": {"selector": {"app": "database"}, "ports": [{"name": "db", "port": 5432}]}},
        ],
    })
}

#[tokio::test]
async fn stored_templates_are_services_and_what_they_expose_are_credentials() -> Result<()> {
    let stack = Stack::start().await?;
    let source = format!("templates:{}", stack.namespace);
    let platform = Platform::new(&stack, &[source]).await?;
    platform.shows(StatusCode::OK, r#"{"services":[]}"#).await?;
    let url = format!(
        "{}/templates?namespace={}",
        platform.broker.manager.url(),
        stack.namespace
    );
    let http = common::client::http::builder().no_proxy().build()?;
    let stored = http.post(&url).json(&template()).send().await?;
    ensure!(
        stored.status() == StatusCode::CREATED,
        "{}",
        stored.text().await?
    );
    let catalog = platform.shows(StatusCode::OK, "rows and columns").await?;
    let service = &catalog["services"][0];
    assert_eq!(service["tags"], json!(["database", "sql"]));
    let id = |value: &Value| value["id"].as_str().map(str::to_owned);
    let plan = id(&service["plans"][0]).context("no plan")?;
    let service = id(service).context("no service")?;
    platform
        .provision(&service, &plan, json!({"USER": "app"}))
        .await?;

    let bind = json!({"service_id": service, "plan_id": plan});
    let (status, bound) = platform.broker.send(Method::PUT, B, Some(bind)).await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    let object = |kind: &str| -> Result<Value> {
        let all = stack.cluster.objects(&stack.namespace, kind)?;
        let is_it = |one: &Value| one["metadata"]["name"] == "database";
        all.into_iter().find(is_it).context("no object")
    };
    let password = object("secrets")?["data"]["password"].clone();
    let password = BASE64_STANDARD.decode(password.as_str().unwrap_or_default())?;
    let address = object("services")?["spec"]["clusterIP"].clone();
    let expected = json!({
        "password": String::from_utf8(password)?,
        "uri": format!("db://{}:5432", address.as_str().unwrap_or_default()),
    });
    assert_eq!(bound["credentials"], expected);
    let (_, fetched) = platform.broker.send(Method::GET, B, None).await?;
    assert_eq!(fetched["credentials"], expected);
    // Nobody else sees them.
    let dm = Dm::new(platform.broker.manager.url(), stack.folder());
    let shown = dm.json(&["get", "osb-one"]).await?.to_string();
    let secret = expected["password"].as_str().unwrap_or_default();
    ensure!(!secret.is_empty() && !shown.contains(secret), "{shown}");

    platform.remove(B, &service, &plan).await?;
    let (status, _) = platform.broker.send(Method::GET, B, None).await?;
    assert_eq!(status, StatusCode::NOT_FOUND);
    platform.deprovisioned(&service, &plan).await?;
    assert!(stack.names("secrets")?.is_empty() && stack.names("services")?.is_empty());
    let url = format!(
        "{}/templates/database?namespace={}",
        platform.broker.manager.url(),
        stack.namespace
    );
    http.delete(&url).send().await?.error_for_status()?;
    platform.shows(StatusCode::OK, r#"{"services":[]}"#).await?;
    Ok(())
}
