//! `dm list`: lists all deployments.

use clap::{Args, ValueEnum};
use common::api::manager::{DeploymentsQuery, OrderBy};
use common::api::page::{Page, PageQuery};
use common::model::{ClusterName, DeploymentStatus, DeploymentSummary, Namespace, TypeName};
use jiff::Timestamp;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::text;

/// List the deployments, all of them or those that match every flag.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm list
  dm list -n shop --status failed
  dm list -l tier=front,team!=a --order-by modified-at
  dm list --cluster west
  dm list --type redis:v1 -q cache -o json")]
pub struct List {
    /// Only those in this namespace [default: that of the current context, or all].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Those in all namespaces, also if the current context names one.
    #[arg(long, short = 'A', conflicts_with = "namespace")]
    pub all_namespaces: bool,
    /// Only those on this cluster.
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<ClusterName>,
    /// Only those with this status.
    #[arg(long, value_enum, ignore_case = true)]
    pub status: Option<Status>,
    /// Only those with these labels, like tier=front,team!=a,app in (web,db).
    #[arg(long, short = 'l', value_name = "SELECTOR", alias = "label-selector")]
    pub selector: Option<String>,
    /// Only those that have an instance of this type.
    #[arg(long = "type", value_name = "TYPE")]
    pub type_name: Option<TypeName>,
    /// Only those with this text in their name.
    #[arg(short, long = "query", value_name = "TEXT", alias = "q")]
    pub query: Option<String>,
    #[arg(long, value_enum, default_value_t = Order::Name)]
    pub order_by: Order,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Status {
    Created,
    Deployed,
    Modified,
    Failed,
}

impl From<Status> for DeploymentStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Created => Self::Created,
            Status::Deployed => Self::Deployed,
            Status::Modified => Self::Modified,
            Status::Failed => Self::Failed,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Order {
    Name,
    /// What changed last comes first.
    #[value(alias = "modifiedAt")]
    ModifiedAt,
}

impl List {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let (client, namespace) = (session.client.clone(), session.namespace.clone());
        let page = all_pages(|page| {
            let (client, query) = (&client, self.query_for(page, namespace.as_ref()));
            async move { client.deployments(query).await }
        })
        .await?;
        let width = session.terminal.width;
        session.show(&page, |page| table(page, Timestamp::now()).render(width))
    }

    /// `usual` is the namespace of the context.
    fn query_for(&self, page: PageQuery, usual: Option<&Namespace>) -> DeploymentsQuery {
        let namespace = self.namespace.as_ref().or(usual);
        DeploymentsQuery {
            namespace: namespace.filter(|_| !self.all_namespaces).cloned(),
            cluster: self.cluster.clone(),
            status: self.status.map(DeploymentStatus::from),
            label_selector: self.selector.clone(),
            type_name: self.type_name.clone(),
            q: self.query.clone(),
            order_by: match self.order_by {
                Order::Name => None,
                Order::ModifiedAt => Some(OrderBy::ModifiedAt),
            },
            ..page.into()
        }
    }
}

/// A stored preview waits for its commit.
fn status(deployment: &DeploymentSummary) -> String {
    let status = deployment.state.status;
    match deployment.preview {
        Some(_) => format!("{status:?}, preview pending"),
        None => format!("{status:?}"),
    }
}

fn table(page: &Page<DeploymentSummary>, now: Timestamp) -> Table {
    let mut table = Table::new(&[
        "NAME",
        "STATUS",
        "NAMESPACE",
        "AGE",
        "MODIFIED",
        "MANIFEST",
        "DESCRIPTION",
    ]);
    for item in &page.items {
        table.row([
            item.name.as_str(),
            &status(item),
            item.namespace.as_str(),
            &text::age(item.created_at, now),
            &item
                .modified_at
                .map(|time| text::age(time, now))
                .unwrap_or_default(),
            item.latest_manifest
                .as_ref()
                .map_or("", |name| name.as_str()),
            &item.description,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        list: List,
    }

    #[test]
    fn the_words_of_the_api_are_taken_too() {
        let query = |args: &[&str]| {
            let args = std::iter::once(&"list").chain(args);
            Alone::try_parse_from(args).map(|alone| alone.list)
        };
        let own = query(&[
            "--order-by",
            "modified-at",
            "--selector",
            "a=b",
            "--query",
            "c",
        ]);
        let of_the_api = query(&[
            "--order-by",
            "modifiedAt",
            "--label-selector",
            "a=b",
            "--q",
            "c",
        ]);
        assert_eq!(format!("{own:?}"), format!("{of_the_api:?}"));
        let list = of_the_api.unwrap();
        assert!(matches!(list.order_by, Order::ModifiedAt));
        assert_eq!(list.selector.as_deref(), Some("a=b"));
        assert_eq!(list.query.as_deref(), Some("c"));
    }
}
