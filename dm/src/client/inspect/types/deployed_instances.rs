//! `dm deployed-instances`: lists where a type is used.

use clap::Args;
use common::api::manager::InstancesQuery;
use common::model::TypeName;
use jiff::Timestamp;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

/// List the instances of a type in active deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm deployed-instances Service
  dm deployed-instances replicatedservice:v1
  dm deployed-instances all
  dm deployed-instances redis:v1 --at 2026-01-31T12:00:00Z")]
pub struct DeployedInstances {
    /// Type as in the output of deployed-types, or `all`.
    #[arg(value_name = "TYPE")]
    pub type_name: TypeName,
    /// Past moment, such as 2026-01-31T12:00:00Z: the instances of the manifests that were in force then.
    #[arg(long, value_name = "TIME")]
    pub at: Option<Timestamp>,
}

impl DeployedInstances {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let client = session.client.clone();
        let page = all_pages(|page| {
            let (client, type_name) = (&client, self.type_name.as_str());
            let query = InstancesQuery {
                limit: page.limit,
                page_token: page.page_token,
                at: self.at,
            };
            async move { client.instances_at(type_name, &query).await }
        })
        .await?;
        let mut table = Table::new(&["NAME", "TYPE", "DEPLOYMENT", "MANIFEST", "PATH"]);
        for item in &page.items {
            let path = item.path.to_string();
            table.row([
                item.name.as_str(),
                item.type_name.as_str(),
                item.deployment.as_str(),
                item.manifest.as_str(),
                &path,
            ]);
        }
        let width = session.terminal.width;
        session.show(&page, |_| table.render(width))
    }
}
