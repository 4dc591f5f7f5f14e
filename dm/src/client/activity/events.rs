//! `dm events`: shows what the cluster noted about a deployment's objects.

use std::collections::HashSet;
use std::time::Duration;

use clap::Args;
use common::api::activity::{ClusterEvent, EVENTS_MAX, EventKind, EventsQuery};
use common::model::{DeploymentName, ResourceName};
use jiff::Timestamp;

use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::table::Table;
use crate::terminal::text;

/// Pause between two requests: a user can read the lines, and the cluster has little load.
const LOOK: Duration = Duration::from_secs(2);

/// Show the cluster's events about a deployment's objects and their pods, the newest last.
///
/// The manager reads them with your rights. Clusters keep events for an hour or so.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm events web
  dm events web web-pods
  dm events web --warnings
  dm events web --watch")]
pub struct Events {
    /// Name of the deployment.
    pub name: DeploymentName,
    /// Only events about the objects of this resource.
    pub resource: Option<ResourceName>,
    /// Only warnings.
    #[arg(long)]
    pub warnings: bool,
    /// The newest events, at most 1000.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Show new events too, until Ctrl-C.
    #[arg(long, short)]
    pub watch: bool,
}

impl Events {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if self.watch {
            return self.follow(session).await;
        }
        let mut found = self.look(session, usize::from(self.limit)).await?;
        found.items = self.wanted(found.items);
        for notice in &found.notices {
            session
                .terminal
                .note(&format!("note: {}", text::line(notice)));
        }
        if found.items.is_empty() && session.form.is_for_people() {
            let text = format!(
                "no events about {}; clusters forget them after an hour\n",
                self.name
            );
            return session.print(&text);
        }
        let width = session.terminal.width;
        session.show(&found, |found| {
            table(&found.items, Timestamp::now()).render(width)
        })
    }

    async fn look(
        &self,
        session: &Session<'_, '_>,
        limit: usize,
    ) -> Result<common::api::activity::ClusterEvents, Failure> {
        let query = EventsQuery {
            resource: self.resource.clone(),
            limit: Some(limit),
        };
        Ok(session.client.cluster_events(&self.name, &query).await?)
    }

    fn wanted(&self, events: Vec<ClusterEvent>) -> Vec<ClusterEvent> {
        let is_wanted = |event: &ClusterEvent| !self.warnings || event.kind == EventKind::Warning;
        events.into_iter().filter(is_wanted).collect()
    }

    /// Prints each event once, and again when it happens again.
    async fn follow(&self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let (mut seen, mut limit) = (HashSet::new(), usize::from(self.limit));
        loop {
            let found = self.look(session, limit).await?;
            let known: HashSet<_> = found.items.iter().map(identity).collect();
            for event in self.wanted(found.items) {
                if !seen.contains(&identity(&event)) {
                    self.print(session, &event)?;
                }
            }
            // What the cluster has forgotten need not be remembered here.
            (seen, limit) = (known, EVENTS_MAX);
            tokio::time::sleep(LOOK).await;
        }
    }

    fn print(&self, session: &mut Session<'_, '_>, event: &ClusterEvent) -> Result<(), Failure> {
        if session.form.is_for_programs() {
            return session.show(event, |_| String::new());
        }
        let time = event.last_time.as_deref().unwrap_or("-");
        let line = format!(
            "{time}  {}  {}  {}: {}",
            kind(event),
            object(event),
            event.reason,
            event.message
        );
        session.print(&format!("{}\n", text::line(line.trim_end())))
    }
}

fn identity(event: &ClusterEvent) -> (String, String, String, u64, Option<String>) {
    (
        event.object.to_string(),
        event.reason.clone(),
        event.message.clone(),
        event.count,
        event.last_time.clone(),
    )
}

fn kind(event: &ClusterEvent) -> &'static str {
    match event.kind {
        EventKind::Normal => "Normal",
        EventKind::Warning => "Warning",
    }
}

fn object(event: &ClusterEvent) -> String {
    format!("{}/{}", event.object.kind, event.object.name)
}

fn table(events: &[ClusterEvent], now: Timestamp) -> Table {
    let mut table = Table::new(&["AGE", "TYPE", "OBJECT", "REASON", "MESSAGE"]);
    for event in events {
        let time = event.last_time.as_deref();
        let time = time.and_then(|time| time.parse::<Timestamp>().ok());
        let age = time.map_or_else(|| "-".to_owned(), |time| text::age(time, now));
        let times = match event.count {
            0 | 1 => String::new(),
            count => format!(" (x{count})"),
        };
        let message = format!("{}{times}", event.message);
        table.row([&age, kind(event), &object(event), &event.reason, &message]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_in_lines_with_how_often_they_happened() {
        let event = |count: u64, at: Option<&str>| -> ClusterEvent {
            serde_json::from_value(serde_json::json!({
                "resource": "web",
                "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1"},
                "type": "Warning", "reason": "BackOff", "message": "no\u{1b} image", "count": count,
                "lastTime": at,
            }))
            .unwrap()
        };
        let events = [event(1, None), event(4, Some("2026-01-01T00:00:00Z"))];
        let now = "2026-01-01T00:01:30Z".parse().unwrap();
        insta::assert_snapshot!(table(&events, now).render(None), @r"
        AGE  TYPE     OBJECT     REASON   MESSAGE
        -    Warning  Pod/web-1  BackOff  no\u{1b} image
        90s  Warning  Pod/web-1  BackOff  no\u{1b} image (x4)
        ");
    }
}
