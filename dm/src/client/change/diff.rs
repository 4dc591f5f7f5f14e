//! `dm diff`: shows what an update would change in the cluster now. Nothing is stored.

use clap::Args;
use common::api::manager::{DiffQuery, UpdateDeployment};
use common::model::{DeploymentName, ManifestName, Namespace};

use super::policies::{AccountFlag, Policies};
use super::update::update_to;
use crate::client::inspect::manifest::named_or_latest;
use crate::client::operation::error::OperationError;
use crate::client::operation::write::Subject;
use crate::client::render::change;
use crate::client::session::Session;
use crate::client::target::Target;
use crate::error::Sources;
use crate::error::{ExitCode, Failure};
use crate::terminal::text;

/// Show what an update would change in the cluster now, field by field; nothing is stored or applied.
///
/// With only a deployment's name, compares the cluster with the deployment: this is drift. With a name and a manifest, shows
/// what a rollback to that manifest would change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm diff web.yaml
  dm diff replicatedservice:v1 --name web --properties replicas=5
  dm diff web
  dm diff web MANIFEST          # what dm rollback web MANIFEST would change

Exit codes: 0 no differences, 1 differences, 2 failed or wrong usage, otherwise as for other commands.")]
pub struct Diff {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none, if the deployment does not exist yet [default: the manager's].
    #[arg(long)]
    pub namespace: Option<Namespace>,
    /// Use the same template files as the deployment's latest manifest.
    #[arg(long)]
    pub locked: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub account: AccountFlag,
}

impl Diff {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let (name, request, subject) = match self.target.deployment() {
            Some(name) => self.with_manifest(session, name).await?,
            None => update_to(&self.target, "comparing", session)?,
        };
        let request = UpdateDeployment {
            service_account: self.account.for_update(),
            ..request
        };
        let query = DiffQuery {
            timeout_ms: session.timeout_ms(),
            namespace: self.namespace,
            locked: self.locked,
            policies: self.policies.query(),
        };
        let diff = session.client.diff(&name, &request, &query).await;
        let diff = diff.map_err(|error| subject.failed(error))?;
        for warning in &diff.warnings {
            let warning = format!("warning: {}", text::line(warning));
            session.terminal.note(&warning);
        }
        let colours = session.terminal.colours;
        session.show(&diff, |diff| {
            let changes = change::resources(&diff.resources, colours);
            format!("{changes}{}\n", change::summary(&diff.summary))
        })?;
        if diff.summary.failing > 0 {
            return Err(OperationError::WouldFail {
                name,
                failing: diff.summary.failing,
            }
            .into());
        }
        Ok(match diff.summary.is_change() {
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
            [manifest] => Some(ManifestName::parse(manifest.as_str())?),
            _ => {
                let reason = "give at most one manifest: dm diff NAME MANIFEST";
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
