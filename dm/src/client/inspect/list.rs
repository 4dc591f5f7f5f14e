//! `dm list`: lists all deployments.

use clap::Args;
use common::api::page::Page;
use common::model::Deployment;
use jiff::Timestamp;

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::text;

/// List the deployments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm list
  dm list -o json")]
pub struct List {}

impl List {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let client = session.client.clone();
        let page = all_pages(|page| {
            let client = &client;
            async move { client.deployments(&page).await }
        })
        .await?;
        let width = session.terminal.width;
        session.show(&page, |page| table(page, Timestamp::now()).render(width))
    }
}

fn table(page: &Page<Deployment>, now: Timestamp) -> Table {
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
            &format!("{:?}", item.state.status),
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
