//! `dm templates`: what registries offer.

use std::time::Duration;

use clap::Args;
use common::api::manager::TemplateSummary;
use common::api::page::{Page, PageQuery};
use common::client::ClientError;
use common::client::http::Endpoint;
use serde::Serialize;

use crate::error::Failure;
use crate::output::table::Table;
use crate::session::{Session, all_pages};

/// The manager lists a registry from its own cache or over the network.
const READ: Duration = Duration::from_secs(60);

/// List the templates of a registry, or of all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm templates
  dm templates REGISTRY
  dm templates REGISTRY '^redis'")]
pub struct Templates {
    // Its own id, for `registry` is that of the flag that may stand before the command.
    /// A registry as registries lists it.
    #[arg(id = "listed", value_name = "REGISTRY")]
    pub registry: Option<String>,
    /// Only templates whose name matches this regular expression.
    pub regex: Option<String>,
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
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let endpoint = Endpoint::new("the manager", &session.service)?;
        let page = match &self.registry {
            Some(registry) => self.of(&endpoint, registry, None).await?,
            None => self.of_all(session, &endpoint).await?,
        };
        let named = self.registry.clone().unwrap_or_default();
        let mut table = Table::new(&["REGISTRY", "TEMPLATE", "VERSIONS"]);
        for Listed { registry, template } in &page.items {
            let registry = registry.as_ref().unwrap_or(&named);
            table.row([registry, &template.name, &template.versions.join(", ")]);
        }
        let width = session.terminal.width;
        session.show(&page, |_| table.render(width))
    }

    async fn of_all(
        &self,
        session: &Session<'_, '_>,
        endpoint: &Endpoint,
    ) -> Result<Page<Listed>, ClientError> {
        let mut items = Vec::new();
        for registry in session.client.registries().await?.items {
            items.extend(
                self.of(endpoint, &registry.name, Some(&registry.name))
                    .await?
                    .items,
            );
        }
        Ok(Page::whole(items))
    }

    async fn of(
        &self,
        endpoint: &Endpoint,
        registry: &str,
        label: Option<&str>,
    ) -> Result<Page<Listed>, ClientError> {
        let page = all_pages(|page| self.page(endpoint, registry, page)).await?;
        let list = |template| Listed {
            registry: label.map(str::to_owned),
            template,
        };
        Ok(Page::whole(page.items.into_iter().map(list).collect()))
    }

    async fn page(
        &self,
        endpoint: &Endpoint,
        registry: &str,
        page: PageQuery,
    ) -> Result<Page<TemplateSummary>, ClientError> {
        let limit = page.limit.map(|limit| limit.to_string());
        let query = [
            ("limit", limit.as_ref()),
            ("pageToken", page.page_token.as_ref()),
            ("regex", self.regex.as_ref()),
        ];
        let query: Vec<_> = query
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        endpoint
            .get(&["registries", registry, "types"], &query, READ)
            .await
    }
}
