//! Plans of the Service Fabrik Inter-operator on a real API server: by Go templates and by a Helm chart, with bindings
//! that edit live objects, and over kills.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use e2e::{Broker, Stack, until};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(180);

const SERVICE: &str = include_str!("plans/service.yaml");
/// A cache: by Go templates. A binding is a Secret.
const CACHE: &str = include_str!("plans/cache.yaml");
/// The same with more replicas: its predecessor is the cache.
const LARGE: &str = include_str!("plans/large.yaml");
/// A database whose bindings are entries of an object that the provision makes.
const USERS: &str = include_str!("plans/users.yaml");
/// A database by a chart.
const POSTGRESQL: &str = include_str!("plans/postgresql.yaml");
const CHART: [(&str, &str); 3] = [
    (
        "Chart.yaml",
        "apiVersion: v1\nname: postgresql\nversion: 8.0.0\n",
    ),
    ("values.yaml", "replicas: 1\npostgresqlPassword: none\n"),
    (
        "templates/all.yaml",
        include_str!("plans/chart-templates.yaml"),
    ),
];

/// A manager with a broker of the plans, and the platform that calls it.
struct Platform {
    stack: Stack,
    broker: Broker,
    /// The id of the instance. Its objects are in a namespace of its own.
    id: String,
    plan: &'static str,
}

impl Platform {
    async fn new(plan: &'static str) -> Result<Self> {
        let stack = Stack::start().await?;
        let file = |name: &str, text: &str| {
            Ok::<_, anyhow::Error>(stack.write(name, text)?.display().to_string())
        };
        let configurations = [
            file("service.yaml", SERVICE)?,
            file(
                "plans.yaml",
                &[CACHE, LARGE, USERS, POSTGRESQL, &large_postgresql()].join("\n---\n"),
            )?,
        ];
        chart(&stack)?;
        Ok(Self {
            broker: Broker::start(&stack, &configurations.join(",")).await?,
            id: format!("i-{}", &stack.namespace["dm-e2e-".len()..]),
            plan,
            stack,
        })
    }

    fn namespace(&self) -> String {
        format!("sf-{}", self.id)
    }

    fn instance(&self) -> String {
        format!("service_instances/{}", self.id)
    }

    fn query(&self) -> String {
        format!(
            "?accepts_incomplete=true&service_id=data&plan_id={}",
            self.plan
        )
    }

    async fn ended(&self) -> Result<(StatusCode, Value)> {
        until("the operation to end", PATIENCE, || async {
            let path = format!("{}/last_operation", self.instance());
            let (status, body) = self.broker.send(Method::GET, &path, None).await?;
            ensure!(body["state"] != "in progress", "{body}");
            Ok((status, body))
        })
        .await
    }

    async fn provision(&self, parameters: Value) -> Result<(StatusCode, Value)> {
        let body = json!({
            "service_id": "data", "plan_id": self.plan, "organization_guid": "o", "space_guid": "s",
            "context": {"platform": "cloudfoundry"}, "parameters": parameters,
        });
        let path = format!("{}{}", self.instance(), self.query());
        self.broker.send(Method::PUT, &path, Some(body)).await
    }

    /// Provisions, and waits until the instance is there.
    async fn provisioned(&self, parameters: Value) -> Result<()> {
        let (status, body) = self.provision(parameters).await?;
        ensure!(status == StatusCode::ACCEPTED, "{status} {body}");
        let (_, ended) = self.ended().await?;
        ensure!(ended["state"] == "succeeded", "{ended}");
        Ok(())
    }

    async fn bind(&self, id: &str) -> Result<(StatusCode, Value)> {
        let path = format!("{}/service_bindings/{id}", self.instance());
        let body = json!({"service_id": "data", "plan_id": self.plan});
        self.broker.send(Method::PUT, &path, Some(body)).await
    }

    async fn unbind(&self, id: &str) -> Result<(StatusCode, Value)> {
        let path = format!("{}/service_bindings/{id}{}", self.instance(), self.query());
        self.broker.send(Method::DELETE, &path, None).await
    }

    async fn update(&self, change: Value) -> Result<(StatusCode, Value)> {
        let mut body = json!({"service_id": "data"});
        for (key, value) in change.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        let path = format!("{}?accepts_incomplete=true", self.instance());
        self.broker.send(Method::PATCH, &path, Some(body)).await
    }

    /// Deletes the instance. Nothing of it is left, not even its namespace.
    async fn deprovisioned(&self) -> Result<()> {
        let (_, fetched) = self
            .broker
            .send(Method::GET, &self.instance(), None)
            .await?;
        let plan = fetched["plan_id"].as_str().unwrap_or(self.plan);
        let path = format!(
            "{}?accepts_incomplete=true&service_id=data&plan_id={plan}",
            self.instance()
        );
        let (status, body) = self.broker.send(Method::DELETE, &path, None).await?;
        ensure!(
            status == StatusCode::ACCEPTED || status == StatusCode::OK,
            "{status} {body}"
        );
        let (status, body) = self.ended().await?;
        ensure!(status == StatusCode::GONE, "{status} {body}");
        let namespaces = self
            .stack
            .cluster
            .kubectl(&["get", "namespaces", "-o", "name"])?;
        ensure!(!namespaces.contains(&self.namespace()), "{namespaces}");
        Ok(())
    }

    fn objects(&self, kind: &str) -> Result<Vec<Value>> {
        self.stack.cluster.objects(&self.namespace(), kind)
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let namespace = self.namespace();
        let delete = [
            "delete",
            "namespace",
            &namespace,
            "--wait=false",
            "--ignore-not-found",
        ];
        let _ = self.stack.cluster.kubectl(&delete);
    }
}

/// The plan of the chart with other values. Instances of it may get them.
fn large_postgresql() -> String {
    POSTGRESQL
        .replace("{name: postgresql}", "{name: postgresql-large}")
        .replace("id: postgresql\n", "id: postgresql-large\n")
        .replace("name: postgresql\n", "name: postgresql-large\n")
        .replace(
            "manager: {async: true}",
            "manager: {async: true, settings: {update_predecessors: [postgresql]}}",
        )
        .replace(
            "-password\n  - action: sources",
            "-password\n      replicas: 2\n  - action: sources",
        )
}

/// A packed chart beside the plans.
fn chart(stack: &Stack) -> Result<()> {
    let folder = stack.folder().join("postgresql");
    std::fs::create_dir_all(folder.join("templates"))?;
    for (name, text) in CHART {
        std::fs::write(folder.join(name), text)?;
    }
    let packed = Command::new("tar")
        .current_dir(stack.folder())
        .args(["czf", "postgresql-8.0.0.tgz", "postgresql"])
        .status()?;
    ensure!(packed.success(), "tar: {packed}");
    Ok(())
}

#[tokio::test]
async fn a_plan_of_go_templates_lives_from_provision_to_deprovision() -> Result<()> {
    let platform = Platform::new("cache").await?;
    platform
        .provisioned(json!({"replicas": 2, "annotations": {"team": "blue"}}))
        .await?;
    let sets = platform.objects("statefulsets")?;
    assert_eq!(sets[0]["spec"]["replicas"], 2);
    assert_eq!(
        sets[0]["spec"]["template"]["metadata"]["annotations"]["team"],
        "blue"
    );
    let (_, fetched) = platform
        .broker
        .send(Method::GET, &platform.instance(), None)
        .await?;
    let url = format!("https://cache-{}.example.test/ui", platform.id);
    assert_eq!(fetched["dashboard_url"], url, "{fetched}");

    let (status, bound) = platform.bind("b1").await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    let credentials = json!({"host": format!("cache-{}", platform.id), "password": "pw-b1"});
    assert_eq!(bound["credentials"], credentials);
    let (status, body) = platform.unbind("b1").await?;
    ensure!(status == StatusCode::OK, "{body}");
    let secrets = platform.objects("secrets")?;
    assert!(
        secrets
            .iter()
            .all(|one| one["metadata"]["name"] != "cache-user-b1")
    );

    let (status, body) = platform.update(json!({"plan_id": "cache-large"})).await?;
    ensure!(status == StatusCode::ACCEPTED, "{status} {body}");
    let (_, ended) = platform.ended().await?;
    ensure!(ended["state"] == "succeeded", "{ended}");
    // The parameters stay, and so does what they ask for.
    let sets = platform.objects("statefulsets")?;
    assert_eq!(sets[0]["spec"]["replicas"], 2);
    let (status, body) = platform.update(json!({"parameters": {}})).await?;
    ensure!(status == StatusCode::ACCEPTED, "{status} {body}");
    platform.ended().await?;
    assert_eq!(platform.objects("statefulsets")?[0]["spec"]["replicas"], 3);
    let (status, body) = platform.update(json!({"plan_id": "users"})).await?;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    platform.deprovisioned().await
}

#[tokio::test]
async fn a_plan_of_a_chart_gives_its_credentials_and_leaves_nothing() -> Result<()> {
    let platform = Platform::new("postgresql").await?;
    platform.provisioned(json!({})).await?;
    let sets = platform.objects("statefulsets")?;
    let name = sets[0]["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let release = name.strip_suffix("-postgresql").unwrap_or_default();
    ensure!(release.starts_with("in-"), "{name}");
    let (status, bound) = platform.bind("b1").await?;
    ensure!(status == StatusCode::CREATED, "{bound}");
    let credentials = &bound["credentials"];
    assert_eq!(credentials["username"], "postgres");
    assert_eq!(credentials["password"], format!("{release}-password"));
    let services = platform.objects("services")?;
    let service = services.iter().find(|one| one["metadata"]["name"] == name);
    let host = service.map(|one| one["spec"]["clusterIP"].clone());
    assert_eq!(Some(&credentials["host"]), host.as_ref());
    let (status, body) = platform
        .update(json!({"plan_id": "postgresql-large"}))
        .await?;
    ensure!(status == StatusCode::ACCEPTED, "{status} {body}");
    let (_, ended) = platform.ended().await?;
    ensure!(ended["state"] == "succeeded", "{ended}");
    let updated = platform.objects("statefulsets")?;
    assert_eq!(updated[0]["spec"]["replicas"], 2);
    assert_eq!(updated[0]["metadata"]["uid"], sets[0]["metadata"]["uid"]);
    let (status, same) = platform.bind("b1").await?;
    assert_eq!(
        (status, &same),
        (StatusCode::OK, &bound),
        "the credentials stay"
    );
    let (status, body) = platform.unbind("b1").await?;
    ensure!(status == StatusCode::OK, "{body}");
    platform.deprovisioned().await
}

#[tokio::test]
async fn bindings_edit_an_object_of_the_instance_and_take_only_their_own_edit_back() -> Result<()> {
    let platform = Platform::new("users").await?;
    platform.provisioned(json!({})).await?;
    let users = || -> Result<Value> {
        let maps = platform.objects("configmaps")?;
        let found = maps
            .into_iter()
            .find(|one| one["metadata"]["name"] == "users");
        Ok(found.unwrap_or_default()["data"].clone())
    };
    for id in ["b1", "b2"] {
        let (status, bound) = platform.bind(id).await?;
        ensure!(status == StatusCode::CREATED, "{bound}");
        assert_eq!(bound["credentials"], json!({"user": id}));
    }
    assert_eq!(
        users()?,
        json!({"main": "superuser", "b1": "superuser", "b2": "superuser"})
    );
    // An update of the instance leaves what bindings have edited.
    let (status, body) = platform.update(json!({"parameters": {"size": 2}})).await?;
    ensure!(status == StatusCode::ACCEPTED, "{status} {body}");
    let (_, ended) = platform.ended().await?;
    ensure!(ended["state"] == "succeeded", "{ended}");
    assert_eq!(users()?["b1"], "superuser");
    let (status, body) = platform.unbind("b1").await?;
    ensure!(status == StatusCode::OK, "{body}");
    assert_eq!(
        users()?,
        json!({"main": "superuser", "b2": "superuser", "size": "2"})
    );
    // A bind that fails takes its edit back.
    let (status, body) = platform.bind("fails").await?;
    ensure!(
        status == StatusCode::INTERNAL_SERVER_ERROR,
        "{status} {body}"
    );
    assert!(
        body["description"]
            .as_str()
            .unwrap_or_default()
            .contains("no room for fails"),
        "{body}"
    );
    assert_eq!(
        users()?,
        json!({"main": "superuser", "b2": "superuser", "size": "2"})
    );
    platform.deprovisioned().await
}

#[tokio::test]
async fn a_kill_at_any_time_loses_no_instance_and_no_edit() -> Result<()> {
    let mut platform = Platform::new("users").await?;
    let (_, accepted) = platform.provision(json!({})).await?;
    platform.broker.kill_and_start().await?;
    let (status, again) = platform.provision(json!({})).await?;
    ensure!(again == accepted || status == StatusCode::OK, "{again}");
    let (_, ended) = platform.ended().await?;
    ensure!(ended["state"] == "succeeded", "{ended}");
    let (_, bound) = platform.bind("b1").await?;
    platform.broker.kill_and_start().await?;
    let (status, again) = platform.bind("b1").await?;
    assert_eq!((status, &again), (StatusCode::OK, &bound));
    {
        // The request goes away with the manager, at some point within the unbind.
        let unbind = platform.unbind("b1");
        let _ = tokio::time::timeout(Duration::from_millis(300), unbind).await;
    }
    platform.broker.kill_and_start().await?;
    until("the binding to be gone", PATIENCE, || async {
        let (status, body) = platform.unbind("b1").await?;
        ensure!(
            status == StatusCode::OK || status == StatusCode::GONE,
            "{status} {body}"
        );
        Ok(())
    })
    .await?;
    let maps = platform.objects("configmaps")?;
    let users = maps.iter().find(|one| one["metadata"]["name"] == "users");
    assert_eq!(
        users.map(|one| &one["data"]),
        Some(&json!({"main": "superuser"}))
    );
    platform.deprovisioned().await
}
