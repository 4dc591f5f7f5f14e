//! `dm update`: replaces a deployment's configuration, or applies a preview.

use clap::Args;
use common::api::manager::{UpdateDeployment, WriteQuery};
use common::model::{DeploymentName, ManifestName};

use super::options::{Metadata, WriteOptions};
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Failure;
use crate::error::Sources;

/// Replace the configuration of a deployment, delete objects that it no longer has, and wait until it is ready.
///
/// The new configuration replaces the whole old one. The template gets only the properties of --properties and
/// --properties-file; all others have their defaults again. Without --description and --label, those stay as they are.
///
/// A reference such as redis:v1 means the latest patch of v1.0. A warning says if that patch is newer than the one in use. With
/// --locked, the deployment keeps the patch in use.
///
/// With a deployment's name and --commit, applies its preview exactly as shown. The command fails if the deployment has
/// changed since the preview.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm update web.yaml
  dm update web.yaml --name web
  dm update replicatedservice:v1 --name web --properties replicas=5
  dm update replicatedservice:v1.1 --name web --properties-file web-properties.yaml
  dm update web.yaml --preview             # show and store what it would do
  dm update web --commit                   # apply the stored preview
  dm update web.yaml --rollback-on-failure
  dm update web.yaml --locked              # with the same template files as before")]
pub struct Update {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub options: WriteOptions,
    /// Apply the deployment's preview: this manifest [default: the current preview].
    #[arg(long, value_name = "MANIFEST", num_args = 0..=1, conflicts_with_all = ["preview", "create_policy", "update_policy", "conflict_policy", "delete_policy"])]
    pub commit: Option<Option<ManifestName>>,
    /// Use the same template files as the deployment's latest manifest.
    #[arg(long, conflicts_with = "commit")]
    pub locked: bool,
    /// Allow the command to delete most objects of the deployment.
    #[arg(long)]
    pub allow_deletes: bool,
}

impl Update {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let (name, content, subject) = match &self.commit {
            Some(manifest) => self.committed(session, manifest.clone()).await?,
            None => update_to(&self.target, "updating", session)?,
        };
        let labels = self.metadata.labels();
        let request = UpdateDeployment {
            description: self.metadata.description,
            labels: (!labels.is_empty()).then_some(labels),
            drift_policy: self.options.drift.drift_policy,
            service_account: self.options.account.for_update(),
            ..content
        };
        let query = self.options.query(WriteQuery {
            allow_deletes: self.allow_deletes,
            locked: self.locked,
            ..query(session)
        });
        let client = session.client.clone();
        let start = |write| client.update_async(&name, &request, write);
        write(session, subject, query, self.options.no_wait, start).await
    }

    async fn committed(
        &self,
        session: &Session<'_, '_>,
        manifest: Option<ManifestName>,
    ) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
        let Some(name) = self.target.name_only() else {
            let reason = "--commit needs only a deployment's name: dm update NAME --commit";
            return Err(Failure::usage(reason.to_owned()));
        };
        let manifest = match manifest {
            Some(manifest) => manifest,
            None => stored(session, &name).await?,
        };
        let subject = Subject::new(
            format!("committing {manifest} of {name}"),
            Sources::default(),
        );
        let request = UpdateDeployment {
            manifest: Some(manifest),
            ..UpdateDeployment::default()
        };
        Ok((name, request, subject))
    }
}

/// The preview that the deployment has.
async fn stored(session: &Session<'_, '_>, name: &DeploymentName) -> Result<ManifestName, Failure> {
    let preview = session.client.deployment(name).await?.preview;
    preview.ok_or_else(|| {
        Failure::not_found(format!(
            "{name} has no preview; make one with dm preview CONFIG --name {name}"
        ))
    })
}

/// The update of the target's deployment to the target. `doing` is a word for messages, such as `updating`.
pub fn update_to(
    target: &Target,
    doing: &str,
    session: &mut Session<'_, '_>,
) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
    let Resolved {
        name,
        shown,
        bundle,
    } = target.resolve(session.terminal)?;
    let (request, sources) = bundle.into_update();
    let subject = Subject::new(format!("{doing} {name} with {shown}"), sources);
    Ok((name, request, subject))
}
