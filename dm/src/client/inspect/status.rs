//! `dm status`: shows the live state of a deployment's resources.

use std::time::Duration;

use clap::Args;
use common::api::manager::ResourcesQuery;
use common::model::DeploymentName;
use common::model::limits::LIVE_ITEMS_MAX;

use crate::client::render::{graph, resources};
use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::format::{Form, Format};
use crate::terminal::text;

/// Pause between two requests: a user can read the table, and the cluster has little load.
const LOOK: Duration = Duration::from_secs(2);
/// Clears the screen and moves the cursor to its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Show each resource of a deployment in the cluster now: whether it is ready, the reason if not, and changes of others.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm status web
  dm status web --watch
  dm status web -o json
  dm status web --graph
  dm status web --graph -o dot | dot -Tsvg > web.svg")]
pub struct Status {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Refresh every two seconds, until Ctrl-C.
    #[arg(long, short, conflicts_with = "graph")]
    pub watch: bool,
    /// Show which resource depends on which; -o dot prints it for Graphviz.
    #[arg(long)]
    pub graph: bool,
    /// Do not check for drift, which needs a dry run of each changed object.
    #[arg(long)]
    pub no_drift: bool,
}

impl Status {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if self.graph {
            return show_graph(session, &self.name).await;
        }
        if !self.watch {
            return self.look(session).await;
        }
        loop {
            if session.terminal.width.is_some() && session.form.is_for_people() {
                session.print(CLEAR)?;
            }
            self.look(session).await?;
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn look(&self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        // Only a hint: the resources are what was asked for.
        if let Ok(deployment) = session.client.deployment(&self.name).await {
            for warning in &deployment.warnings {
                let warning = format!("warning: {}", text::line(warning));
                session.terminal.note(&warning);
            }
        }
        live(session, &self.name, self.no_drift.then_some(false)).await
    }
}

/// Shows the live state of each resource.
pub async fn live(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    drift: Option<bool>,
) -> Result<(), Failure> {
    let client = &session.client;
    let page = all_pages(|page| async move {
        // As few pages as possible: the manager reads all objects for each page.
        let query = ResourcesQuery {
            limit: Some(LIVE_ITEMS_MAX),
            page_token: page.page_token,
            drift,
        };
        client.resources(name, &query).await
    })
    .await?;
    let (width, colours) = (session.terminal.width, session.terminal.colours);
    session.show(&page, |page| {
        let table = resources::resources(&page.items).render(width);
        format!("{table}{}", resources::drift(&page.items, colours))
    })
}

async fn show_graph(session: &mut Session<'_, '_>, name: &DeploymentName) -> Result<(), Failure> {
    let found = session.client.graph(name).await?;
    match session.form {
        Form::Words(Format::Dot) => session.print(&graph::dot(&found)),
        _ => session.show(&found, graph::tree),
    }
}
