//! `dm whatif`: what deployments would be with a template at another version.

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

/// Deployments that are asked for at once: each is expanded.
const PAGE: usize = 100;

/// Show what a template at another version would change in the deployments that use it; nothing is changed.
///
/// Every deployment that uses the template at any version is expanded with this one instead, and compared with its latest
/// manifest; the cluster is not asked. All other templates are taken as the manifest has them on record.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm whatif redis:v1.1
  dm whatif redis:v1.1 --full                 # field by field
  dm whatif redis:v1.1 --label tier=front -o json

Exit codes: 0 all could take it, 1 some could not, else as other commands.")]
pub struct WhatIf {
    /// TEMPLATE:VERSION, or a full template reference.
    pub template: String,
    /// Tell what would change resource by resource and field by field; -o yaml and json always do.
    #[arg(long)]
    pub full: bool,
    /// Take TEMPLATE:VERSION from this registry, on GitHub or registered, and not from the default one.
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
    #[command(flatten)]
    pub selection: Selection,
}

/// Which of the deployments that use a template are meant; all, if nothing is given.
#[derive(Debug, Default, Args)]
pub struct Selection {
    /// Only this deployment; may be given several times.
    #[arg(long = "deployment", value_name = "NAME")]
    pub deployments: Vec<DeploymentName>,
    /// Only deployments with this label; with several, those that have them all.
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

/// Asks and shows it.
pub async fn show(
    session: &mut Session<'_, '_>,
    request: &Request,
    full: bool,
) -> Result<ExitCode, Failure> {
    let whole = full || session.is_for_programs();
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
        // A token that leads to itself would lead on forever.
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

/// The versions that a deployment has of the template.
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
        WhatIfOutcome::Unchanged => "nothing: it comes to the same".to_owned(),
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
            format!("fails: {}", text::line(message))
        }
    };
    let owner = item.uses.iter().find_map(|used| used.owner.as_ref());
    match owner {
        Some(owner) if item.outcome != WhatIfOutcome::Current => {
            format!("{summary} (used within {owner}, whose owner has to name the new version)")
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
