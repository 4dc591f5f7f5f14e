//! The broker over the manager's own operations, with the fakes of expandybird and of the cluster.

mod crashes;
mod platform;

use std::sync::Arc;

use common::api::manager::UpdateDeployment;
use common::api::page::PageQuery;
use common::model::DeploymentName;
use manager_broker::{Address, Answer, BrokerError, Context, Ids, Poll};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;
use crate::app::App;
use crate::auth;
use crate::deployer::fake::REFUSED;
use crate::service::writes::asked::Asked;
use crate::store::kv::Kv;
use crate::store::maintenance::verify::verify;
use crate::testing::TestBed;

const CATALOG: &str = r"
services:
- id: s
  name: web
  description: a web
  bindable: true
  plan_updateable: true
  instances_retrievable: true
  bindings_retrievable: true
  plans:
  - {id: p, name: small, description: small, type: pair:v1, bind: {type: login:v1}}
  - {id: later, name: later, description: later, type: pair:v1, async: true, bind: {type: login:v1}}
  - {id: refused, name: refused, description: refused, type: refused:v1, bindable: false}
  - {id: broken, name: broken, description: broken, type: broken:v1, bindable: false}
";

const LOGIN: &str = r#"{
    "resources": [{"name": "secret", "type": "Secret", "properties": {"stringData": {"password": "correct horse"}}}],
    "outputs": [{"name": "credentials", "value": {"password": "correct horse", "uri": "postgres://app@db-of-all"}}]
}"#;

fn bed() -> TestBed {
    let bed = TestBed::new();
    bed.add_template("login", LOGIN);
    let refused = json!({"resources": [{"name": REFUSED, "type": "Pod"}]}).to_string();
    bed.add_template("refused", &refused);
    bed.add_template("broken", crate::expander::fake::BROKEN);
    bed
}

/// A manager with a broker.
struct Served {
    app: App,
    broker: Broker,
    _folder: TempDir,
}

impl Served {
    /// As the process begins: what ran goes on.
    async fn new(bed: &TestBed, kv: Arc<dyn Kv>) -> Self {
        let app = bed.manager_on(kv).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("catalog.yaml");
        std::fs::write(&file, CATALOG).unwrap();
        let deployments = Arc::new(app.services.broker_deployments());
        let sources = app.services.broker_sources(None);
        let catalogs = vec![sources.open(&Address::File(file))];
        let catalogs = Arc::new(Catalogs::open(catalogs).await);
        Self {
            broker: Broker::new(catalogs, deployments, true),
            app,
            _folder: folder,
        }
    }

    async fn recovered(bed: &TestBed) -> Self {
        let served = Self::new(bed, bed.kv.clone()).await;
        served.app.engine.recover().await.unwrap();
        served.broker.recover().await.unwrap();
        served
    }

    async fn provision(&self, plan: &str) -> Result<Answer, BrokerError> {
        let body = body(plan, json!({"size": 2}));
        self.broker.provision("i", &context(), &body).await
    }

    async fn update(&self, size: u8) -> Result<Answer, BrokerError> {
        let body = map(json!({"service_id": "s", "parameters": {"size": size}}));
        self.broker.update("i", &context(), &body).await
    }

    async fn bind(&self) -> Result<Answer, BrokerError> {
        let body = body("p", json!({"password": "hunter2!"}));
        self.broker.bind("i", "b", &context(), &body).await
    }

    async fn unbind(&self) -> Result<Answer, BrokerError> {
        self.broker.unbind("i", "b", &context(), &ids("p")).await
    }

    async fn deprovision(&self, plan: &str) -> Result<Answer, BrokerError> {
        self.broker.deprovision("i", &context(), &ids(plan)).await
    }

    /// What the manager's own API shows, of everything.
    async fn shown(&self) -> String {
        let (services, caller) = (&self.app.services, auth::Caller::default());
        let page = PageQuery::default();
        let mut shown = String::new();
        for name in self.deployments().await {
            let found = services.deployments.get(&name).await.unwrap();
            shown += &serde_json::to_string(&found).unwrap();
            let manifests = services.manifests.list(&name, &page).await.unwrap();
            for summary in manifests.items {
                let manifest = services.manifests.get(&name, &summary.name).await;
                shown += &serde_json::to_string(&manifest.unwrap()).unwrap();
            }
        }
        let operations = services.operations.list(None, &page, &caller).await;
        shown + &serde_json::to_string(&operations.unwrap().items).unwrap()
    }

    async fn deployments(&self) -> Vec<DeploymentName> {
        let (query, caller) = (Default::default(), auth::Caller::default());
        let listed = self.app.services.deployments.list(&query, &caller).await;
        let listed: Vec<common::model::Deployment> = crate::testing::items(&listed.unwrap());
        listed.into_iter().map(|found| found.name).collect()
    }
}

fn context() -> Context {
    Context::default()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn body(plan: &str, parameters: Value) -> Map<String, Value> {
    map(json!({"service_id": "s", "plan_id": plan, "parameters": parameters}))
}

fn ids(plan: &str) -> Ids {
    Ids {
        service_id: Some("s".to_owned()),
        plan_id: Some(plan.to_owned()),
    }
}

/// The status of an answer or a refusal.
fn status(answered: &Result<Answer, BrokerError>) -> u16 {
    match answered {
        Ok(answer) => answer.status,
        Err(error) => error.status,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_and_its_binding_are_deployments_and_leave_nothing() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    assert_eq!(served.provision("p").await.unwrap().status, 201);
    assert_eq!(bed.deployer.objects(), ["left", "right"]);
    let credentials = served.bind().await.unwrap().body["credentials"].clone();
    assert_eq!(credentials["password"], "correct horse");
    assert_eq!(served.bind().await.unwrap().status, 200);
    let fetched = served.broker.fetch_binding("i", "b").await.unwrap();
    assert_eq!(fetched.body["credentials"], credentials);
    assert_eq!(served.update(3).await.unwrap().status, 200);
    let shown = served.broker.fetch_instance("i").await.unwrap();
    assert_eq!(shown.body["parameters"], json!({"size": 3}));
    let report = verify(&served.app.services.writes.store).await.unwrap();
    assert!(report.ok, "{:?}", report.problems);

    assert_eq!(served.unbind().await.unwrap().status, 200);
    assert_eq!(bed.deployer.objects(), ["left", "right"]);
    assert_eq!(served.deprovision("p").await.unwrap().status, 200);
    assert!(bed.deployer.objects().is_empty());
    assert!(served.deployments().await.is_empty());
    let poll = served.broker.poll_instance("i", &Poll::default()).await;
    assert_eq!(status(&poll), 410);
    let left = bed.keys().await;
    let left = left.iter().filter(|key| key.starts_with("broker-"));
    let kinds: Vec<_> = left.map(|key| key.split('·').next().unwrap()).collect();
    let expected = [
        "broker-binding",
        "broker-gone",
        "broker-gone",
        "broker-instance",
    ];
    assert_eq!(kinds, expected);
    let report = verify(&served.app.services.writes.store).await.unwrap();
    assert!(report.ok, "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_see_the_ids_of_the_platform() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    served.provision("p").await.unwrap();
    served.bind().await.unwrap();
    let requests = bed.expander.requests();
    let [first, .., last] = &requests[..] else {
        panic!("{} expansions", requests.len())
    };
    let seen = |env: &Map<String, Value>, key| env.get(key).cloned().unwrap_or_default();
    let expected = [
        ("instance_id", "i"),
        ("service_id", "s"),
        ("plan_id", "p"),
        ("deployment", "osb-i"),
    ];
    for (key, value) in expected {
        assert_eq!(seen(&first.env, key), value, "{key}");
    }
    assert_eq!(seen(&first.env, "binding_id"), Value::Null);
    assert_eq!(seen(&last.env, "binding_id"), "b");
    assert_eq!(seen(&last.env, "instance_id"), "i");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_given_by_the_broker_only() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    served.provision("p").await.unwrap();
    served.bind().await.unwrap();
    let shown = served.shown().await;
    for secret in ["correct horse", "db-of-all", "hunter2"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(shown.contains("credentials"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_undone_and_the_platform_gets_the_reason() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    for (plan, status) in [("broken", 400), ("refused", 500)] {
        let error = served.provision(plan).await.unwrap_err();
        assert_eq!(error.status, status, "{error}");
        assert!(!error.description.is_empty());
        assert!(served.deployments().await.is_empty(), "{plan}");
        let poll = served.broker.poll_instance("i", &Poll::default()).await;
        assert_eq!(self::status(&poll), 404, "{plan}");
    }
    served.provision("p").await.unwrap();
    let change = map(json!({"service_id": "s", "plan_id": "refused"}));
    let error = served
        .broker
        .update("i", &context(), &change)
        .await
        .unwrap_err();
    assert_eq!(error.status, 500, "{error}");
    assert_eq!(
        (error.instance_usable, error.update_repeatable),
        (Some(true), Some(true))
    );
    let shown = served.broker.fetch_instance("i").await.unwrap();
    assert_eq!(shown.body["plan_id"], "p");
    assert_eq!(bed.deployer.objects(), ["left", "right"]);
    assert_eq!(served.deprovision("p").await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_past_the_broker_warns_and_one_of_the_broker_does_not() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    served.provision("p").await.unwrap();
    served.bind().await.unwrap();
    served.update(3).await.unwrap();
    let writes = &served.app.services.writes;
    let page = PageQuery::default();
    let caller = auth::Caller::default();
    let operations = served.app.services.operations.list(None, &page, &caller);
    for operation in operations.await.unwrap().items {
        assert_eq!(operation.warnings, [""; 0], "{operation:?}");
    }
    let mut deployments = served.deployments().await;
    deployments.sort();
    let whats = ["service binding", "service instance"];
    for (name, what) in deployments.into_iter().zip(whats) {
        let nothing = UpdateDeployment {
            content: Some(json!({"resources": []}).to_string()),
            ..UpdateDeployment::default()
        };
        let update = writes.update(name.clone(), nothing, Asked::default()).await;
        let updated = update.unwrap().outcome().await.unwrap().operation.clone();
        let delete = writes.delete(name.clone(), Asked::default()).await;
        let deleted = delete.unwrap().outcome().await.unwrap().operation.clone();
        for operation in [updated, deleted] {
            let warnings = operation.warnings.join(" ");
            let expected = format!("deployment '{name}' is a {what} of the service broker");
            assert!(warnings.contains(&expected), "{operation:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_stops_the_provision_that_is_running() {
    let bed = bed();
    let served = Served::recovered(&bed).await;
    let gate = bed.deployer.hold();
    let broker = served.broker.clone();
    let provisioning = tokio::spawn(async move {
        broker
            .provision("i", &context(), &body("p", json!({})))
            .await
    });
    // It is stored before it is applied.
    while served.deployments().await.is_empty() {
        tokio::task::yield_now().await;
    }
    let broker = served.broker.clone();
    let deleting =
        tokio::spawn(async move { broker.deprovision("i", &context(), &ids("p")).await });
    loop {
        let poll = served.broker.fetch_instance("i").await;
        if status(&poll) == 422 {
            break;
        }
        tokio::task::yield_now().await;
    }
    bed.deployer.release();
    gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS >> 1);
    assert_eq!(status(&deleting.await.unwrap()), 200);
    assert_eq!(status(&provisioning.await.unwrap()), 422);
    assert!(served.deployments().await.is_empty());
    assert!(bed.deployer.objects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_of_the_broker_need_permission_as_all_others_do() {
    let mut bed = bed();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    bed.auth.auth_tokens = Some(file("tokens", "tokens: []"));
    let policy = "bindings: [{role: edit, users: [shop], namespaces: [shop]}]";
    bed.auth.auth_policy = Some(file("policy", policy));
    let served = Served::recovered(&bed).await;
    let provision = async |user: &str, namespace: &str| {
        let mut body = body("p", json!({}));
        body.insert("context".to_owned(), json!({"namespace": namespace}));
        let mut context = context();
        context.caller.user = user.to_owned();
        served.broker.provision("i", &context, &body).await
    };
    for (user, namespace) in [("other", "shop"), ("shop", "other")] {
        let refused = provision(user, namespace).await;
        assert_eq!(status(&refused), 403, "{user} {namespace}: {refused:?}");
    }
    assert!(bed.deployer.jobs().is_empty());
    assert_eq!(status(&provision("shop", "shop").await), 201);
}
