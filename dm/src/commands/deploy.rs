//! `dm deploy`: creates a deployment.

use std::collections::BTreeMap;

use clap::Args;
use common::api::manager::CreateDeployment;
use common::model::Namespace;

use super::update::Wishes;
use super::write::{Subject, query, write};
use crate::error::Failure;
use crate::session::Session;
use crate::target::{Resolved, Target};

/// Deploy a configuration or a template, and wait until it is ready.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deploy web.yaml
  dm deploy web.yaml helpers/common.py --name web --namespace shop
  dm deploy replicatedservice:v1 --name web --properties replicas=3,service.port=80
  dm deploy redis:v1 --registry my-org/my-repo/my-collection --properties-file redis.yaml
  dm deploy github.com/my-org/my-repo/redis:v1 --async
  dm deploy template.py --properties size=3
  dm deploy web.yaml --preview             # show and store what it would do
  dm deploy web.yaml --rollback-on-failure
  tar c web.yaml templates | dm deploy -")]
pub struct Deploy {
    #[command(flatten)]
    pub target: Target,
    /// Where objects go that name no namespace; the manager's default if absent.
    #[arg(long)]
    pub namespace: Option<Namespace>,
    #[command(flatten)]
    pub about: About,
    #[command(flatten)]
    pub wishes: Wishes,
}

/// What a deployment says of itself.
#[derive(Debug, Args)]
pub struct About {
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// A label of the deployment; may be repeated.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

impl About {
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.labels.iter().cloned().collect()
    }
}

pub fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write a label KEY=VALUE".to_owned()),
    }
}

impl Deploy {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
        } = self.target.resolve(session.terminal)?;
        let subject = Subject::new(format!("deploying {shown} as {name}"), bundle.sources);
        let request = CreateDeployment {
            name,
            content: bundle.content,
            imports: bundle.imports,
            namespace: self.namespace,
            drift_policy: self.wishes.drift.drift_policy.unwrap_or_default(),
            service_account: self.wishes.account.of_new(),
            labels: self.about.labels(),
            description: self.about.description.unwrap_or_default(),
        };
        let query = self.wishes.of_write(query(session));
        let client = session.client.clone();
        let start = |write| client.create_async(&request, write);
        write(session, subject, query, self.wishes.at_once, start).await
    }
}
