//! `--dry-run`: shows what a write would change now, and changes nothing.

use clap::{Args, ValueEnum};
use common::api::manager::{DiffQuery, UpdateDeployment};
use common::model::{DeploymentName, DiffSummary};

use crate::client::operation::error::OperationError;
use crate::client::operation::write::Subject;
use crate::client::render::change;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::text;

#[derive(Debug, Clone, Copy, Args)]
pub struct DryRunFlag {
    /// Show what the command would change now, by a dry run on the API server; store and apply nothing.
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "server", conflicts_with_all = ["preview", "no_wait"])]
    dry_run: Option<Where>,
}

/// The only place for a dry run: kubectl and Helm ask for it by this word.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Where {
    Server,
}

impl DryRunFlag {
    pub fn is_wanted(self) -> bool {
        self.dry_run.is_some()
    }
}

/// Shows the changes. Resources that the cluster would refuse are a failure.
pub async fn show(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    request: &UpdateDeployment,
    query: &DiffQuery,
    subject: &Subject,
) -> Result<(), Failure> {
    compare(session, name, request, query, subject).await?;
    if session.form.is_for_people() {
        session.print("dry run: nothing was changed\n")?;
    }
    Ok(())
}

pub async fn compare(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    request: &UpdateDeployment,
    query: &DiffQuery,
    subject: &Subject,
) -> Result<DiffSummary, Failure> {
    let diff = session.client.diff(name, request, query).await;
    let diff = diff.map_err(|error| subject.failed(error))?;
    for warning in &diff.warnings {
        let warning = format!("warning: {}", text::line(warning));
        session.terminal.note(&warning);
    }
    let colours = session.terminal.colours;
    session.show(&diff, |diff| {
        let changes = change::resources(&diff.resources, colours);
        format!("{changes}{}\n", change::summary(&diff.summary))
    })?;
    match diff.summary.failing {
        0 => Ok(diff.summary),
        failing => Err(OperationError::WouldFail {
            name: name.clone(),
            failing,
        }
        .into()),
    }
}
