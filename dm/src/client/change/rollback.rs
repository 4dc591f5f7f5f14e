//! `dm rollback`: applies an earlier manifest again.

use clap::Args;
use common::api::manager::{RollbackDeployment, WriteQuery};
use common::model::DeploymentName;

use super::options::policies::Policies;
use super::options::{HooksFlag, PreflightFlag};
use crate::client::inspect::history::revision::Revision;
use crate::client::inspect::history::shown;
use crate::client::inspect::manifest::before;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::error::{Failure, Sources};
use crate::terminal::text;

/// Apply an earlier manifest again, as a new manifest, and wait until it is ready.
///
/// The stored expansion of the earlier manifest is applied: nothing is expanded again. Without REVISION, the previous deployed
/// manifest is used.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm rollback web
  dm rollback web 1             # to revision 1 of dm history web
  dm rollback web MANIFEST
  dm diff web 1                 # show what the rollback would change")]
pub struct Rollback {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Revision or manifest to apply [default: the previous deployed one]; dm history NAME lists them.
    #[arg(value_name = "REVISION|MANIFEST")]
    pub manifest: Option<Revision>,
    /// Allow the command to delete most objects of the deployment.
    #[arg(long)]
    pub allow_deletes: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub preflight: PreflightFlag,
    #[command(flatten)]
    pub hooks: HooksFlag,
    /// Do not wait: print the started operation.
    #[arg(long = "async")]
    pub no_wait: bool,
}

impl Rollback {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let name = self.name;
        let manifest = match self.manifest {
            Some(revision) => revision.manifest(session, &name).await?,
            None => before(session, &name).await?,
        };
        let subject = Subject::new(
            format!("rolling back {name} to {manifest}"),
            Sources::default(),
        );
        let query = WriteQuery {
            allow_deletes: self.allow_deletes,
            policies: self.policies.query(),
            preflight: self.preflight.query(),
            hooks: self.hooks.query(),
            ..query(session)
        };
        let request = RollbackDeployment { manifest };
        let client = session.client.clone();
        let start = |write| client.rollback_async(&name, &request, write);
        write(session, subject, query, self.no_wait, start).await?;
        if self.no_wait {
            return Ok(());
        }
        // The rollback is done, also if nobody can say where to.
        if let Ok(revision) = shown(session, &name, &request.manifest).await {
            let note = format!("rolled back to {revision}");
            session.terminal.note(&text::line(&note));
        }
        Ok(())
    }
}
