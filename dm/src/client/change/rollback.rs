//! `dm rollback`: applies an earlier manifest again.

use clap::Args;
use common::api::manager::{RollbackDeployment, WriteQuery};
use common::model::{DeploymentName, ManifestName};

use super::policies::Policies;
use crate::client::inspect::manifest::before;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::error::Failure;
use crate::error::Sources;

/// Apply an earlier manifest again, as a new manifest, and wait until it is ready.
///
/// The stored expansion of the earlier manifest is applied: nothing is expanded again. Without MANIFEST, the previous deployed
/// manifest is used.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm rollback web
  dm rollback web MANIFEST
  dm diff web MANIFEST          # show what the rollback would change")]
pub struct Rollback {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Manifest to apply [default: the previous deployed one]; `dm operations NAME -o json` lists manifests.
    pub manifest: Option<ManifestName>,
    /// Allow the command to delete most objects of the deployment.
    #[arg(long)]
    pub allow_deletes: bool,
    #[command(flatten)]
    pub policies: Policies,
    /// Do not wait: print the started operation.
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
            format!("rolling back {name} to {manifest}"),
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
