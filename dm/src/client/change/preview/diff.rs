//! `dm diff`: shows what an update would change in the cluster now. Nothing is stored.

use clap::Args;
use common::api::manager::{DiffQuery, UpdateDeployment};
use common::model::{DeploymentName, Namespace};

use super::dry_run;
use crate::client::change::options::policies::{AccountFlag, Policies};
use crate::client::change::options::{ClusterFlag, HooksFlag};
use crate::client::change::replace::update_to;
use crate::client::inspect::history::revision::Revision;
use crate::client::inspect::manifest::named_or_latest;
use crate::client::operation::write::Subject;
use crate::client::session::Session;
use crate::client::target::Target;
use crate::error::{ExitCode, Failure, Sources};

/// Show what an update would change in the cluster now, field by field; nothing is stored or applied.
///
/// With only a deployment's name, compares the cluster with the deployment: this is drift. With a name and a revision, shows
/// what a rollback to that revision would change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm diff web.yaml
  dm diff web --set replicas=5
  dm diff replicatedservice:v1 --name web --set replicas=5
  dm diff web
  dm diff web 1                 # what dm rollback web 1 would change

Exit codes: 0 no differences, 1 differences, 2 failed or wrong usage, otherwise as for other commands.")]
pub struct Diff {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none, if the deployment does not exist yet [default: the manager's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Use the same template files as the deployment's latest manifest.
    #[arg(long)]
    pub locked: bool,
    #[command(flatten)]
    pub hooks: HooksFlag,
    /// With a deployment's name: as if all properties of before were dropped.
    #[arg(long)]
    pub reset_properties: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub account: AccountFlag,
    #[command(flatten)]
    pub place: ClusterFlag,
}

impl Diff {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let (name, request, subject) = match self.target.deployment() {
            Some(name) => self.with_manifest(session, name).await?,
            None => update_to(&self.target, self.reset_properties, "comparing", session)?,
        };
        let request = UpdateDeployment {
            service_account: self.account.for_update(),
            ..request
        };
        let query = DiffQuery {
            timeout_ms: session.timeout_ms(),
            namespace: self.namespace,
            cluster: self.place.cluster,
            locked: self.locked,
            hooks: self.hooks.query(),
            policies: self.policies.query(),
        };
        let summary = dry_run::compare(session, &name, &request, &query, &subject).await?;
        Ok(match summary.is_change() {
            true => ExitCode::Failed,
            false => ExitCode::Done,
        })
    }

    /// Compares the cluster with a manifest of the deployment: the given one, or the latest.
    async fn with_manifest(
        &self,
        session: &Session<'_, '_>,
        name: DeploymentName,
    ) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
        let named = match self.target.imports.as_slice() {
            [] => None,
            [manifest] => Some(manifest.parse::<Revision>()?),
            _ => {
                let reason = "give at most one revision: dm diff NAME REVISION";
                return Err(Failure::usage(reason.to_owned()));
            }
        };
        let manifest = named_or_latest(session, &name, named).await?;
        let subject = Subject::new(
            format!("comparing {name} with {manifest}"),
            Sources::default(),
        );
        let request = UpdateDeployment {
            manifest: Some(manifest),
            ..UpdateDeployment::default()
        };
        Ok((name, request, subject))
    }
}
