//! `dm templates`: lists the templates of registries, and stored Template objects.

use std::time::Duration;

use clap::Args;
use common::api::manager::TemplateSummary;
use common::api::page::Page;
use common::client::{ClientError, ManagerClient};
use common::duration;
use common::model::Namespace;
use serde::Serialize;

use super::stored_templates;
use crate::client::session::{Session, all_pages, within};
use crate::error::{CommandError, ExitCode, Failure};
use crate::terminal::table::Table;
use crate::terminal::text;

/// List the templates of a registry, or of all registries and the stored Template objects of a namespace.
///
/// The registry of a stored Template object is template:NAMESPACE. Its type is that and its name: template:NAMESPACE/NAME.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm templates
  dm templates default
  dm templates default '^redis'
  dm templates --registry default '^redis'
  dm templates template:shop               # stored Template objects")]
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
    /// Namespace of stored Template objects [default: that of the context, or default].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
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
/// What takes time, in an error.
const STORED: &str = "listing the stored templates";

impl Templates {
    pub async fn run(mut self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(registry) = self.flagged.take() {
            if self.regex.is_some() {
                let reason = "give the registry only once: as the argument, or with --registry";
                return Err(Failure::usage(reason.to_owned()));
            }
            self.regex = self.registry.replace(registry);
        }
        let (page, away) = self.found(session).await?;
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

    /// What was found, and the errors of registries that gave nothing.
    async fn found(
        &self,
        session: &Session<'_, '_>,
    ) -> Result<(Page<Listed>, Vec<Failure>), Failure> {
        let client = &session.client;
        let Some(registry) = &self.registry else {
            let patience = session.timeout.unwrap_or(PATIENCE);
            let (mut page, mut away) = self.list_all(client, patience).await?;
            let namespace = self.namespace.as_ref().or(session.namespace.as_ref());
            let stored = self.list_stored(client, namespace);
            match within(session.timeout, STORED, stored).await {
                Ok(stored) => page.items.extend(stored),
                Err(error) => away.push(error),
            }
            return Ok((page, away));
        };
        let listed = async {
            match stored_templates::namespace(registry) {
                Some(namespace) => {
                    let namespace = namespace?;
                    let listed = self.list_stored(client, Some(&namespace)).await?;
                    Ok(Page::whole(listed))
                }
                None => Ok(self.list(client, registry, None).await?),
            }
        };
        let page = within(session.timeout, "listing its templates", listed).await?;
        Ok((page, Vec::new()))
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

    async fn list_stored(
        &self,
        client: &ManagerClient,
        namespace: Option<&Namespace>,
    ) -> Result<Vec<Listed>, Failure> {
        let regex = self.regex.as_deref();
        let (registry, found) = stored_templates::list(client, namespace, regex).await?;
        let listed = found.into_iter().map(|template| Listed {
            registry: Some(registry.clone()),
            template,
        });
        Ok(listed.collect())
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
