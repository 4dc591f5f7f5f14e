//! `dm upgrade`: rolls a template version out to the deployments that use the template, a few at a time.
//!
//! ```text
//! what-if ─► deployments without the version, by name ─► N at a time: upgrade, follow to the end
//!                                                          └─ one fails ─► no further one starts
//! ```
//!
//! Each upgrade is an ordinary update. Deployments that have the version and did not fail are skipped, so a second run
//! continues where the first one ended.

pub mod whatif;

use clap::Args;
use common::api::error::ErrorBody;
use common::api::manager::WriteQuery;
use common::api::upgrade::{UpgradeDeployment, WhatIfItem, WhatIfOutcome};
use common::client::ManagerClient;
use common::client::manager::Write;
use common::model::{DeploymentName, OperationId, ResolvedType, TypeName};
use common::request_id;
use futures::stream::{FuturesUnordered, StreamExt};
use serde::Serialize;

use self::whatif::Selection;
use crate::client::change::options::HooksFlag;
use crate::client::operation::follow::{WaitLimit, follow};
use crate::client::operation::progress::Progress;
use crate::client::operation::write::query;
use crate::client::session::Session;
use crate::client::target::qualified;
use crate::error::{ExitCode, Failure};
use crate::terminal::Terminal;
use crate::terminal::table::Table;
use crate::terminal::text;

/// Roll a template version out to the deployments that use the template, a few at a time; stop on the first failure.
///
/// In each configuration, the references to the template change to the new version; everything else stays. All other templates
/// stay as they are. Deployments that have the version are skipped, and failed ones are tried again. After a failure, correct
/// it and run the same command again. When one deployment fails or you press Ctrl-C, running operations still finish.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm upgrade --template replicatedservice:v1.1 --dry-run  # like dm whatif
  dm upgrade --template replicatedservice:v1.1
  dm upgrade --template replicatedservice:v1.1 --at-once 10 --label tier=front
  dm upgrade --template replicatedservice:v1.1 --deployment web --rollback-on-failure")]
pub struct Upgrade {
    /// TEMPLATE:VERSION, or a full template reference.
    #[arg(long, value_name = "TEMPLATE:VERSION")]
    pub template: String,
    /// Number of deployments to upgrade at the same time.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub at_once: u8,
    /// Show what the command would change; change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
    #[command(flatten)]
    pub selection: Selection,
    /// If a deployment fails, return it to its previous deployed manifest.
    #[arg(long)]
    pub rollback_on_failure: bool,
    /// Allow the command to delete most objects of a deployment.
    #[arg(long)]
    pub allow_deletes: bool,
    #[command(flatten)]
    pub hooks: HooksFlag,
}

/// The result for one deployment.
#[derive(Debug, Serialize)]
struct Rollout {
    template: ResolvedType,
    items: Vec<Item>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    deployment: DeploymentName,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<OperationId>,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Outcome {
    Upgraded,
    /// The deployment had the version already.
    Current,
    /// Only other templates of registries refer to the template.
    OutOfReach,
    Failed,
    /// Interrupted by the user; the operation goes on.
    Running,
    /// Another deployment had failed before.
    NotBegun,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Upgraded => "upgraded",
            Self::Current => "has it already",
            Self::OutOfReach => "out of reach",
            Self::Failed => "FAILED",
            Self::Running => "still runs",
            Self::NotBegun => "not begun",
        }
    }
}

impl Upgrade {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let template = TypeName::parse(qualified(&self.template, self.registry.as_deref())?)?;
        let request = self.selection.request(template.clone());
        if self.dry_run {
            return whatif::show(session, &request, false).await;
        }
        let users = whatif::all(session, &request, false).await?;
        let query = WriteQuery {
            rollback_on_failure: self.rollback_on_failure,
            allow_deletes: self.allow_deletes,
            hooks: self.hooks.query(),
            ..query(session)
        };
        let items = self
            .roll_out(session, &users.items, &template, &query)
            .await;
        let rollout = Rollout {
            template: users.template,
            items,
        };
        let width = session.terminal.width;
        session.show(&rollout, |rollout| table(rollout, width))?;
        Ok(rollout.exit_code())
    }

    /// Upgrades in the order of names, several at the same time, until one fails.
    async fn roll_out(
        &self,
        session: &mut Session<'_, '_>,
        users: &[WhatIfItem],
        template: &TypeName,
        query: &WriteQuery,
    ) -> Vec<Item> {
        let mut items: Vec<Item> = users.iter().map(planned).collect();
        let planned = |(_, item): &(usize, &Item)| item.outcome == Outcome::NotBegun;
        let turns: Vec<usize> = items
            .iter()
            .enumerate()
            .filter(planned)
            .map(|(turn, _)| turn)
            .collect();
        let (total, mut done, mut stopped) = (turns.len(), 0, false);
        let mut waiting = turns.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while !stopped && running.len() < usize::from(self.at_once) {
                let Some(turn) = waiting.next() else { break };
                let (client, name) = (session.client.clone(), items[turn].deployment.clone());
                running.push(async move { (turn, upgraded(&client, name, template, query).await) });
            }
            let Some((turn, item)) = running.next().await else {
                return items;
            };
            done += 1;
            stopped |= item.outcome != Outcome::Upgraded;
            // The table says why.
            let outcome = item.outcome.as_str();
            let line = format!("[{done}/{total}] {} {outcome}", item.deployment);
            session.terminal.note(&line);
            items[turn] = item;
        }
    }
}

/// The planned result for a deployment.
fn planned(user: &WhatIfItem) -> Item {
    let (outcome, reason) = match user.outcome {
        WhatIfOutcome::Current => (Outcome::Current, None),
        _ if !user.is_in_reach() => (Outcome::OutOfReach, Some(whatif::outcome(user))),
        _ => (Outcome::NotBegun, None),
    };
    Item {
        deployment: user.deployment.clone(),
        outcome,
        operation: None,
        reason,
    }
}

/// Upgrades one deployment and follows it to its end.
async fn upgraded(
    client: &ManagerClient,
    deployment: DeploymentName,
    template: &TypeName,
    query: &WriteQuery,
) -> Item {
    let request = UpgradeDeployment {
        template: template.clone(),
    };
    let write = Write {
        query: query.clone(),
        // With a key, a start without an answer can be repeated.
        idempotency_key: Some(request_id::fresh()),
        ..Write::default()
    };
    let item = |outcome, operation, reason| Item {
        deployment: deployment.clone(),
        outcome,
        operation,
        reason,
    };
    let operation = match client.upgrade_async(&deployment, &request, write).await {
        Ok(operation) => operation,
        Err(error) => return item(Outcome::Failed, None, Some(error.to_string())),
    };
    let id = operation.id.clone();
    // A rollback may take as long as the upgrade itself.
    let times = if query.rollback_on_failure { 2 } else { 1 };
    let timeout = query.timeout_ms.map(std::time::Duration::from_millis);
    let patience = WaitLimit::Write(timeout.map(|timeout| timeout * times));
    match quietly(client, operation, patience).await {
        Ok(ended) => match ended.error {
            Some(error) => item(Outcome::Failed, Some(id), Some(error_line(&error))),
            None => item(Outcome::Upgraded, Some(id), None),
        },
        Err(failure) if failure.exit_code() == ExitCode::Interrupted => {
            let reason = format!("interrupted; dm wait {id} follows it again");
            item(Outcome::Running, Some(id), Some(reason))
        }
        Err(failure) => item(Outcome::Failed, Some(id), Some(failure.to_string())),
    }
}

/// Follows without progress output: several operations cannot draw on one terminal.
async fn quietly(
    client: &ManagerClient,
    operation: common::model::Operation,
    patience: WaitLimit,
) -> Result<common::model::Operation, Failure> {
    let (mut nothing, mut out, mut err) = (std::io::empty(), std::io::sink(), std::io::sink());
    let mut silent = Terminal {
        stdin: &mut nothing,
        stdout: &mut out,
        stderr: &mut err,
        animated: false,
        colours: false,
        interactive: false,
        width: None,
        stderr_width: None,
    };
    let mut progress = Progress::new(&mut silent);
    follow(client, operation, patience, &mut progress).await
}

fn error_line(error: &ErrorBody) -> String {
    let causes = error.causes.iter().take(3);
    let causes: String = causes.map(|cause| format!("; {}", cause.message)).collect();
    format!("{}{causes}", error.message)
}

impl Rollout {
    fn exit_code(&self) -> ExitCode {
        let has = |outcome| self.items.iter().any(|item| item.outcome == outcome);
        match () {
            () if has(Outcome::Running) => ExitCode::Interrupted,
            () if has(Outcome::Failed) => ExitCode::Failed,
            () => ExitCode::Done,
        }
    }
}

fn table(rollout: &Rollout, width: Option<usize>) -> String {
    if rollout.items.is_empty() {
        return format!(
            "no deployment uses {}\n",
            text::line(rollout.template.type_name.as_str())
        );
    }
    let mut table = Table::new(&["DEPLOYMENT", "UPGRADE", "REASON"]);
    for item in &rollout.items {
        let reason = text::first(item.reason.as_deref().unwrap_or_default());
        table.row([item.deployment.as_str(), item.outcome.as_str(), &reason]);
    }
    table.render(width)
}
