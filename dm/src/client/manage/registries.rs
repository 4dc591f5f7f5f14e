//! `dm registries`: lists the template registries, and has the manager ask them anew.

use clap::{Args, Subcommand};
use common::api::manager::{RefreshedRegistry, RegistrySummary};
use common::api::page::Page;
use common::model::{CredentialName, RegistryDefinition};

use crate::client::session::{Session, all_pages};
use crate::error::Failure;
use crate::terminal::table::Table;

/// List the template registries, or have the manager ask them anew.
///
/// The manager keeps the answers of a registry for a while. After a publication, `dm registries refresh` has it ask at once.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm registries
  dm registries refresh
  dm registries refresh default"
)]
pub struct Registries {
    #[command(subcommand)]
    pub action: Option<Action>,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Ask a registry for its templates now; without a name, all of them.
    Refresh {
        /// Registry as in the output of dm registries.
        #[arg(value_name = "REGISTRY")]
        name: Option<String>,
    },
}

impl Registries {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(Action::Refresh { name }) = self.action {
            return refresh(session, name).await;
        }
        let page = registries(session).await?;
        let width = session.terminal.width;
        session.show(&page, |page| table(&page.items).render(width))
    }
}

async fn registries(session: &Session<'_, '_>) -> Result<Page<RegistrySummary>, Failure> {
    let client = &session.client;
    Ok(all_pages(|page| async move { client.registries(&page).await }).await?)
}

/// Registries do not block each other: what one answers is shown, and then the errors of the others.
async fn refresh(session: &mut Session<'_, '_>, name: Option<String>) -> Result<(), Failure> {
    let names = match name {
        Some(name) => vec![name],
        None => {
            let all = registries(session).await?.items.into_iter();
            all.map(|registry| registry.name).collect()
        }
    };
    let each = names
        .iter()
        .map(|name| session.client.refresh_registry(name));
    let (mut items, mut away): (Vec<RefreshedRegistry>, Vec<Failure>) = Default::default();
    for answer in futures::future::join_all(each).await {
        match answer {
            Ok(refreshed) => items.push(refreshed),
            Err(error) => away.push(error.into()),
        }
    }
    let width = session.terminal.width;
    let page = Page::whole(items);
    session.show(&page, |page| refreshed(&page.items).render(width))?;
    let Some(last) = away.pop() else {
        return Ok(());
    };
    for error in away {
        session.terminal.note(&format!("error: {error}"));
    }
    Err(last)
}

fn refreshed(registries: &[RefreshedRegistry]) -> Table {
    let mut table = Table::new(&["REGISTRY", "TEMPLATES", "VERSIONS"]);
    for registry in registries {
        let (templates, versions) = (
            registry.templates.to_string(),
            registry.versions.to_string(),
        );
        table.row([&registry.name, &templates, &versions]);
    }
    table
}

pub fn table(registries: &[RegistrySummary]) -> Table {
    let mut table = Table::new(&["NAME", "TYPE", "URL", "DETAILS"]);
    for RegistrySummary { name, definition } in registries {
        let kind = definition.registry_type.as_str();
        table.row([name, kind, &definition.url, &details(definition)]);
    }
    table
}

/// Settings that only some registries have.
fn details(definition: &RegistryDefinition) -> String {
    let named = [
        ("ref", definition.reference.as_deref()),
        ("collection", definition.collection.as_deref()),
        (
            "credential",
            definition.credential.as_ref().map(CredentialName::as_str),
        ),
        ("API", definition.api_url.as_deref()),
    ];
    let named = named
        .into_iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", name?)));
    let signed = (!definition.public_keys.is_empty()).then(|| "signed templates only".to_owned());
    named.chain(signed).collect::<Vec<_>>().join(", ")
}
