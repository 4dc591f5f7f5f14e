//! Quiet points, and the end of a sequence.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{DEPLOYMENTS, Lane};
use crate::check::{Point, Violation};
use crate::model::{Configuration, Item, Kind, ObjectId, Options, Policies};
use crate::moves::{What, Write};
use crate::seen::{Seen, text};

/// The garbage collector, the namespace controller and a correction of drift may still be at work.
const SETTLES: Duration = Duration::from_secs(15);
const BETWEEN: Duration = Duration::from_millis(300);
/// Ends with the operation's outcome: a dead stream is found after this time.
const STREAM: Duration = Duration::from_secs(120);
/// Faults of one rule that a quiet point reports.
const OF_ONE_RULE: usize = 3;
/// An object of a deployment that nobody interferes with.
const PLAIN: u8 = 9;

impl Lane {
    pub(super) async fn quiet(&mut self) -> Result<()> {
        self.script.run("# quiet: all interference ends");
        self.heal().await?;
        self.end_operations().await?;
        let mut found = self.settled().await?;
        // A stopped job may make a hundred calls: the first few say it all.
        let mut last = ("", 0);
        found.retain(|violation| {
            last = match violation.rule == last.0 {
                true => (last.0, last.1 + 1),
                false => (violation.rule, 1),
            };
            last.1 <= OF_ONE_RULE
        });
        for violation in found {
            self.fault(violation.rule, violation.what);
        }
        Ok(())
    }

    /// Waits for every operation, and reads the events of each once.
    async fn end_operations(&mut self) -> Result<()> {
        let seen = self.look().await?;
        for operation in &seen.operations {
            let id = text(&operation["id"]);
            if self.known.followed.contains(&id) {
                continue;
            }
            let ended = match operation["status"] == "DONE" {
                true => operation.clone(),
                false => self.ended(&id).await?,
            };
            if ended.is_null() {
                continue;
            }
            let events =
                tokio::time::timeout(STREAM, self.world.events_until(&id, "\"status\":\"DONE\""));
            let events = events.await.unwrap_or_else(|_| Ok(String::new()));
            // Where a process is killed beside this sequence, the stream breaks: it is read at the next quiet point.
            let Ok(events) = events else { continue };
            let code = ended["error"]["code"]
                .as_str()
                .map(|code| format!("\"code\":\"{code}\""));
            let is_told = events.contains("\"status\":\"DONE\"")
                && code.is_none_or(|code| events.contains(&code));
            if !is_told {
                self.fault(
                    "events",
                    format!(
                        "the events of {id} do not end with its outcome {}: {events}",
                        ended["error"]
                    ),
                );
            }
            self.known.followed.insert(id);
        }
        Ok(())
    }

    /// What is still wrong when the cluster has come to rest. A correction of drift may begin at any time; its end is
    /// waited for too.
    async fn settled(&mut self) -> Result<Vec<Violation>> {
        let begun = Instant::now();
        loop {
            let seen = self.look().await?;
            let found = self.violations_in(&seen)?;
            let is_at_work = seen.operations.iter().any(|one| one["status"] != "DONE");
            let patience = if is_at_work { STREAM } else { SETTLES };
            if found.is_empty() || begun.elapsed() > patience {
                return Ok(found);
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    fn violations_in(&self, seen: &Seen) -> Result<Vec<Violation>> {
        let writes = self.world.writes(&self.names)?;
        let point = Point {
            names: &self.names,
            known: &self.known,
            seen,
            writes: &writes,
        };
        let mut found = point.violations();
        // What was found at an earlier quiet point is not found again.
        found.retain(|violation| !self.violations.contains(violation));
        Ok(found)
    }

    /// The next operation is always possible: a plain update, then a delete, of all that exists.
    pub(super) async fn settle(&mut self) -> Result<()> {
        self.script.run("# the end: update and delete all");
        self.heal().await?;
        self.end_operations().await?;
        let seen = self.look().await?;
        let existing: Vec<_> = (0..DEPLOYMENTS)
            .filter(|index| {
                seen.deployments
                    .contains_key(&self.names.deployment(*index))
            })
            .collect();
        for &deployment in &existing {
            let plain = Item::new(ObjectId::own(deployment, Kind::Map, PLAIN), 1);
            let options = Options {
                policies: Policies::conflict("TAKE"),
                timeout_ms: Some(60_000),
                allow_deletes: true,
                ..Options::default()
            };
            let update = Write::update(deployment, Configuration::of([plain]));
            self.write(&update.with(options).must_succeed()).await?;
        }
        self.quiet().await?;
        for &deployment in &existing {
            let options = Options {
                timeout_ms: Some(60_000),
                ..Options::default()
            };
            self.write(
                &Write::new(deployment, What::Delete)
                    .with(options)
                    .must_succeed(),
            )
            .await?;
        }
        self.quiet().await
    }
}
