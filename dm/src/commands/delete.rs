//! `dm delete`: removes a deployment and its objects.

use clap::Args;
use common::model::{DeletePolicy, DeploymentName};

use super::write::{Subject, query, write};
use crate::bundle::Sources;
use crate::error::Failure;
use crate::session::Session;

/// Delete a deployment with its objects, and wait until they are gone.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm delete web
  dm delete web --abandon      # the objects stay in the cluster")]
pub struct Delete {
    pub name: DeploymentName,
    /// Forget the deployment, but leave its objects in the cluster.
    #[arg(long)]
    pub abandon: bool,
    /// Do not wait: print the operation that has started.
    #[arg(long = "async")]
    pub at_once: bool,
}

impl Delete {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let subject = Subject::new(format!("deleting {}", self.name), Sources::default());
        let query = query(session, self.abandon.then_some(DeletePolicy::Abandon));
        let client = session.client.clone();
        write(
            session,
            subject,
            client.delete_async(&self.name, &query),
            self.at_once,
        )
        .await
    }
}
