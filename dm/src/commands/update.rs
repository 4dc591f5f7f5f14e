//! `dm update`: replaces a deployment's configuration.

use clap::Args;
use common::api::manager::UpdateDeployment;

use super::deploy::About;
use super::write::{Subject, query, write};
use crate::error::Failure;
use crate::session::Session;
use crate::target::{Resolved, Target};

/// Replace the configuration of a deployment, remove what is gone from it, and wait until it is ready.
///
/// The new configuration replaces the old one as a whole: --properties and --properties-file are all the properties that the
/// template gets, and what they leave out is at its default again. Without --description and --label those stay.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm update web.yaml
  dm update web.yaml --name web
  dm update replicatedservice:v1 --name web --properties replicas=5
  dm update replicatedservice:v1.1 --name web --properties-file web-properties.yaml")]
pub struct Update {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub about: About,
    /// Do not wait: print the operation that has started.
    #[arg(long = "async")]
    pub at_once: bool,
}

impl Update {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
        } = self.target.resolve(session.terminal)?;
        let subject = Subject::new(format!("updating {name} with {shown}"), bundle.sources);
        let labels = self.about.labels();
        let request = UpdateDeployment {
            content: Some(bundle.content),
            imports: bundle.imports,
            description: self.about.description,
            labels: (!labels.is_empty()).then_some(labels),
            ..UpdateDeployment::default()
        };
        let (client, query) = (session.client.clone(), query(session, None));
        write(
            session,
            subject,
            client.update_async(&name, &request, &query),
            self.at_once,
        )
        .await
    }
}
