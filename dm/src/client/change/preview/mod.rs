//! `dm preview`: stores what a create or an update would do, so that it can be committed later.

pub mod diff;
pub(super) mod dry_run;

use clap::Args;
use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::client::ClientError;
use common::model::{Deployment, DeploymentName, DriftPolicy, ManifestName, Namespace};

use super::options::policies::{AccountFlag, Policies};
use super::options::{ClusterFlag, Metadata};
use super::replace::{replacement, update_to};
use crate::client::operation::preview::show_preview;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Failure;

/// Show what a deploy or an update would do, and store it to be committed later; nothing is applied.
///
/// If the deployment exists, the preview is an update, otherwise a create. A new preview replaces the previous one.
/// With only a deployment's name, shows its stored preview.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm preview web.yaml
  dm preview web --set replicas=5
  dm preview replicatedservice:v1 --name web --set replicas=5
  dm preview web                # show the stored preview
  dm preview web --drop         # delete the stored preview
  dm update web --commit        # apply the stored preview exactly

With --service-account the preview shows which permissions the account lacks. To commit the update, give the flag again.")]
pub struct Preview {
    #[command(flatten)]
    pub target: Target,
    /// Namespace for objects that name none, if the deployment is new [default: the manager's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    #[command(flatten)]
    pub metadata: Metadata,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub account: AccountFlag,
    #[command(flatten)]
    pub place: ClusterFlag,
    /// With a deployment's name: drop all properties of before.
    #[arg(long)]
    pub reset_properties: bool,
    /// Use the same template files as the deployment's latest manifest.
    #[arg(long)]
    pub locked: bool,
    /// Delete the stored preview of the deployment.
    #[arg(long)]
    pub drop: bool,
    /// Do not wait: print the started operation.
    #[arg(long = "async")]
    pub no_wait: bool,
}

impl Preview {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(name) = self.target.deployment() {
            return match self.drop {
                true => forget(session, &name).await,
                false => show_preview(session, &name).await,
            };
        }
        if self.drop {
            let reason = "--drop needs only a deployment's name: dm preview NAME --drop";
            return Err(Failure::usage(reason.to_owned()));
        }
        if self.target.stored().is_some() {
            let (name, content, subject) =
                update_to(&self.target, self.reset_properties, "previewing", session)?;
            return self.update(session, name, content, subject).await;
        }
        let resolved = self.target.resolve(session.terminal)?;
        let exists = existing(session, &resolved.name).await?.is_some();
        match exists {
            true => {
                let (name, content, subject) = replacement(resolved, "previewing");
                self.update(session, name, content, subject).await
            }
            false => self.create(session, resolved).await,
        }
    }

    fn query(&self, session: &Session<'_, '_>) -> WriteQuery {
        WriteQuery {
            preview: true,
            locked: self.locked,
            policies: self.policies.query(),
            ..query(session)
        }
    }

    async fn create(
        self,
        session: &mut Session<'_, '_>,
        resolved: Resolved,
    ) -> Result<(), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
            ..
        } = resolved;
        let subject = Subject::new(format!("previewing {shown} as {name}"), bundle.sources);
        let query = self.query(session);
        let request = CreateDeployment {
            name,
            content: bundle.content,
            imports: bundle.imports,
            namespace: self.namespace.or_else(|| session.namespace.clone()),
            cluster: self.place.cluster,
            drift_policy: DriftPolicy::default(),
            service_account: self.account.for_create(),
            labels: self.metadata.labels(),
            description: self.metadata.description.unwrap_or_default(),
        };
        let client = session.client.clone();
        let start = |write| client.create_async(&request, write);
        write(session, subject, query, self.no_wait, start).await
    }

    async fn update(
        self,
        session: &mut Session<'_, '_>,
        name: DeploymentName,
        content: UpdateDeployment,
        subject: Subject,
    ) -> Result<(), Failure> {
        let query = self.query(session);
        let labels = self.metadata.labels();
        let request = UpdateDeployment {
            description: self.metadata.description,
            labels: (!labels.is_empty()).then_some(labels),
            service_account: self.account.for_update(),
            cluster: self.place.cluster,
            ..content
        };
        let client = session.client.clone();
        let start = |write| client.update_async(&name, &request, write);
        write(session, subject, query, self.no_wait, start).await
    }
}

/// The preview that the deployment has.
pub async fn stored(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<ManifestName, Failure> {
    let preview = session.client.deployment(name).await?.preview;
    preview.ok_or_else(|| {
        Failure::not_found(format!(
            "{name} has no preview; make one with dm preview CONFIG --name {name}"
        ))
    })
}

/// The deployment, if it exists.
pub async fn existing(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<Option<Deployment>, Failure> {
    match session.client.deployment(name).await {
        Ok(deployment) => Ok(Some(deployment)),
        Err(ClientError::Answered(body)) if body.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn forget(session: &mut Session<'_, '_>, name: &DeploymentName) -> Result<(), Failure> {
    let deployment = session.client.drop_preview(name, &query(session)).await?;
    session.show(&deployment, |deployment| {
        format!("the preview of {} is dropped\n", deployment.name)
    })
}
