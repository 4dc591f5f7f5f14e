//! `dm deploy`: creates a deployment.

use clap::Args;
use common::api::manager::CreateDeployment;
use common::model::Namespace;

use super::options::{Metadata, WriteOptions};
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
  dm deploy replicatedservice:v1 --name web --properties replicas=3,service.port=80
  dm deploy redis:v1 --registry my-org/my-repo/my-collection --properties-file redis.yaml
  dm deploy github.com/my-org/my-repo/redis:v1 --async
  dm deploy template.py --properties size=3
  dm deploy web.yaml --preview             # show and store what it would do
  dm deploy web.yaml --rollback-on-failure
  tar c web.yaml templates | dm deploy -")]
pub struct Deploy {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none [default: the manager's].
    #[arg(long)]
    pub namespace: Option<Namespace>,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub options: WriteOptions,
}

impl Deploy {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
        } = self.target.resolve(session.terminal)?;
        let subject = Subject::new(format!("deploying {shown} as {name}"), bundle.sources);
        let request = CreateDeployment {
            name,
            content: bundle.content,
            imports: bundle.imports,
            namespace: self.namespace,
            drift_policy: self.options.drift.drift_policy.unwrap_or_default(),
            service_account: self.options.account.for_create(),
            labels: self.metadata.labels(),
            description: self.metadata.description.unwrap_or_default(),
        };
        let query = self.options.query(query(session));
        let client = session.client.clone();
        let start = |write| client.create_async(&request, write);
        write(session, subject, query, self.options.no_wait, start).await
    }
}
