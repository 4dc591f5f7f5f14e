//! `dm update`: changes a deployment, or applies a preview.

use clap::Args;
use common::api::manager::{UpdateDeployment, WriteQuery};
use common::model::{DeploymentName, ManifestName, Regenerate, Regenerates};

use super::options::{Metadata, WriteOptions};
use super::preview;
use super::preview::dry_run;
use super::replace::{confirm_dropped, replacement, update_to};
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::client::target::Target;
use crate::error::{Failure, Sources};

/// Change a deployment, delete objects that it no longer has, and wait until it is ready.
///
/// With a deployment's name, the stored configuration is used again: --set and --values change properties of its template, and
/// all others stay. Secrets stay too, although nobody can read them. Without them, the command mends drift.
///
/// With a configuration or a template, the new configuration replaces the whole old one. The template gets only the properties
/// of the command line; dm lists those that are dropped, and asks at a terminal. Without --description and --label, those stay.
///
/// A reference such as redis:v1 means the latest patch of v1.0. A warning says if that patch is newer than the one in use. With
/// --locked, the deployment keeps the patch in use.
///
/// With a deployment's name and --commit, applies its preview exactly as shown. The command fails if the deployment has
/// changed since the preview.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm update web --set replicas=5
  dm update web --set config.greeting=null # remove a property
  dm update web --values web-values.yaml --reset-properties
  dm update web                            # apply again what is stored
  dm update web.yaml
  dm update web.yaml --name web
  dm update replicatedservice:v1 --name web --set replicas=5
  dm update web --regenerate '$.resources[0].PASSWORD'
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
    #[arg(long, value_name = "MANIFEST", num_args = 0..=1, conflicts_with_all = ["preview", "create_policy", "update_policy", "conflict_policy", "delete_policy", "no_hooks"])]
    pub commit: Option<Option<ManifestName>>,
    /// Drop all properties of before, without a question.
    #[arg(long, conflicts_with = "commit")]
    pub reset_properties: bool,
    /// Use the same template files as the deployment's latest manifest.
    #[arg(long, conflicts_with = "commit")]
    pub locked: bool,
    /// Make these generated values again: a path of the layout, with the name of a value or without, like
    /// '$.resources[0].PASSWORD'. May be repeated.
    #[arg(long, value_name = "PATH[.NAME]", conflicts_with_all = ["commit", "dry_run"])]
    pub regenerate: Vec<Regenerate>,
    /// Allow the command to delete most or all objects of the deployment.
    #[arg(long)]
    pub allow_deletes: bool,
}

/// What an existing deployment gets beside its content.
pub struct Existing<'a> {
    pub metadata: &'a Metadata,
    pub options: &'a WriteOptions,
    pub locked: bool,
    pub allow_deletes: bool,
    pub regenerate: &'a [Regenerate],
}

impl Existing<'_> {
    pub async fn update(
        &self,
        session: &mut Session<'_, '_>,
        (name, content, subject): (DeploymentName, UpdateDeployment, Subject),
    ) -> Result<(), Failure> {
        let labels = self.metadata.labels();
        let request = UpdateDeployment {
            description: self.metadata.description.clone(),
            labels: (!labels.is_empty()).then_some(labels),
            drift_policy: self.options.drift.drift_policy,
            service_account: self.options.account.for_update(),
            cluster: self.options.place.cluster.clone(),
            ..content
        };
        if self.options.dry_run.is_wanted() {
            let query = self.options.diff_query(None, self.locked, session);
            return dry_run::show(session, &name, &request, &query, &subject).await;
        }
        let query = self.options.query(WriteQuery {
            allow_deletes: self.allow_deletes,
            locked: self.locked,
            regenerate: Regenerates(self.regenerate.to_vec()),
            ..query(session)
        });
        let client = session.client.clone();
        let start = |write| client.update_async(&name, &request, write);
        let at_once = self.options.returns_at_once();
        write(session, subject, query, at_once, start).await
    }
}

impl Update {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let content = self.content(session).await?;
        let existing = Existing {
            metadata: &self.metadata,
            options: &self.options,
            locked: self.locked,
            allow_deletes: self.allow_deletes,
            regenerate: &self.regenerate,
        };
        existing.update(session, content).await
    }

    async fn content(
        &self,
        session: &mut Session<'_, '_>,
    ) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
        if let Some(manifest) = &self.commit {
            return self.committed(session, manifest.clone()).await;
        }
        if self.target.stored().is_some() {
            return update_to(&self.target, self.reset_properties, "updating", session);
        }
        let resolved = self.target.resolve(session.terminal)?;
        if !self.reset_properties && !self.options.only_shows() {
            confirm_dropped(session, &resolved).await?;
        }
        Ok(replacement(resolved, "updating"))
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
            None => preview::stored(session, &name).await?,
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
