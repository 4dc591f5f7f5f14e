//! `dm import helm-release`: makes a deployment of a release, and takes its objects over as they are.

use clap::Args;
use common::api::deployer::{ResourceDiff, ResourceIntent};
use common::api::manager::{
    CreateDeployment, DiffQuery, PolicyQuery, UpdateDeployment, WriteQuery,
};
use common::model::{
    ClusterName, ConflictPolicy, CreatePolicy, DeploymentName, DriftPolicy, Import, Namespace,
    Predecessor,
};
use common::yaml;
use serde_json::{Value, json};

use super::chart::{self, ChartType};
use super::release::{Release, Revision, deployed};
use crate::client::operation::write::{Subject, query, write};
use crate::client::render::change;
use crate::client::session::Session;
use crate::error::{CommandError, Failure, Sources};
use crate::kubectl::Kubectl;

/// The namespace of objects, if nothing names one.
const NAMESPACE: &str = "default";
/// What says who manages an object. Helm writes its own name there.
const OWNERSHIP: [&str; 2] = ["app.kubernetes.io/managed-by", "deployment-manager.dev/"];
/// One line for each revision: the Secret's name, the number and the status.
const LINES: &str = r#"jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}"#;
const RECORD: &str = "jsonpath={.data.release}";

/// Make a deployment of a release that Helm installed, and take its objects over without changing them.
///
/// The chart and the values come from Helm's record, which is read with kubectl and your own rights. Before anything is
/// written, the command compares what the chart renders to with the cluster, and ends if there is a difference.
#[derive(Debug, Args)]
pub struct HelmRelease {
    /// Name of the release.
    pub release: String,
    /// Namespace of the release [default: that of the context, or default].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Name of the deployment [default: the name of the release].
    #[arg(long)]
    pub name: Option<DeploymentName>,
    /// Cluster of the release, as in dm clusters; kubectl must lead there too [default: that of the manager's own resourcifier].
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<ClusterName>,
    /// The chart of the release, if Helm's record does not have all of it: a reference, a folder or an archive.
    #[arg(long, value_name = "CHART")]
    pub chart: Option<String>,
    /// Show what the import would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Import although objects would change.
    #[arg(long)]
    pub accept_changes: bool,
    /// Afterwards remove Helm's record of the release, so that Helm no longer knows it. The objects stay.
    #[arg(long, conflicts_with = "dry_run")]
    pub forget_release: bool,
    /// Program kubectl, which reads Helm's record.
    #[arg(long, value_name = "PATH", default_value = "kubectl")]
    pub kubectl: String,
    /// Context of the kubeconfig [default: the current one].
    #[arg(long)]
    pub kube_context: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error(
        "importing release {release} would change {objects} of its objects, so nothing was imported; change the values of the release until dm import helm-release {release} --dry-run shows no change, or accept the changes with --accept-changes"
    )]
    Changes { release: String, objects: usize },
    #[error(
        "the name of release {release} is not a name of a deployment: {reason}; give one with --name"
    )]
    Name { release: String, reason: String },
}

impl CommandError for ImportError {}

/// What is deployed.
struct Content {
    name: DeploymentName,
    namespace: Namespace,
    description: String,
    content: String,
    imports: Vec<Import>,
}

impl HelmRelease {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let namespace = match self.namespace.clone().or_else(|| session.namespace.clone()) {
            Some(namespace) => namespace,
            None => Namespace::parse(NAMESPACE)?,
        };
        let release = self.record(&namespace).await?;
        let content = self.content(&release, namespace, session).await?;
        let changed = self.compare(&content, session).await?;
        if self.dry_run {
            return Ok(());
        }
        if changed > 0 && !self.accept_changes {
            return Err(ImportError::Changes {
                release: self.release,
                objects: changed,
            }
            .into());
        }
        let namespace = content.namespace.clone();
        self.create(content, session).await?;
        match self.forget_release {
            true => self.forget(&namespace, session).await,
            false => Ok(()),
        }
    }

    fn kubectl(&self) -> Kubectl {
        Kubectl {
            program: self.kubectl.clone(),
            context: self.kube_context.clone(),
        }
    }

    fn selector(&self) -> String {
        format!("--selector=owner=helm,name={}", self.release)
    }

    async fn record(&self, namespace: &Namespace) -> Result<Release, Failure> {
        let (kubectl, place) = (self.kubectl(), format!("--namespace={namespace}"));
        let selector = self.selector();
        let list = ["get", "secrets", &place, &selector, "-o", LINES];
        let revisions = Revision::list(&kubectl.run(&list, "").await?);
        let revision = deployed(&revisions, &self.release, namespace.as_str())?;
        let get = ["get", "secret", &revision.secret, &place, "-o", RECORD];
        let data = kubectl.run(&get, "").await?;
        Ok(Release::read(&self.release, &data)?)
    }

    async fn content(
        &self,
        release: &Release,
        namespace: Namespace,
        session: &Session<'_, '_>,
    ) -> Result<Content, Failure> {
        let ChartType { type_name, imports } = match &self.chart {
            Some(given) => chart::named(given, release, session).await?,
            None => chart::stored(release)?,
        };
        let name = match &self.name {
            Some(name) => name.clone(),
            None => DeploymentName::parse(&release.name).map_err(|error| ImportError::Name {
                release: release.name.clone(),
                reason: error.to_string(),
            })?,
        };
        // The name of the resource is the name of the release for its templates.
        let mut resource = json!({"name": release.name, "type": type_name});
        if !release.config.is_empty() {
            resource["properties"] = Value::Object(release.config.clone());
        }
        let content = yaml::write(&json!({"resources": [resource]}))
            .map_err(crate::terminal::format::OutputError::from)?;
        Ok(Content {
            name,
            namespace,
            description: format!(
                "Helm release {}, revision {}",
                release.name, release.revision
            ),
            content,
            imports,
        })
    }

    fn policies() -> PolicyQuery {
        PolicyQuery {
            create_policy: Some(CreatePolicy::Acquire),
            // One of the fields says that Helm manages the object.
            conflict_policy: Some(ConflictPolicy::Take),
            ..PolicyQuery::default()
        }
    }

    fn subject(&self, doing: &str) -> Subject {
        Subject::new(
            format!("{doing} release {}", self.release),
            Sources::default(),
        )
    }

    /// Shows the changes. Returns how many objects would change.
    async fn compare(
        &self,
        content: &Content,
        session: &mut Session<'_, '_>,
    ) -> Result<usize, Failure> {
        let request = UpdateDeployment {
            content: Some(content.content.clone()),
            imports: content.imports.clone(),
            ..UpdateDeployment::default()
        };
        let query = DiffQuery {
            timeout_ms: session.timeout_ms(),
            namespace: Some(content.namespace.clone()),
            cluster: self.cluster.clone(),
            hooks: Some(false),
            policies: Self::policies(),
            ..DiffQuery::default()
        };
        let diff = session.client.diff(&content.name, &request, &query).await;
        let mut diff = diff.map_err(|error| self.subject("comparing").failed(error))?;
        session.terminal.warn(&diff.warnings);
        // An object that only gets an owner stays as it is.
        for resource in &mut diff.resources {
            resource
                .changes
                .retain(|change| !says_who_owns(&change.path));
        }
        diff.resources.retain(is_change);
        let changed = diff.resources.len();
        let colours = session.terminal.colours;
        if self.dry_run || changed > 0 {
            session.show(&diff, |diff| match changed {
                0 => format!(
                    "importing release {} would change no object\n",
                    self.release
                ),
                _ => format!(
                    "{}{}\n",
                    change::resources(&diff.resources, colours),
                    change::summary(&diff.summary),
                ),
            })?;
        }
        Ok(changed)
    }

    async fn create(&self, content: Content, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let request = CreateDeployment {
            name: content.name,
            content: content.content,
            imports: content.imports,
            namespace: Some(content.namespace),
            cluster: self.cluster.clone(),
            drift_policy: DriftPolicy::default(),
            service_account: None,
            labels: Default::default(),
            description: content.description,
        };
        let query = WriteQuery {
            // Helm has run them, and owns all fields.
            hooks: Some(false),
            predecessor: Some(Predecessor::Helm),
            policies: Self::policies(),
            ..query(session)
        };
        let client = session.client.clone();
        let start = |write| client.create_async(&request, write);
        write(session, self.subject("importing"), query, false, start).await
    }

    async fn forget(
        &self,
        namespace: &Namespace,
        session: &mut Session<'_, '_>,
    ) -> Result<(), Failure> {
        let place = format!("--namespace={namespace}");
        let selector = self.selector();
        let delete = ["delete", "secrets", &place, &selector];
        self.kubectl().run(&delete, "").await?;
        session.terminal.note(&format!(
            "Helm no longer knows release {}; its objects stay",
            self.release
        ));
        Ok(())
    }
}

fn says_who_owns(path: &str) -> bool {
    path.starts_with("metadata.") && OWNERSHIP.iter().any(|name| path.contains(name))
}

fn is_change(resource: &ResourceDiff) -> bool {
    let keeps = matches!(
        resource.intent,
        ResourceIntent::Acquire | ResourceIntent::None
    );
    !keeps || !resource.changes.is_empty() || resource.error.is_some()
}
