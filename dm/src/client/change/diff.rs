//! `dm diff`: what an update would change in the cluster now. Nothing is stored.

use clap::Args;
use common::api::manager::{DiffQuery, UpdateDeployment};
use common::model::{DeploymentName, ManifestName, Namespace};

use super::policies::{AccountFlag, Policies};
use crate::client::inspect::manifest::named_or_latest;
use crate::client::operation::error::OperationError;
use crate::client::operation::write::Subject;
use crate::client::render::change;
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Sources;
use crate::error::{ExitCode, Failure};
use crate::terminal::text;

/// Show what an update would change in the cluster now, field by field; nothing is stored or applied.
///
/// With a deployment's name alone, compares the cluster with what the deployment asks for: drift. With a name and a
/// manifest, shows what going back to that manifest would change.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm diff web.yaml
  dm diff replicatedservice:v1 --name web --properties replicas=5
  dm diff web
  dm diff web MANIFEST          # what dm rollback web MANIFEST would change

Exit codes: 0 no difference, 1 differences, above 1 trouble: 2 where other commands end with 1 or 2, else as they do.")]
pub struct Diff {
    #[command(flatten)]
    pub target: Target,
    /// Of a deployment that does not exist yet: where objects go that name no namespace.
    #[arg(long)]
    pub namespace: Option<Namespace>,
    /// Keep the very templates that the deployment has, whatever their references mean by now.
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
            None => self.with_configuration(session)?,
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

    /// The cluster beside a manifest of the deployment: the one that was named, or the latest.
    async fn with_manifest(
        &self,
        session: &Session<'_, '_>,
        name: DeploymentName,
    ) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
        let named = match self.target.imports.as_slice() {
            [] => None,
            [manifest] => Some(ManifestName::parse(manifest.as_str())?),
            _ => {
                let reason = "one manifest at most: dm diff NAME MANIFEST";
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

    fn with_configuration(
        &self,
        session: &mut Session<'_, '_>,
    ) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
        } = self.target.resolve(session.terminal)?;
        let (request, sources) = bundle.into_update();
        let subject = Subject::new(format!("comparing {name} with {shown}"), sources);
        Ok((name, request, subject))
    }
}
