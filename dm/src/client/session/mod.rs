//! What every command uses: the manager, the flags, the terminal.

pub(super) mod duration;
pub mod flags;

use std::future::Future;
use std::time::Duration;

use common::api::page::{Page, PageQuery};
use common::client::access::ClientAccess;
use common::client::{ClientError, ManagerClient};
use common::model::Namespace;
use common::model::limits::PAGE_ITEMS_MAX;
use serde::Serialize;

use crate::client::identity::IdentityError;
use crate::client::session::flags::{Flags, ManagerTarget};
use crate::error::{CommandError, ExitCode, Failure};
use crate::terminal::format::{self, Form, OutputError};
use crate::terminal::{Terminal, fitted, text};

pub struct Session<'s, 't> {
    pub client: ManagerClient,
    /// How results are written.
    pub form: Form,
    pub timeout: Option<Duration>,
    /// Of the current context: for objects and lists, if a command names none.
    pub namespace: Option<Namespace>,
    pub terminal: &'s mut Terminal<'t>,
}

impl<'s, 't> Session<'s, 't> {
    /// `asks`: whether the command sends requests to the manager, and so needs an identity.
    pub async fn new(
        flags: Flags,
        asks: bool,
        terminal: &'s mut Terminal<'t>,
    ) -> Result<Self, Failure> {
        let form = Form::new(&flags.output)?;
        let target = match asks {
            true => flags.target()?,
            false => ManagerTarget::default(),
        };
        let access = match asks {
            true => target.identity.access(&target.service).await?,
            false => ClientAccess::to_nobody().map_err(IdentityError::from)?,
        };
        let client = ManagerClient::with(&target.service, &access)?;
        Ok(Self {
            client,
            form,
            timeout: flags.timeout,
            namespace: target.namespace,
            terminal,
        })
    }

    /// Prints a document for programs, or the text that `people` makes from it for users, which fits into the terminal.
    pub fn show<T: Serialize>(
        &mut self,
        document: &T,
        people: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        self.show_with(document, people, |_| String::new())
    }

    /// The same, and below it for users what `verbatim` makes: its lines stay as they are.
    pub fn show_with<T: Serialize>(
        &mut self,
        document: &T,
        people: impl FnOnce(&T) -> String,
        verbatim: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        let text = match self.form.write(document)? {
            Some(text) => self.safe(text),
            None => fitted(&people(document), self.terminal.width) + &verbatim(document),
        };
        self.print(&text)
    }

    /// Prints a document that users read as YAML.
    pub fn show_document<T: Serialize>(&mut self, document: &T) -> Result<(), Failure> {
        let text = match self.form.write(document)? {
            Some(text) => self.safe(text),
            None => format::yaml(document)?,
        };
        self.print(&text)
    }

    pub fn show_text(&mut self, text: String) -> Result<(), Failure> {
        let text = self.safe(text);
        self.print(&text)
    }

    /// A file or another program gets the values as they are. A terminal obeys none of them.
    fn safe(&self, text: String) -> String {
        match self.terminal.width {
            Some(_) => text::document(&text),
            None => text,
        }
    }

    /// The time limit of the user, in milliseconds.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.timeout
            .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    pub fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.terminal
            .stdout
            .write_all(bytes)
            .map_err(OutputError::from)?;
        self.terminal.stdout.flush().map_err(OutputError::from)?;
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{what} did not finish within {}", common::duration::render(*within))]
struct TimedOut {
    what: String,
    within: Duration,
}

impl CommandError for TimedOut {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Timeout
    }

    fn hint(&self) -> Option<String> {
        Some("give it more time with --timeout".to_owned())
    }
}

/// Fails if the work takes longer than the user allows.
pub async fn within<T>(
    timeout: Option<Duration>,
    what: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(within) = timeout else {
        return work.await;
    };
    let what = what.to_owned();
    match tokio::time::timeout(within, work).await {
        Ok(done) => done,
        Err(_) => Err(TimedOut { what, within }.into()),
    }
}

/// All pages of a list as one.
pub async fn all_pages<T, F>(fetch: impl Fn(PageQuery) -> F) -> Result<Page<T>, ClientError>
where
    F: Future<Output = Result<Page<T>, ClientError>>,
{
    let mut items = Vec::new();
    let mut page_token: Option<String> = None;
    loop {
        let page = fetch(PageQuery {
            limit: Some(PAGE_ITEMS_MAX),
            page_token: page_token.clone(),
        })
        .await?;
        items.extend(page.items);
        // A token that returns itself would never end.
        if page.next_page_token.is_none() || page.next_page_token == page_token {
            return Ok(Page::whole(items));
        }
        page_token = page.next_page_token;
    }
}
