//! `dm logs`: prints the logs of a deployment's containers.

use std::pin::pin;

use clap::Args;
use common::api::activity::{LogItem, LogLine, LogNotice, LogsQuery};
use common::client::ClientError;
use common::model::{DeploymentName, ResourceName};
use futures::TryStreamExt;

use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::format::Form;
use crate::terminal::text;

/// Print the logs of a deployment's containers, each line behind its pod and container.
///
/// The manager reads them with your rights. With -f new lines and new pods are shown too, for an hour at most.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm logs web
  dm logs web web-pods -f
  dm logs web -c main --tail 20 --no-prefix
  dm logs web --previous")]
pub struct Logs {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Only the pods of this resource.
    pub resource: Option<ResourceName>,
    /// Follow: show new lines and new pods too, until Ctrl-C.
    #[arg(long, short)]
    pub follow: bool,
    /// From each container before its last restart.
    #[arg(long, short, conflicts_with = "follow")]
    pub previous: bool,
    /// Only containers of this name.
    #[arg(long, short)]
    pub container: Option<String>,
    /// The last lines of each container, at most 10000.
    #[arg(long, value_name = "LINES", default_value_t = 100, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub tail: u16,
    /// Print the time of each line.
    #[arg(long)]
    pub timestamps: bool,
    /// Print the lines alone, without pod and container.
    #[arg(long)]
    pub no_prefix: bool,
}

impl Logs {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let logs = session.client.logs(&self.name, &self.query()).await?;
        let mut logs = pin!(logs);
        let (mut lines, mut notices) = (0_u64, Vec::new());
        while let Some(item) = logs.try_next().await? {
            match item {
                LogItem::Line(line) => {
                    lines += 1;
                    self.print(session, &line)?;
                }
                LogItem::Notice(notice) => {
                    let shown = said(&notice);
                    session.terminal.note(&format!("note: {shown}"));
                    notices.push(shown);
                }
                LogItem::Error { error } => {
                    return Err(ClientError::Answered(Box::new(error)).into());
                }
                LogItem::Heartbeat => {}
            }
        }
        match lines == 0 && !notices.is_empty() {
            true => Err(Failure::failed("no log could be read: the notes say why")),
            false => Ok(()),
        }
    }

    fn query(&self) -> LogsQuery {
        LogsQuery {
            resource: self.resource.clone(),
            container: self.container.clone(),
            previous: self.previous.then_some(true),
            follow: self.follow.then_some(true),
            tail: Some(usize::from(self.tail)),
        }
    }

    fn print(&self, session: &mut Session<'_, '_>, line: &LogLine) -> Result<(), Failure> {
        if !matches!(session.form, Form::Words(_) | Form::Json | Form::Yaml) {
            return session.show(line, |_| String::new());
        }
        if session.form.is_for_programs() {
            // One document a line: a log has no end that a list could wait for.
            let line = serde_json::to_string(line).unwrap_or_default();
            return session.print(&format!("{line}\n"));
        }
        let mut shown = String::new();
        if !self.no_prefix {
            shown.push_str(&format!("[{}/{}] ", line.pod, line.container));
        }
        if let Some(time) = line.time.as_ref().filter(|_| self.timestamps) {
            shown.push_str(&format!("{time} "));
        }
        shown.push_str(&line.text);
        // A file or another program gets what the container wrote.
        let shown = match session.terminal.width {
            Some(_) => text::output(&shown),
            None => shown,
        };
        session.print(&format!("{shown}\n"))
    }
}

fn said(notice: &LogNotice) -> String {
    text::line(&notice.message)
}
