//! `dm whatif`: shows what another version of a template would change in deployments.

use std::collections::BTreeMap;

use clap::Args;
use common::api::upgrade::{WhatIf as Request, WhatIfItem, WhatIfOutcome, WhatIfPage, WhatIfQuery};
use common::model::{DeploymentName, TypeName};

use crate::client::change::options::label;
use crate::client::render::change;
use crate::client::session::Session;
use crate::client::target::qualified;
use crate::error::{ExitCode, Failure};
use crate::terminal::table::Table;
use crate::terminal::text;

/// Deployments in one request: the manager expands each of them.
const PAGE: usize = 100;

/// Show what another version of a template would change in the deployments that use the template; nothing is changed.
///
/// The manager expands each deployment that uses any version of the template again with this version, and compares the result
/// with the latest manifest. It does not ask the cluster. All other templates are those of the manifest.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm whatif replicatedservice:v1.1
  dm whatif replicatedservice:v1.1 --full     # field by field
  dm whatif replicatedservice:v1.1 --label tier=front -o json

Exit codes: 0 the version works for all, 1 not for all, otherwise as for other commands.")]
pub struct WhatIf {
    /// TEMPLATE:VERSION, or a full template reference.
    pub template: String,
    /// Show each resource and field that would change; -o yaml and -o json always do.
    #[arg(long)]
    pub full: bool,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
    #[command(flatten)]
    pub selection: Selection,
}

/// Selects some of the deployments that use a template; all, if no flag is given.
#[derive(Debug, Default, Args)]
pub struct Selection {
    /// Only this deployment; may be repeated.
    #[arg(long = "deployment", value_name = "NAME")]
    pub deployments: Vec<DeploymentName>,
    /// Only deployments with this label; may be repeated, then deployments with all of them.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

impl Selection {
    pub fn request(&self, template: TypeName) -> Request {
        Request {
            template,
            deployments: self.deployments.clone(),
            labels: self.labels.iter().cloned().collect::<BTreeMap<_, _>>(),
        }
    }
}

impl WhatIf {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let template = TypeName::parse(qualified(&self.template, self.registry.as_deref())?)?;
        show(session, &self.selection.request(template), self.full).await
    }
}

/// Asks the manager and shows the answer.
pub async fn show(
    session: &mut Session<'_, '_>,
    request: &Request,
    full: bool,
) -> Result<ExitCode, Failure> {
    let whole = full || session.form.is_for_programs();
    let found = all(session, request, whole).await?;
    let (width, colours) = (session.terminal.width, session.terminal.colours);
    session.show(&found, |found| match full {
        true => found
            .items
            .iter()
            .map(|item| detailed(item, colours))
            .collect(),
        false => table(found, width),
    })?;
    let failing = |item: &WhatIfItem| item.outcome == WhatIfOutcome::Failing;
    Ok(match found.items.iter().any(failing) {
        true => ExitCode::Failed,
        false => ExitCode::Done,
    })
}

/// All pages as one.
pub async fn all(
    session: &Session<'_, '_>,
    request: &Request,
    full: bool,
) -> Result<WhatIfPage, Failure> {
    let mut query = WhatIfQuery {
        limit: Some(PAGE),
        page_token: None,
        full,
    };
    let mut whole = session.client.whatif(request, &query).await?;
    while let Some(token) = whole.next_page_token.take() {
        query.page_token = Some(token);
        let page = session.client.whatif(request, &query).await?;
        whole.items.extend(page.items);
        // A token that returns itself would never end.
        whole.next_page_token = page
            .next_page_token
            .filter(|next| Some(next) != query.page_token.as_ref());
    }
    Ok(whole)
}

fn table(found: &WhatIfPage, width: Option<usize>) -> String {
    if found.items.is_empty() {
        return format!(
            "no deployment uses {}\n",
            text::line(found.template.type_name.as_str())
        );
    }
    let mut table = Table::new(&["DEPLOYMENT", "HAS", "WHAT WOULD CHANGE"]);
    for item in &found.items {
        table.row([item.deployment.as_str(), &versions(item), &outcome(item)]);
    }
    table.render(width)
}

/// The versions of the template that a deployment uses.
fn versions(item: &WhatIfItem) -> String {
    let mut versions: Vec<&str> = item
        .uses
        .iter()
        .map(|used| used.version.as_deref().unwrap_or("?"))
        .collect();
    versions.sort_unstable();
    versions.dedup();
    versions.join(", ")
}

pub fn outcome(item: &WhatIfItem) -> String {
    let summary = match item.outcome {
        WhatIfOutcome::Current => "nothing: it has this version".to_owned(),
        WhatIfOutcome::Unfinished => {
            "nothing: it has this version, but its last operation failed".to_owned()
        }
        WhatIfOutcome::Unchanged => "nothing: it expands to the same objects".to_owned(),
        WhatIfOutcome::Changed => {
            let summary = &item.summary;
            let counts = [
                (summary.create, "added"),
                (summary.update, "changed"),
                (summary.delete, "removed"),
            ];
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts: Vec<_> = counts
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            counts.join(", ")
        }
        WhatIfOutcome::Failing => {
            let error = item.error.as_ref();
            let message = error.map_or("", |error| error.message.as_str());
            format!("fails: {}", text::first(message))
        }
    };
    let owner = item.uses.iter().find_map(|used| used.owner.as_ref());
    match owner {
        Some(owner) if item.outcome != WhatIfOutcome::Current => {
            format!("{summary} (used by {owner}, whose owner must refer to the new version)")
        }
        _ => summary,
    }
}

fn detailed(item: &WhatIfItem, colours: bool) -> String {
    let changes = change::resources(&item.resources, colours);
    let indented: String = changes.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "{}: {}\n{indented}",
        item.deployment,
        text::line(&outcome(item))
    )
}
