//! The load: several users at the same time, each with deployments of its own, and their expected results.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::api::manager::{CreateDeployment, RollbackDeployment, UpdateDeployment, WriteQuery};
use common::client::manager::Write;
use common::client::{ClientError, ManagerClient};
use common::model::{
    DeploymentName, Import, ManifestName, Namespace, Operation, OperationId, OperationStatus,
};
use common::request_id;
use fastrand::Rng;
use tokio::sync::watch;

use super::managers::{ANSWER, Call, LOOK, Managers, PATIENCE};

const USERS: usize = 5;
/// Deployments of one user.
const DEPLOYMENTS: usize = 2;

const JINJA: &str = "\
resources:
{% for n in range(properties.count) %}
- name: {{ env.deployment }}-{{ n }}
  type: ConfigMap
  properties: {data: {version: '{{ properties.version }}'}}
{% endfor %}
";

const PYTHON: &str = "\
def GenerateConfig(context):
    name = context.env['deployment']
    labels = {'app': name}
    pod = {'metadata': {'labels': labels}, 'spec': {'containers': [{'name': 'main', 'image': 'nginx'}]}}
    maps = [{'name': '%s-%d' % (name, n), 'type': 'ConfigMap',
             'properties': {'data': {'version': str(context.properties['version'])}}}
            for n in range(context.properties['count'])]
    pods = {'name': name, 'type': 'Deployment', 'metadata': {'dependsOn': [name + '-0']},
            'properties': {'spec': {'replicas': 1, 'selector': {'matchLabels': labels}, 'template': pod}}}
    return {'resources': maps + [pods]}
";

/// What a deployment is asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    pub version: u32,
    /// Its config maps.
    pub count: u32,
    /// Whether it has a Deployment, which the Python template makes.
    pub pods: bool,
}

impl Wish {
    fn content(self) -> String {
        let template = if self.pods { "set.py" } else { "set.jinja" };
        let Self { version, count, .. } = self;
        format!(
            "resources:\n- name: set\n  type: {template}\n  properties: {{count: {count}, version: {version}}}\n"
        )
    }
}

fn imports() -> Vec<Import> {
    [("set.jinja", JINJA), ("set.py", PYTHON)]
        .map(|(name, content)| Import {
            name: name.to_owned(),
            path: None,
            content: content.to_owned(),
        })
        .to_vec()
}

/// How it all must be at the end, and what went wrong on the way.
#[derive(Debug, Default)]
pub struct Outcome {
    pub operations: usize,
    /// The deployments that must be there.
    pub expected: BTreeMap<DeploymentName, (ManifestName, Wish)>,
    pub faults: Vec<String>,
    /// The operations of each deployment, one after the other.
    pub history: BTreeMap<String, Vec<OperationId>>,
    /// Calls that no manager answered at once.
    pub calls: Vec<Call>,
}

pub struct Load {
    managers: Vec<ManagerClient>,
    namespace: String,
    seed: u64,
    stopped: watch::Receiver<bool>,
    answer: Duration,
}

impl Load {
    pub fn new(
        managers: Vec<ManagerClient>,
        namespace: &str,
        seed: u64,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        Self {
            managers,
            namespace: namespace.to_owned(),
            seed,
            stopped,
            answer: ANSWER,
        }
    }

    /// Its users wait so long for an answer before they ask another manager.
    pub const fn with_answer(mut self, answer: Duration) -> Self {
        self.answer = answer;
        self
    }

    /// Until it is stopped and each user is done with what it began.
    pub async fn run(self) -> Outcome {
        let user = |index: usize| User {
            managers: Managers::new(self.managers.clone(), index, self.answer),
            namespace: self.namespace.clone(),
            rng: Rng::with_seed(self.seed.wrapping_add(1 + index as u64)),
            deployments: (0..DEPLOYMENTS)
                .map(|n| Known::new(format!("user-{index}-{n}")))
                .collect(),
            outcome: Outcome::default(),
        };
        let mut users = tokio::task::JoinSet::new();
        for index in 0..USERS {
            users.spawn(user(index).work(self.stopped.clone()));
        }
        let mut all = Outcome::default();
        for outcome in users.join_all().await {
            all.operations += outcome.operations;
            all.expected.extend(outcome.expected);
            all.faults.extend(outcome.faults);
            all.history.extend(outcome.history);
            all.calls.extend(outcome.calls);
        }
        all
    }
}

/// What a user knows of a deployment.
struct Known {
    name: String,
    /// All manifests since it was created, the present one last.
    history: Vec<(ManifestName, Wish)>,
}

impl Known {
    fn new(name: String) -> Self {
        Self {
            name,
            history: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Deed {
    Create(Wish),
    Update(Wish),
    /// To this one of its history.
    Rollback(usize),
    Delete,
}

struct User {
    managers: Managers,
    namespace: String,
    rng: Rng,
    deployments: Vec<Known>,
    outcome: Outcome,
}

impl User {
    async fn work(mut self, stopped: watch::Receiver<bool>) -> Outcome {
        while !*stopped.borrow() {
            let index = self.rng.usize(0..self.deployments.len());
            let deed = self.choose(index);
            let name = self.deployments[index].name.clone();
            self.outcome.operations += 1;
            match self.carry_out(index, deed).await {
                Ok(operation) => self.learn(index, deed, operation),
                Err(fault) => {
                    self.outcome
                        .faults
                        .push(format!("{deed:?} of {name}: {fault}"));
                    // What is there now is not known: this user is of no more use.
                    break;
                }
            }
        }
        for known in self.deployments {
            if let (Ok(name), Some(last)) =
                (DeploymentName::parse(known.name), known.history.last())
            {
                self.outcome.expected.insert(name, last.clone());
            }
        }
        self.outcome.calls = self.managers.into_calls();
        self.outcome
    }

    fn choose(&mut self, index: usize) -> Deed {
        let wish = Wish {
            version: self.rng.u32(..),
            count: self.rng.u32(1..6),
            pods: self.rng.u32(..3) == 0,
        };
        let manifests = self.deployments[index].history.len();
        match (manifests, self.rng.u32(..10)) {
            (0, _) => Deed::Create(wish),
            (2.., 0..3) => Deed::Rollback(self.rng.usize(0..manifests - 1)),
            (_, 3..5) => Deed::Delete,
            _ => Deed::Update(wish),
        }
    }

    fn learn(&mut self, index: usize, deed: Deed, operation: Operation) {
        let name = self.deployments[index].name.clone();
        let operations = self.outcome.history.entry(name).or_default();
        operations.push(operation.id.clone());
        let history = &mut self.deployments[index].history;
        let wish = match deed {
            Deed::Delete => return history.clear(),
            Deed::Create(wish) | Deed::Update(wish) => wish,
            Deed::Rollback(to) => history[to].1,
        };
        match operation.manifest {
            Some(manifest) => history.push((manifest, wish)),
            None => self
                .outcome
                .faults
                .push(format!("operation {} names no manifest", operation.id)),
        }
    }

    /// The operation at its end, if it succeeded.
    async fn carry_out(&self, index: usize, deed: Deed) -> Result<Operation, String> {
        // The same key in each try: whether an earlier one was heard, only the manager knows.
        let write = Write {
            query: WriteQuery {
                allow_deletes: !matches!(deed, Deed::Create(_) | Deed::Delete),
                ..WriteQuery::default()
            },
            idempotency_key: Some(request_id::fresh()),
            ..Write::default()
        };
        let operation = self
            .managers
            .ask(|manager| self.start(manager, index, deed, &write))
            .await?;
        let operation = self.end(operation).await?;
        match &operation.error {
            None => Ok(operation),
            Some(error) => Err(format!(
                "operation {} ended with {}: {error} {:?}",
                operation.id, error.code, error.causes
            )),
        }
    }

    async fn start(
        &self,
        manager: ManagerClient,
        index: usize,
        deed: Deed,
        write: &Write,
    ) -> Result<Operation, ClientError> {
        let known = &self.deployments[index];
        let name = DeploymentName::parse(known.name.as_str()).map_err(unnamed)?;
        let write = write.clone();
        match deed {
            Deed::Create(wish) => {
                let request = CreateDeployment {
                    name,
                    content: wish.content(),
                    imports: imports(),
                    namespace: Some(Namespace::parse(self.namespace.as_str()).map_err(unnamed)?),
                    description: String::new(),
                    labels: BTreeMap::new(),
                    cluster: None,
                    drift_policy: common::model::DriftPolicy::default(),
                    service_account: None,
                };
                manager.create_async(&request, write).await
            }
            Deed::Update(wish) => {
                let request = UpdateDeployment {
                    content: Some(wish.content()),
                    imports: imports(),
                    ..UpdateDeployment::default()
                };
                manager.update_async(&name, &request, write).await
            }
            Deed::Rollback(to) => {
                let manifest = known.history[to].0.clone();
                let request = RollbackDeployment { manifest };
                manager.rollback_async(&name, &request, write).await
            }
            Deed::Delete => manager.delete_async(&name, write).await,
        }
    }

    async fn end(&self, operation: Operation) -> Result<Operation, String> {
        let begun = Instant::now();
        loop {
            let id = &operation.id;
            let now = self
                .managers
                .ask(|manager| async move { manager.operation(id).await })
                .await?;
            if now.status == OperationStatus::Done {
                return Ok(now);
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("operation {} does not end: {now:?}", now.id));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn unnamed(error: common::model::NameError) -> ClientError {
    ClientError::InvalidUrl {
        url: String::new(),
        reason: error.to_string(),
    }
}
