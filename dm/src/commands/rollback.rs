//! `dm rollback`: back to an earlier manifest.

use clap::Args;
use common::api::manager::{RollbackDeployment, WriteQuery};
use common::model::{DeploymentName, ManifestName, Operation, OperationType};

use super::policies::Policies;
use super::write::{Subject, query, write};
use crate::bundle::Sources;
use crate::error::Failure;
use crate::session::{Session, all_pages};

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
    pub at_once: bool,
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
        write(session, subject, query, self.at_once, start).await
    }
}

/// The manifest that was deployed before the present one: where the present one failed, the last that did not.
pub async fn before(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<ManifestName, Failure> {
    let deployment = session.client.deployment(name).await?;
    let latest = deployment.latest_manifest;
    if deployment.deployed_manifest.is_some() && deployment.deployed_manifest != latest {
        return deployment.deployed_manifest.ok_or_else(|| none(name));
    }
    let client = &session.client;
    let operations =
        all_pages(|page| async move { client.operations(Some(name), &page).await }).await?;
    let earlier = operations
        .items
        .into_iter()
        .filter(is_deployed)
        .filter_map(|operation| operation.manifest)
        .find(|manifest| Some(manifest) != latest.as_ref());
    earlier.ok_or_else(|| none(name))
}

/// Whether the operation brought a manifest to the cluster, all of it.
fn is_deployed(operation: &Operation) -> bool {
    let applies = match operation.operation_type {
        OperationType::Create
        | OperationType::Update
        | OperationType::Rollback
        | OperationType::Correct => true,
        OperationType::Preview | OperationType::Delete => false,
    };
    applies && operation.error.is_none() && operation.end_time.is_some()
}

fn none(name: &DeploymentName) -> Failure {
    Failure::Missing(format!(
        "{name} has no manifest that was deployed before the present one"
    ))
}
