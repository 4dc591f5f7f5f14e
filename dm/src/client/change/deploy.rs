//! `dm deploy`: creates a deployment.

use clap::Args;
use common::api::manager::{CreateDeployment, UpdateDeployment};
use common::model::Namespace;

use super::options::{Metadata, WriteOptions};
use super::preview::dry_run;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Failure;

/// Deploy a configuration or a template, and wait until it is ready.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deploy web.yaml
  dm deploy app.yaml                       # Kubernetes objects, as kubectl takes them
  dm deploy k8s/ --namespace shop
  dm deploy web.yaml helpers/common.py --name web --namespace shop
  dm deploy replicatedservice:v1 --name web --set replicas=3,service_port=80
  dm deploy redis:v1 --registry my-org/my-repo/my-collection --values redis.yaml
  dm deploy github.com/my-org/my-repo/redis:v1 --async
  dm deploy template.py --set size=3
  dm deploy web.template.yaml -p SLOT=blue # a Template object
  dm deploy web.yaml --cluster west
  dm deploy web.yaml --preview             # show and store what it would do
  dm deploy web.yaml --rollback-on-failure
  tar c web.yaml templates | dm deploy -")]
pub struct Deploy {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none [default: the manager's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub options: WriteOptions,
}

impl Deploy {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let resolved = self.target.resolve(session.terminal)?;
        let new = New {
            namespace: self.namespace.or_else(|| session.namespace.clone()),
            metadata: &self.metadata,
            options: &self.options,
        };
        new.deploy(session, &resolved).await
    }
}

/// What a new deployment gets beside its configuration.
pub struct New<'a> {
    pub namespace: Option<Namespace>,
    pub metadata: &'a Metadata,
    pub options: &'a WriteOptions,
}

impl New<'_> {
    pub async fn deploy(
        &self,
        session: &mut Session<'_, '_>,
        resolved: &Resolved,
    ) -> Result<(), Failure> {
        let (name, bundle) = (&resolved.name, &resolved.bundle);
        let doing = format!("deploying {} as {name}", resolved.shown);
        let subject = Subject::new(doing, bundle.sources.clone());
        if self.options.dry_run.is_wanted() {
            let request = UpdateDeployment {
                content: Some(bundle.content.clone()),
                imports: bundle.imports.clone(),
                service_account: self.options.account.for_update(),
                ..UpdateDeployment::default()
            };
            let query = self
                .options
                .diff_query(self.namespace.clone(), false, session);
            return dry_run::show(session, name, &request, &query, &subject).await;
        }
        let request = CreateDeployment {
            name: name.clone(),
            content: bundle.content.clone(),
            imports: bundle.imports.clone(),
            namespace: self.namespace.clone(),
            cluster: self.options.place.cluster.clone(),
            drift_policy: self.options.drift.drift_policy.unwrap_or_default(),
            service_account: self.options.account.for_create(),
            labels: self.metadata.labels(),
            description: self.metadata.description.clone().unwrap_or_default(),
        };
        let query = self.options.query(query(session));
        let client = session.client.clone();
        let start = |write| client.create_async(&request, write);
        write(
            session,
            subject,
            query,
            self.options.returns_at_once(),
            start,
        )
        .await
    }
}
