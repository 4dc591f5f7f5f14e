//! How far an operation is, on standard error: drawn in place on a terminal, else a line for each new step.

use std::time::Duration;

use common::api::deployer::ObjectState;
use common::api::manager::ResourcesQuery;
use common::client::{ClientError, ManagerClient};
use common::model::Operation;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::resources::operation_type;
use crate::output::text;
use crate::terminal::Terminal;

/// Why a resource is not ready is asked for once in so many looks at the operation.
const LOOKS_PER_REASON: u32 = 10;
const TICK: Duration = Duration::from_millis(100);
const TEMPLATE: &str = "{spinner} {prefix} {msg} {elapsed}";

pub struct Progress<'p, 't> {
    terminal: &'p mut Terminal<'t>,
    bar: Option<ProgressBar>,
    last: String,
    reason: String,
    looks: u32,
    away: bool,
}

impl<'p, 't> Progress<'p, 't> {
    pub fn new(terminal: &'p mut Terminal<'t>) -> Self {
        let bar = terminal.animated.then(|| {
            let style = ProgressStyle::with_template(TEMPLATE)
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            let bar =
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            terminal,
            bar,
            last: String::new(),
            reason: String::new(),
            looks: 0,
            away: false,
        }
    }

    pub async fn show(&mut self, operation: &Operation, client: &ManagerClient) {
        self.away = false;
        let progress = &operation.progress;
        let subject = format!(
            "{} {}:",
            operation_type(operation.operation_type),
            operation.deployment
        );
        let step = text::line(&progress.step);
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(subject);
                if self.looks.is_multiple_of(LOOKS_PER_REASON) && progress.done < progress.total {
                    self.reason = reason(operation, client).await;
                }
                let count = format!("{step} {}/{}", progress.done, progress.total);
                bar.set_message(format!("{count}{}", self.reason));
            }
            None => self.line(format!("{subject} {step}")),
        }
        self.looks = self.looks.wrapping_add(1);
    }

    /// The manager does not answer; the operation may go on all the same.
    pub fn away(&mut self, error: &ClientError) {
        let said = format!("still trying: {}", text::line(&error.to_string()));
        match &self.bar {
            Some(bar) => bar.set_message(said),
            None if !self.away => self.line(said),
            None => {}
        }
        self.away = true;
    }

    fn line(&mut self, line: String) {
        if line != self.last && !line.ends_with(": ") {
            self.terminal.note(&line);
            self.last = line;
        }
    }
}

impl Drop for Progress<'_, '_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What the first resource that is not ready waits for. Only for show: where the manager cannot tell, nothing is shown.
async fn reason(operation: &Operation, client: &ManagerClient) -> String {
    let quick = ResourcesQuery {
        drift: Some(false),
        ..ResourcesQuery::default()
    };
    let Ok(resources) = client.resources(&operation.deployment, &quick).await else {
        return String::new();
    };
    let waiting = resources
        .items
        .into_iter()
        .map(|item| item.status)
        .find(|item| item.state != ObjectState::Ready);
    let shown =
        waiting.and_then(|item| Some(format!(" · {}: {}", item.applied.resource, item.reason?)));
    text::line(&shown.unwrap_or_default())
}
