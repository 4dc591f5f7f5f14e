//! `dm context`: lists, chooses, adds and deletes contexts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use common::model::Namespace;

use super::file::{Context, ContextError, ContextIssuer, Contexts};
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::table::Table;

/// List the contexts, choose one, add or delete one.
///
/// A context is a manager with its URL, identity and namespace. It is used where neither --service nor DM_SERVICE is given.
/// DM_CONTEXT chooses one for a single command. They are in ~/.config/dm/config.yaml, or the file that DM_CONFIG names.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm context add prod --url https://dm.example.com --namespace shop
  dm context add staging --url https://dm.example.com --issuer https://id.example.com --client-id dm
  dm context use prod
  dm context list
  dm context delete prod"
)]
pub struct ContextCommand {
    #[command(subcommand)]
    pub action: Option<Action>,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the contexts; a star marks the current one.
    List,
    /// Make a context the current one.
    Use { name: String },
    /// Add a context. The first one becomes the current one.
    Add(Add),
    /// Delete a context.
    Delete { name: String },
}

#[derive(Debug, Args)]
pub struct Add {
    pub name: String,
    /// URL of the manager, or of several on one etcd with commas between them.
    #[arg(long)]
    pub url: String,
    /// Namespace for objects and lists, if a command names none.
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// OpenID Connect issuer where dm login signs in.
    #[arg(long, value_name = "URL", requires = "client_id")]
    pub issuer: Option<String>,
    /// Name of dm at the issuer: a public client.
    #[arg(long, value_name = "ID", requires = "issuer")]
    pub client_id: Option<String>,
    /// PEM file with the authority of the issuer's certificate.
    #[arg(long, value_name = "FILE", requires = "issuer")]
    pub issuer_ca: Option<PathBuf>,
}

impl ContextCommand {
    pub fn run(self, session: &mut Session<'_, '_>, files: Files) -> Result<(), Failure> {
        let mut known = Contexts::read()?;
        let done = match self.action.unwrap_or(Action::List) {
            Action::List => return list(session, &known),
            Action::Use { name } => {
                if !known.contexts.contains_key(&name) {
                    return Err(ContextError::Missing(name).into());
                }
                known.current = Some(name.clone());
                format!("{name} is the current context\n")
            }
            Action::Add(add) => added(&mut known, add, files)?,
            Action::Delete { name } => {
                if known.contexts.remove(&name).is_none() {
                    return Err(ContextError::Missing(name).into());
                }
                known.current = known.current.filter(|current| *current != name);
                format!("context {name} is deleted\n")
            }
        };
        known.write()?;
        session.print(&done)
    }
}

/// The files of the identity flags, which a new context keeps.
#[derive(Debug, Default)]
pub struct Files {
    pub ca: Option<PathBuf>,
    pub token: Option<PathBuf>,
    pub client_cert: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
}

fn added(known: &mut Contexts, add: Add, files: Files) -> Result<String, Failure> {
    let Add {
        name,
        url,
        namespace,
        issuer,
        client_id,
        issuer_ca,
    } = add;
    if known.contexts.contains_key(&name) {
        return Err(ContextError::Exists(name).into());
    }
    // A relative path would mean another file in another folder.
    let whole = |file: Option<PathBuf>| file.map(|file| std::path::absolute(&file).unwrap_or(file));
    let issuer = issuer.zip(client_id).map(|(url, client_id)| ContextIssuer {
        url,
        client_id,
        ca_file: whole(issuer_ca),
    });
    let context = Context {
        issuer,
        url,
        namespace,
        ca_file: whole(files.ca),
        token_file: whole(files.token),
        client_cert: whole(files.client_cert),
        client_key: whole(files.client_key),
    };
    known.contexts.insert(name.clone(), context);
    let current = known.current.get_or_insert_with(|| name.clone());
    Ok(match *current == name {
        true => format!("context {name} is added, and is the current one\n"),
        false => format!("context {name} is added; use it with: dm context use {name}\n"),
    })
}

fn list(session: &mut Session<'_, '_>, known: &Contexts) -> Result<(), Failure> {
    let width = session.terminal.width;
    session.show(known, |known| {
        let mut table = Table::new(&["CURRENT", "NAME", "URL", "NAMESPACE", "ISSUER"]);
        for (name, context) in &known.contexts {
            let is_current = known.current.as_ref() == Some(name);
            let namespace = context.namespace.as_ref();
            table.row([
                if is_current { "*" } else { "" },
                name,
                &context.url,
                namespace.map_or("", |namespace| namespace.as_str()),
                context
                    .issuer
                    .as_ref()
                    .map_or("", |issuer| issuer.url.as_str()),
            ]);
        }
        table.render(width)
    })
}
