//! Deployments on two clusters: two control planes, each with its resourcifier, and one manager.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use e2e::program::Service;
use e2e::{Broker, Cluster, Dm, Stack, until};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const TOKEN: &str = "t0ken-of-the-far-cluster";

/// A pair of which one refers to the other.
const PAIR: &str = "\
resources:
- name: one
  type: ConfigMap
  properties: {data: {size: SIZE}}
- name: two
  type: ConfigMap
  properties: {data: {copy: $(ref.one.data.size), uid: $(ref.one.metadata.uid)}}
";

struct Clusters {
    stack: Stack,
    far: &'static Cluster,
    resourcifier: Service,
}

impl Clusters {
    /// A stack, and the cluster `far` whose resourcifier takes only the token of its credential.
    async fn start() -> Result<Self> {
        let stack = Stack::start().await?;
        let far = Cluster::second().await?;
        let token = stack.write("token", TOKEN)?.display().to_string();
        let flags = ["--service-token-file", &token];
        let resourcifier = stack.resourcifier_of(far, &flags).await?;
        let clusters = Self {
            stack,
            far,
            resourcifier,
        };
        clusters.register(&clusters.stack.dm).await?;
        Ok(clusters)
    }

    /// Registers `far` at a manager.
    async fn register(&self, dm: &Dm) -> Result<()> {
        let token = self.stack.folder().join("token").display().to_string();
        dm.ok(&["setcredential", "far-token", &token]).await?;
        let url = self.resourcifier.url();
        let create = [
            "clusters",
            "create",
            "far",
            "--url",
            &url,
            "--credential",
            "far-token",
            "--label",
            "tier=dev",
            "--cpu",
            "8",
        ];
        dm.ok(&create).await?;
        Ok(())
    }

    fn far_names(&self, kind: &str) -> Result<Vec<String>> {
        self.far.names(&self.stack.namespace, kind)
    }

    /// The data of a ConfigMap of the far cluster.
    fn far_data(&self, name: &str) -> Result<Value> {
        let args = [
            "get",
            "configmap",
            name,
            "-o",
            "json",
            "-n",
            &self.stack.namespace,
        ];
        let object: Value = serde_json::from_str(&self.far.kubectl(&args)?)?;
        Ok(object["data"].clone())
    }

    fn write(&self, size: &str) -> Result<String> {
        let path = self
            .stack
            .write("pair.yaml", &PAIR.replace("SIZE", &format!("'{size}'")))?;
        Ok(path.display().to_string())
    }

    async fn drifted(&self) -> Result<Vec<Value>> {
        let (_, body) = self.stack.get("/deployments/pair/resources").await?;
        let items = body["items"].as_array().context("no resources")?;
        let drift = |item: &&Value| {
            item["drift"]
                .as_array()
                .is_some_and(|drift| !drift.is_empty())
        };
        Ok(items.iter().filter(drift).cloned().collect())
    }
}

#[tokio::test]
async fn a_deployment_lives_on_the_cluster_that_it_names() -> Result<()> {
    let clusters = Clusters::start().await?;
    let (stack, dm) = (&clusters.stack, &clusters.stack.dm);
    let listed = dm.ok(&["clusters"]).await?;
    assert!(
        listed.contains("default") && listed.contains("tier=dev"),
        "{listed}"
    );
    let shown = dm.json(&["clusters", "get", "far"]).await?;
    assert_eq!(shown["capacity"], json!({"cpu": "8"}));
    assert!(!shown.to_string().contains(TOKEN), "{shown}");

    let pair = clusters.write("1")?;
    stack.deploy(&[&pair, "--cluster", "far"]).await?;
    assert_eq!(clusters.far_data("two")?["copy"], "1");
    assert_eq!(
        clusters.far_names("configmaps")?,
        ["kube-root-ca.crt", "one", "two"]
    );
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    assert_eq!(dm.json(&["get", "pair"]).await?["cluster"], "far");

    // Somebody changes an object there, and an update changes it back.
    let patch = [
        "patch",
        "configmap",
        "one",
        "-n",
        &stack.namespace,
        "-p",
        r#"{"data":{"size":"7"}}"#,
    ];
    clusters.far.kubectl(&patch)?;
    assert_eq!(
        clusters.drifted().await?.len(),
        2,
        "it, and the one that refers to it"
    );
    let diff = dm.run(&["diff", "pair"]).await?;
    assert!(
        diff.code != 0 && diff.stdout.contains("data.size"),
        "{diff:?}"
    );
    let grown = clusters.write("2")?;
    dm.ok(&["update", &grown, "--conflict-policy", "take"])
        .await?;
    assert_eq!(clusters.far_data("two")?["copy"], "2");
    assert_eq!(clusters.drifted().await?.len(), 0);
    let expected = dm.ok(&["preview", &clusters.write("3")?]).await?;
    assert!(expected.contains("data.size"), "{expected}");
    dm.ok(&["update", "pair", "--commit"]).await?;
    assert_eq!(clusters.far_data("two")?["copy"], "3");
    dm.ok(&["rollback", "pair", "1"]).await?;
    assert_eq!(clusters.far_data("two")?["copy"], "1");
    let exported = dm
        .ok(&[
            "export",
            "ConfigMap/one",
            "--cluster",
            "far",
            "-n",
            &stack.namespace,
        ])
        .await?;
    assert!(
        exported.contains("size: '1'") || exported.contains("size: \"1\""),
        "{exported}"
    );

    dm.ok(&["delete", "pair"]).await?;
    assert_eq!(clusters.far_names("configmaps")?, ["kube-root-ca.crt"]);
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}

#[tokio::test]
async fn clusters_are_filtered_and_refused() -> Result<()> {
    let mut clusters = Clusters::start().await?;
    let (stack, dm) = (&clusters.stack, &clusters.stack.dm);
    let pair = clusters.write("1")?;
    stack.deploy(&[&pair, "--cluster", "far"]).await?;
    stack.deploy(&[&pair, "--name", "near"]).await?;
    let of = async |cluster: &str| {
        let list = dm.json(&["list", "--cluster", cluster]).await?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        anyhow::Ok(
            items
                .iter()
                .map(|item| item["name"].clone())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        (of("far").await?, of("default").await?),
        (vec![json!("pair")], vec![json!("near")])
    );
    let (_, counted) = stack.get("/deployments?cluster=far&counts=true").await?;
    assert_eq!(counted["counts"], json!({"Deployed": 1}));

    let refusals: [(&[&str], &str); 7] = [
        (
            &["update", &pair, "--cluster", "default"],
            "cannot move it to 'default'",
        ),
        (
            &["diff", &pair, "--cluster", "default"],
            "cannot move it to 'default'",
        ),
        (
            &["deploy", &pair, "--name", "new", "--cluster", "none"],
            "there is no cluster 'none'",
        ),
        (
            &["clusters", "delete", "far"],
            "has deployments: pair; delete them first (dm list --cluster far)",
        ),
        (&["clusters", "delete", "default"], "it cannot be removed"),
        (
            &["clusters", "create", "far", "--url", "http://far"],
            "cluster 'far' exists",
        ),
        (
            &["deletecredential", "far-token"],
            "is used by clusters: far",
        ),
    ];
    for (args, expected) in refusals {
        let said = dm.run(args).await?;
        ensure!(
            said.code != 0 && said.stderr.contains(expected),
            "{args:?}: {said:?}"
        );
    }

    // Without its resourcifier, only what is on that cluster waits.
    clusters.resourcifier.stop().await?;
    let dm = &clusters.stack.dm;
    dm.ok(&["update", &clusters.write("2")?, "--name", "near"])
        .await?;
    let status = dm.run(&["status", "pair"]).await?;
    ensure!(
        status.code != 0 && status.stderr.contains("resourcifier"),
        "{status:?}"
    );
    clusters.resourcifier.again().await?;
    let dm = &clusters.stack.dm;
    for name in ["pair", "near"] {
        dm.ok(&["delete", name]).await?;
    }
    dm.ok(&["clusters", "delete", "far"]).await?;
    dm.ok(&["deletecredential", "far-token"]).await?;
    let left = dm.json(&["clusters"]).await?;
    assert_eq!(left["items"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[tokio::test]
async fn an_operation_on_another_cluster_goes_on_after_the_manager_is_killed() -> Result<()> {
    let mut clusters = Clusters::start().await?;
    let namespace = clusters.stack.namespace.clone();
    let deploy = [
        "deploy",
        "replicatedservice:v1",
        "--name",
        "web",
        "--properties",
        "replicas=3",
        "--async",
        "--cluster",
        "far",
        "--namespace",
        &namespace,
    ];
    let operation = clusters.stack.dm.json(&deploy).await?;
    clusters.stack.manager.crash()?;
    clusters.stack.manager.again().await?;
    clusters.stack.ready().await?;
    let id = operation["id"].as_str().unwrap_or_default().to_owned();
    let stack = &clusters.stack;
    until(
        "the operation to be done",
        Duration::from_secs(60),
        || async {
            let (_, operation) = stack.get(&format!("/operations/{id}")).await?;
            ensure!(
                operation["status"] == "DONE" && operation["error"].is_null(),
                "{operation}"
            );
            Ok(())
        },
    )
    .await?;
    assert_eq!(clusters.far_names("pods")?.len(), 3);
    assert_eq!(stack.names("pods")?, Vec::<String>::new());
    let events = stack.dm.ok(&["events", "web"]).await?;
    assert!(events.contains("web"), "{events}");
    stack.dm.ok(&["delete", "web"]).await?;
    assert_eq!(clusters.far_names("pods")?, Vec::<String>::new());
    Ok(())
}

const SERVICE: &str = "\
apiVersion: osb.servicefabrik.io/v1alpha1
kind: SFService
metadata: {name: data}
spec: {name: data, id: data, description: Data, bindable: true, planUpdatable: true}
";

/// Its instances are ConfigMaps, in the clusters of a tier.
const PLAN: &str = r#"
apiVersion: osb.servicefabrik.io/v1alpha1
kind: SFPlan
metadata: {name: small}
spec:
  name: small
  id: small
  serviceId: data
  description: Small
  free: true
  bindable: true
  context: {requests: {cpu: "CPU", memory: 1Gi}}
  templates:
  - action: provision
    type: gotemplate
    content: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: data}
      data: {tier: {{ .instance.spec.parameters.tier }}}
  - {action: bind, type: gotemplate, content: "{apiVersion: v1, kind: ConfigMap, metadata: {name: bound}}"}
  - {action: sources, type: gotemplate, content: "{}"}
  - action: status
    type: gotemplate
    content: |
      provision: {state: succeeded}
      bind: {state: succeeded, response: '{"credentials": {"a": "b"}}'}
      unbind: {state: succeeded}
      deprovision: {state: succeeded}
  - action: clusterSelector
    type: gotemplate
    content: tier={{ .instance.spec.parameters.tier }}
"#;

#[tokio::test]
async fn a_plan_chooses_the_cluster_of_its_instances() -> Result<()> {
    let clusters = Clusters::start().await?;
    let stack = &clusters.stack;
    let file = stack.write(
        "plan.yaml",
        &format!("{SERVICE}---{}", PLAN.replace("CPU", "5")),
    )?;
    let broker = Broker::start(stack, &file.display().to_string()).await?;
    clusters
        .register(&stack.dm.at(broker.manager.url()))
        .await?;
    let provision = async |id: &str, tier: &str| {
        let body = json!({
            "service_id": "data", "plan_id": "small", "organization_guid": "o", "space_guid": "s",
            "context": {"namespace": stack.namespace}, "parameters": {"tier": tier},
        });
        let path = format!("service_instances/{id}");
        broker.send(Method::PUT, &path, Some(body)).await
    };
    let (status, body) = provision("one", "dev").await?;
    ensure!(status == StatusCode::CREATED, "{status} {body}");
    assert_eq!(clusters.far_data("data")?["tier"], "dev");
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    let body = json!({"service_id": "data", "plan_id": "small"});
    let path = "service_instances/one/service_bindings/b";
    let (status, bound) = broker.send(Method::PUT, path, Some(body)).await?;
    ensure!(status == StatusCode::CREATED, "{status} {bound}");
    assert_eq!(
        clusters.far_names("configmaps")?,
        ["bound", "data", "kube-root-ca.crt"]
    );

    // Of the eight processors, five are taken.
    for (id, tier, expected) in [
        (
            "two",
            "dev",
            "No clusters found with required resources. cpu : 5, memory 1Gi.",
        ),
        (
            "three",
            "none",
            "No clusters found with matching criteria: tier=none",
        ),
    ] {
        let (status, body) = provision(id, tier).await?;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert_eq!(body["description"], expected);
    }
    // The manager's own cluster is one to choose, too.
    let own = stack.dm.at(broker.manager.url());
    for (cpu, expected) in [
        ("4", StatusCode::UNPROCESSABLE_ENTITY),
        ("8", StatusCode::CREATED),
    ] {
        let update = [
            "clusters",
            "update",
            "default",
            "--label",
            "tier=none",
            "--cpu",
            cpu,
        ];
        own.ok(&update).await?;
        let (status, body) = provision("three", "none").await?;
        ensure!(status == expected, "{cpu}: {status} {body}");
    }
    assert_eq!(stack.names("configmaps")?, ["data", "kube-root-ca.crt"]);
    let query = "?service_id=data&plan_id=small";
    for path in [path, "service_instances/one", "service_instances/three"] {
        let path = format!("{path}{query}");
        let (status, body) = broker.send(Method::DELETE, &path, None).await?;
        ensure!(status == StatusCode::OK, "{status} {body}");
    }
    assert_eq!(clusters.far_names("configmaps")?, ["kube-root-ca.crt"]);
    assert_eq!(stack.names("configmaps")?, ["kube-root-ca.crt"]);
    Ok(())
}
