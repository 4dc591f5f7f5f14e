//! `dm templates`: what registries offer.

use clap::Args;
use common::api::manager::TemplateSummary;
use common::api::page::Page;
use common::client::{ClientError, ManagerClient};
use serde::Serialize;

use crate::error::Failure;
use crate::output::table::Table;
use crate::session::{Session, all_pages};

/// List the templates of a registry, or of all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm templates
  dm templates REGISTRY
  dm templates REGISTRY '^redis'
  dm templates --registry REGISTRY '^redis'")]
pub struct Templates {
    // Its own id, for `registry` is that of the flag that may stand before the command.
    /// A registry as registries lists it.
    #[arg(id = "listed", value_name = "REGISTRY")]
    pub registry: Option<String>,
    /// Only templates whose name matches this regular expression.
    pub regex: Option<String>,
    /// The registry, as other commands take it; what stands alone is then the regular expression.
    #[arg(long, id = "registry", value_name = "REGISTRY")]
    pub flagged: Option<String>,
}

/// A template, and where it is if that was not asked for.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(skip_serializing_if = "Option::is_none")]
    registry: Option<String>,
    #[serde(flatten)]
    template: TemplateSummary,
}

impl Templates {
    pub async fn run(mut self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(registry) = self.flagged.take() {
            if self.regex.is_some() {
                let reason = "name the registry once: as the argument, or with --registry";
                return Err(Failure::Usage(reason.to_owned()));
            }
            self.regex = self.registry.replace(registry);
        }
        let (page, away) = match &self.registry {
            Some(registry) => (self.of(&session.client, registry, None).await?, Vec::new()),
            None => self.of_all(&session.client).await?,
        };
        let named = self.registry.clone().unwrap_or_default();
        let mut table = Table::new(&["REGISTRY", "TEMPLATE", "VERSIONS"]);
        for Listed { registry, template } in &page.items {
            let registry = registry.as_ref().unwrap_or(&named);
            table.row([registry, &template.name, &template.versions.join(", ")]);
        }
        let width = session.terminal.width;
        session.show(&page, |_| table.render(width))?;
        let mut away = away.into_iter();
        let Some(last) = away.next_back() else {
            return Ok(());
        };
        for error in away {
            session.terminal.note(&format!("error: {error}"));
        }
        Err(last.into())
    }

    /// One registry holds up no other: what those that answer hold is listed, and the others' errors come with it.
    async fn of_all(
        &self,
        client: &ManagerClient,
    ) -> Result<(Page<Listed>, Vec<ClientError>), ClientError> {
        let registries = all_pages(|page| async move { client.registries(&page).await }).await?;
        let each = registries.items.iter().map(|registry| {
            let name = &registry.name;
            self.of(client, name, Some(name))
        });
        let (mut items, mut away) = (Vec::new(), Vec::new());
        for listed in futures::future::join_all(each).await {
            match listed {
                Ok(page) => items.extend(page.items),
                Err(error) => away.push(error),
            }
        }
        Ok((Page::whole(items), away))
    }

    async fn of(
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
