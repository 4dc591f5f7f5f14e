//! `dm templates`: lists the templates of registries.

use std::time::Duration;

use clap::Args;
use common::api::manager::TemplateSummary;
use common::api::page::Page;
use common::client::{ClientError, ManagerClient};
use common::duration;
use serde::Serialize;

use crate::client::session::{Session, all_pages, within};
use crate::error::{CommandError, ExitCode, Failure};
use crate::terminal::table::Table;
use crate::terminal::text;

/// List the templates of a registry, or of all registries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm templates
  dm templates REGISTRY
  dm templates REGISTRY '^redis'
  dm templates --registry REGISTRY '^redis'")]
pub struct Templates {
    // Not the id `registry`, which belongs to the flag that may stand before the command.
    /// Registry as in the output of dm registries.
    #[arg(id = "listed", value_name = "REGISTRY")]
    pub registry: Option<String>,
    /// List only templates whose name matches this regular expression.
    pub regex: Option<String>,
    /// Registry, like for other commands; a single argument is then the regular expression.
    #[arg(long = "registry", id = "registry", value_name = "REGISTRY")]
    pub flagged: Option<String>,
}

/// A template, and its registry if several were asked.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(skip_serializing_if = "Option::is_none")]
    registry: Option<String>,
    #[serde(flatten)]
    template: TemplateSummary,
}

#[derive(Debug, thiserror::Error)]
#[error("registry {registry} has not answered within {}", duration::render(*within))]
struct Slow {
    registry: String,
    within: Duration,
}

impl CommandError for Slow {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Unavailable
    }

    fn hint(&self) -> Option<String> {
        Some(format!("dm templates {} waits for it", self.registry))
    }
}

/// How long to wait for a registry after the others have answered.
const PATIENCE: Duration = Duration::from_secs(10);

impl Templates {
    pub async fn run(mut self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(registry) = self.flagged.take() {
            if self.regex.is_some() {
                let reason = "give the registry only once: as the argument, or with --registry";
                return Err(Failure::usage(reason.to_owned()));
            }
            self.regex = self.registry.replace(registry);
        }
        let (page, away) = match &self.registry {
            Some(registry) => {
                let listed = async { Ok(self.list(&session.client, registry, None).await?) };
                let listed = within(session.timeout, "listing its templates", listed);
                (listed.await?, Vec::new())
            }
            None => {
                let patience = session.timeout.unwrap_or(PATIENCE);
                self.list_all(&session.client, patience).await?
            }
        };
        let named = self.registry.clone().unwrap_or_default();
        let width = session.terminal.width;
        session.show(&page, |page| {
            match page.items.is_empty() && !away.is_empty() {
                true => String::new(),
                false => self.table(&page.items, &named, width),
            }
        })?;
        let mut away = away.into_iter();
        let Some(last) = away.next_back() else {
            return Ok(());
        };
        for error in away {
            session.terminal.note(&format!("error: {error}"));
        }
        Err(last)
    }

    /// The newest version comes first: most users look for it, and clipping keeps it.
    fn table(&self, listed: &[Listed], named: &str, width: Option<usize>) -> String {
        if listed.is_empty() {
            return match &self.regex {
                Some(regex) => format!("no template matches {}\n", text::line(regex)),
                None => "there are no templates\n".to_owned(),
            };
        }
        let mut table = Table::new(&["REGISTRY", "TEMPLATE", "VERSIONS"]);
        for Listed { registry, template } in listed {
            let registry = registry.as_deref().unwrap_or(named);
            let versions: Vec<_> = template.versions.iter().rev().map(String::as_str).collect();
            table.row([registry, &template.name, &versions.join(", ")]);
        }
        table.render(width)
    }

    /// Registries do not block each other: the answers are listed, together with the errors of the others.
    async fn list_all(
        &self,
        client: &ManagerClient,
        patience: Duration,
    ) -> Result<(Page<Listed>, Vec<Failure>), ClientError> {
        let registries = all_pages(|page| async move { client.registries(&page).await }).await?;
        let each = registries.items.iter().map(|registry| {
            let name = &registry.name;
            tokio::time::timeout(patience, self.list(client, name, Some(name)))
        });
        let (mut items, mut away) = (Vec::new(), Vec::new());
        let all = futures::future::join_all(each).await;
        for (registry, listed) in registries.items.iter().zip(all) {
            match listed {
                Ok(Ok(page)) => items.extend(page.items),
                Ok(Err(error)) => away.push(error.into()),
                Err(_) => {
                    let registry = registry.name.clone();
                    let within = patience;
                    away.push(Slow { registry, within }.into());
                }
            }
        }
        Ok((Page::whole(items), away))
    }

    async fn list(
        &self,
        client: &ManagerClient,
        registry: &str,
        label: Option<&str>,
    ) -> Result<Page<Listed>, ClientError> {
        let page = all_pages(|page| async move {
            client
                .templates(registry, self.regex.as_deref(), &page)
                .await
        })
        .await?;
        let list = |template| Listed {
            registry: label.map(str::to_owned),
            template,
        };
        Ok(Page::whole(page.items.into_iter().map(list).collect()))
    }
}
