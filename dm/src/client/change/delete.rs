//! `dm delete`: deletes a deployment and its objects.

use clap::Args;
use common::api::manager::{PolicyQuery, WriteQuery};
use common::model::{DeletePolicy, DeploymentName};

use super::options::HooksFlag;
use super::options::policies::delete_policy;
use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::error::{Failure, Sources};

/// Delete a deployment and its objects, and wait until they are gone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm delete web
  dm delete web --abandon      # the objects stay in the cluster, as with --delete-policy abandon")]
pub struct Delete {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Delete the deployment, but leave its objects in the cluster.
    #[arg(long)]
    pub abandon: bool,
    /// Delete the objects, or abandon them in the cluster; overrides the resources' metadata.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = delete_policy(), conflicts_with = "abandon")]
    pub delete_policy: Option<DeletePolicy>,
    /// Delete a namespace of the deployment even if it has objects of others, which are deleted with it.
    #[arg(long)]
    pub allow_deletes: bool,
    #[command(flatten)]
    pub hooks: HooksFlag,
    /// Do not wait: print the started operation.
    #[arg(long = "async")]
    pub no_wait: bool,
}

impl Delete {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let subject = Subject::new(format!("deleting {}", self.name), Sources::default());
        let abandoned = self.abandon.then_some(DeletePolicy::Abandon);
        let query = WriteQuery {
            policies: PolicyQuery {
                delete_policy: self.delete_policy.or(abandoned),
                ..PolicyQuery::default()
            },
            allow_deletes: self.allow_deletes,
            hooks: self.hooks.query(),
            ..query(session)
        };
        let client = session.client.clone();
        let start = |write| client.delete_async(&self.name, write);
        write(session, subject, query, self.no_wait, start).await
    }
}
