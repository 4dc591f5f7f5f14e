//! `dm rollback`: back to an earlier manifest.

use clap::Args;
use common::api::manager::{RollbackDeployment, WriteQuery};
use common::model::{DeploymentName, ManifestName};

use super::policies::Policies;
use crate::client::inspect::manifest::before;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::error::Failure;
use crate::error::Sources;

/// Go back to an earlier manifest, as a new one, and wait until it is ready.
///
/// What the earlier manifest expanded to is applied as it is: nothing is expanded anew. Without MANIFEST, back to the last one
/// that was deployed before the present one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm rollback web
  dm rollback web MANIFEST
  dm diff web MANIFEST          # what it would change")]
pub struct Rollback {
    pub name: DeploymentName,
    /// The one before if absent; `dm operations NAME -o json` lists them with what was done.
    pub manifest: Option<ManifestName>,
    /// Allow that most of the deployment's objects are deleted.
    #[arg(long)]
    pub allow_deletes: bool,
    #[command(flatten)]
    pub policies: Policies,
    /// Do not wait: print the operation that has started.
    #[arg(long = "async")]
    pub no_wait: bool,
}

impl Rollback {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let name = self.name;
        let manifest = match self.manifest {
            Some(manifest) => manifest,
            None => before(session, &name).await?,
        };
        let subject = Subject::new(
            format!("going back from {name} to {manifest}"),
            Sources::default(),
        );
        let query = WriteQuery {
            allow_deletes: self.allow_deletes,
            policies: self.policies.query(),
            ..query(session)
        };
        let request = RollbackDeployment { manifest };
        let client = session.client.clone();
        let start = |write| client.rollback_async(&name, &request, write);
        write(session, subject, query, self.no_wait, start).await
    }
}
