//! `dm apply`: creates a deployment or updates it, whichever is needed.

use clap::Args;
use common::api::error::ErrorCode;
use common::model::{Deployment, Namespace};

use super::options::{Metadata, WriteOptions};
use super::preview::existing;
use super::replace::{confirm_dropped, replacement};
use super::{deploy, update};
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Failure;

/// Create a deployment, or update it if it exists, and wait until it is ready.
///
/// The command can be repeated: with the same configuration nothing changes. It also goes on after a deploy that failed. An
/// update replaces the whole configuration, as with dm update.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm apply web.yaml
  dm apply -f k8s/ -n shop --create-namespace
  dm apply replicatedservice:v1 --name web --values web-values.yaml --set replicas=3
  cat web.yaml | dm apply --name web -f -
  dm apply web.yaml --dry-run")]
pub struct Apply {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none, if the deployment is new [default: the manager's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub options: WriteOptions,
    /// Drop properties of before without a question, if a template is given.
    #[arg(long)]
    pub reset_properties: bool,
    /// Use the same template files as the deployment's latest manifest, if there is one.
    #[arg(long)]
    pub locked: bool,
    /// Allow the command to delete most or all objects of the deployment.
    #[arg(long)]
    pub allow_deletes: bool,
}

impl Apply {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let resolved = self.target.resolve(session.terminal)?;
        if let Some(found) = existing(session, &resolved.name).await? {
            return self.update(session, resolved, &found).await;
        }
        match self.create(session, &resolved).await {
            Err(failure) if is_taken(&failure) => {
                let found = session.client.deployment(&resolved.name).await?;
                self.update(session, resolved, &found).await
            }
            created => created,
        }
    }

    async fn create(
        &self,
        session: &mut Session<'_, '_>,
        resolved: &Resolved,
    ) -> Result<(), Failure> {
        let new = deploy::New {
            namespace: self.namespace.clone().or_else(|| session.namespace.clone()),
            metadata: &self.metadata,
            options: &self.options,
        };
        new.deploy(session, resolved).await
    }

    async fn update(
        &self,
        session: &mut Session<'_, '_>,
        resolved: Resolved,
        found: &Deployment,
    ) -> Result<(), Failure> {
        check_namespace(self.namespace.as_ref(), found)?;
        if !self.reset_properties && !self.options.only_shows() {
            confirm_dropped(session, &resolved).await?;
        }
        let existing = update::Existing {
            metadata: &self.metadata,
            options: &self.options,
            // A deployment that was only previewed has no template files yet.
            locked: self.locked && found.latest_manifest.is_some(),
            allow_deletes: self.allow_deletes,
            regenerate: &[],
        };
        existing
            .update(session, replacement(resolved, "updating"))
            .await
    }
}

/// Somebody created the deployment meanwhile.
fn is_taken(failure: &Failure) -> bool {
    failure
        .body()
        .is_some_and(|body| body.code == ErrorCode::AlreadyExists)
}

fn check_namespace(asked: Option<&Namespace>, found: &Deployment) -> Result<(), Failure> {
    match asked.filter(|asked| **asked != found.namespace) {
        Some(asked) => Err(Failure::usage(format!(
            "{} is in namespace {}, and a deployment cannot move to {asked}; leave --namespace out, or choose another name with --name",
            found.name, found.namespace
        ))),
        None => Ok(()),
    }
}
