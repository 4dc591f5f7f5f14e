//! A namespace of the real cluster, and the service that works in it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{
    ApplyRequest, DeleteRequest, DiffReport, FieldChange, ObjectStatus, Report, ResourceDiff,
    StatusRequest,
};
use common::api::error::ErrorBody;
use common::model::Identity;
use e2e::Cluster;
use resourcifier::apply::{Events, Stopped};
use resourcifier::kubectl::{Caller, Cluster as _, ClusterApi, Gate, Settings, ThroughProxy};
use resourcifier::service::{AnonymousPolicy, Deployer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub const TIMEOUT_MS: u64 = 60_000;

pub struct World {
    pub cluster: &'static Cluster,
    pub deployer: Deployer,
    pub namespace: String,
    kubectl: Arc<ThroughProxy>,
    /// In whose name requests are made.
    on_behalf_of: Option<Identity>,
}

impl World {
    /// With a namespace of its own.
    pub async fn new() -> Self {
        let cluster = Cluster::shared().await.unwrap();
        let id = common::request_id::fresh();
        let namespace = format!("t-{}", &id[id.len() - 12..].to_lowercase());
        cluster
            .kubectl(&["create", "namespace", &namespace])
            .unwrap();
        Self::of(cluster, cluster.kubeconfig().to_owned(), namespace)
    }

    /// The same namespace, as somebody else.
    pub fn with_kubeconfig(&self, kubeconfig: PathBuf) -> Self {
        Self::of(self.cluster, kubeconfig, self.namespace.clone())
    }

    /// The same namespace, in the name of a user.
    pub fn in_the_name_of(&self, user: &str) -> Self {
        self.with_kubeconfig(self.cluster.kubeconfig().to_owned())
            .acting_for(user)
    }

    /// From now on in the name of a user.
    pub fn acting_for(mut self, user: &str) -> Self {
        self.on_behalf_of = Some(serde_json::from_value(json!({"user": user})).unwrap());
        self
    }

    #[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
    fn of(cluster: &'static Cluster, kubeconfig: PathBuf, namespace: String) -> Self {
        let settings = Settings {
            program: std::env::var_os("DM_KUBECTL")
                .map_or_else(|| cluster.kubectl_path().to_owned(), PathBuf::from),
            kubeconfig: Some(kubeconfig),
            context: None,
            launcher: None,
        };
        let kubectl = Arc::new(ThroughProxy::new(settings).unwrap());
        Self {
            deployer: Deployer::new(kubectl.clone(), AnonymousPolicy::UseServiceIdentity),
            cluster,
            namespace,
            kubectl,
            on_behalf_of: None,
        }
    }

    /// The objects of the cluster, as the service itself.
    pub fn objects(&self) -> Arc<dyn ClusterApi> {
        let gate = Arc::new(Gate::open());
        self.kubectl.clone().acting_for(Caller::itself(), gate)
    }

    /// Ends the service, and leaves the namespace to the others in it.
    pub async fn end_only_service(self) {
        self.kubectl.stop().await;
    }

    /// Ends what the test left running.
    pub async fn end(self) {
        self.kubectl.stop().await;
        let args = ["delete", "namespace", &self.namespace, "--wait=false"];
        self.cluster.kubectl(&args).unwrap();
    }

    fn events() -> Events {
        let (sender, mut receiver) = mpsc::channel(16);
        tokio::spawn(async move { while receiver.recv().await.is_some() {} });
        Events::new(sender)
    }

    /// The request of deployment `web`, with more or other fields.
    pub fn request(&self, resources: Value, more: Value) -> ApplyRequest {
        let mut whole = json!({
            "deployment": "web", "namespace": self.namespace, "resources": resources, "timeoutMs": TIMEOUT_MS,
        });
        let fields = whole.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let mut request: ApplyRequest = serde_json::from_value(whole).unwrap();
        request.on_behalf_of = self.on_behalf_of.clone();
        request
    }

    pub async fn try_apply(&self, resources: Value, more: Value) -> Result<Report, ErrorBody> {
        let request = self.request(resources, more);
        let prepared = self.deployer.prepare_apply(request).await?;
        ended(prepared.apply(&Self::events()).await)
    }

    pub async fn apply(&self, resources: Value) -> Report {
        self.try_apply(resources, json!({})).await.unwrap()
    }

    /// Applies what has to succeed.
    pub async fn applied(&self, resources: Value) -> Report {
        let report = self.apply(resources).await;
        let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
        assert_eq!(errors, Vec::<String>::new());
        report
    }

    pub async fn diff(&self, resources: Value, more: Value) -> DiffReport {
        let request = self.request(resources, more);
        let prepared = self.deployer.prepare_apply(request).await.unwrap();
        ended(prepared.diff(&Self::events()).await).unwrap()
    }

    pub async fn delete(&self, recorded: &Report, timeout_ms: u64) -> Report {
        self.try_delete(recorded, timeout_ms).await.unwrap()
    }

    pub async fn try_delete(
        &self,
        recorded: &Report,
        timeout_ms: u64,
    ) -> Result<Report, ErrorBody> {
        self.try_delete_of("web", recorded, timeout_ms).await
    }

    /// Deletes what a deployment has.
    pub async fn try_delete_of(
        &self,
        deployment: &str,
        recorded: &Report,
        timeout_ms: u64,
    ) -> Result<Report, ErrorBody> {
        let request = json!({
            "deployment": deployment, "namespace": self.namespace, "recorded": recorded.objects, "timeoutMs": timeout_ms,
        });
        let mut request: DeleteRequest = serde_json::from_value(request).unwrap();
        request.on_behalf_of = self.on_behalf_of.clone();
        let prepared = self.deployer.prepare_delete(request).await?;
        ended(prepared.delete(&Self::events()).await)
    }

    pub async fn status(
        &self,
        recorded: &Report,
        resources: Value,
        policies: Value,
    ) -> Vec<ObjectStatus> {
        let request = json!({
            "objects": recorded.objects,
            "desired": {"deployment": "web", "namespace": self.namespace, "resources": resources, "policies": policies},
        });
        let mut request: StatusRequest = serde_json::from_value(request).unwrap();
        request.on_behalf_of = self.on_behalf_of.clone();
        self.deployer.status(request).await.unwrap()
    }

    /// kubectl in the namespace.
    pub fn kubectl(&self, args: &[&str]) -> String {
        let place = ["--namespace", &self.namespace];
        self.cluster.kubectl(&[&place, args].concat()).unwrap()
    }

    /// Waits until the cluster has caught up.
    pub async fn until(&self, mut is_so: impl FnMut() -> bool) {
        let look = || {
            let found = is_so();
            async move {
                found
                    .then_some(())
                    .ok_or_else(|| anyhow::anyhow!("not yet"))
            }
        };
        e2e::until("the cluster", Duration::from_secs(30), look)
            .await
            .unwrap();
    }

    /// Creates an object as somebody else than the service does.
    pub fn create(&self, object: &Value) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("object.json");
        std::fs::write(&file, object.to_string()).unwrap();
        self.kubectl(&["create", "--filename", file.to_str().unwrap()]);
    }

    pub fn live(&self, kind: &str, name: &str) -> Value {
        serde_json::from_str(&self.kubectl(&["get", kind, name, "--output", "json"])).unwrap()
    }
}

fn ended<T>(outcome: Result<T, Stopped>) -> Result<T, ErrorBody> {
    outcome.map_err(|stopped| match stopped {
        Stopped::Refused(error) => error,
        Stopped::Halted(halt) => panic!("{halt}"),
    })
}

pub fn map(name: &str, data: Value) -> Value {
    json!({"name": name, "type": "ConfigMap", "properties": {"data": data}})
}

/// A Deployment whose pods do well, unless its image says otherwise.
pub fn app(name: &str, replicas: u64, image: &str) -> Value {
    let labels = json!({"app": name});
    let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": image}]}});
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod});
    json!({"name": name, "type": "Deployment", "properties": {"spec": spec}})
}

pub const WELL: &str = "simulated.invalid/well";

/// The changes as `path: before → after`.
pub fn said(changes: &[FieldChange]) -> Vec<String> {
    let text = |value: &Option<Value>| value.as_ref().map_or("–".to_owned(), Value::to_string);
    changes
        .iter()
        .map(|change| {
            let (before, after) = (text(&change.before), text(&change.after));
            format!("{}: {before} → {after}", change.path)
        })
        .collect()
}

pub fn intents(report: &DiffReport) -> Vec<(&str, String)> {
    let intent = |diff: &ResourceDiff| json!(diff.intent).as_str().unwrap().to_owned();
    report
        .resources
        .iter()
        .map(|diff| (diff.name.as_str(), intent(diff)))
        .collect()
}

/// The only error of a report.
pub fn error(report: &Report) -> &ErrorBody {
    let mut errors = report.errors();
    let error = errors.next().unwrap();
    assert_eq!(errors.next(), None);
    error
}
