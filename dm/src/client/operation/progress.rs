//! The progress of an operation, on standard error. On a terminal: a bar, and above it a line for each finished resource.
//! Elsewhere: a line for each new step and each change of a resource.

use std::collections::BTreeMap;
use std::time::Duration;

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::client::ClientError;
use common::model::Operation;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failures::Failures;
use super::tally::Tally;
use crate::client::render::event;
use crate::terminal::text;
use crate::terminal::{Terminal, fitted};

const TICK: Duration = Duration::from_millis(100);
/// Before the number of resources is known.
const SPINNER: &str = "{spinner} {prefix} {wide_msg}";
/// What it waits for has a line of its own, so that 80 columns do not cut it before its verb.
const BAR: &str = "{spinner} {prefix} [{bar:16}] {pos}/{len} {elapsed}\n  {wide_msg}";

pub struct Progress<'p, 't> {
    terminal: &'p mut Terminal<'t>,
    bar: Option<ProgressBar>,
    /// The operation, like `update web`.
    subject: String,
    step: String,
    /// The last line printed for each resource: events repeat after a restart of the manager.
    printed: BTreeMap<String, String>,
    /// What the whole operation waits for.
    held_up: Option<String>,
    /// What each unfinished resource waits for.
    waiting: BTreeMap<String, String>,
    /// The causes of the failed resources, which are not printed yet.
    failures: Failures,
    away: bool,
    tally: Tally,
}

impl<'p, 't> Progress<'p, 't> {
    pub fn new(terminal: &'p mut Terminal<'t>) -> Self {
        let bar = terminal.animated.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(style(SPINNER));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            terminal,
            bar,
            subject: String::new(),
            step: String::new(),
            printed: BTreeMap::new(),
            held_up: None,
            waiting: BTreeMap::new(),
            failures: Failures::default(),
            away: false,
            tally: Tally::default(),
        }
    }

    /// The ends of the resources so far.
    pub fn tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    /// The causes of the failed resources so far.
    pub fn failures(&mut self) -> Failures {
        std::mem::take(&mut self.failures)
    }

    /// The operation as it is now.
    pub fn operation(&mut self, operation: &Operation) {
        self.away = false;
        self.subject = format!(
            "{} {}",
            operation.operation_type.name(),
            operation.deployment
        );
        let progress = &operation.progress;
        let step = text::line(&progress.step);
        // A repeated event may be older than the step.
        let is_new = step != self.step && !step.is_empty();
        if is_new {
            self.step = step;
        }
        let held_up = progress.waiting_for.as_deref().map(text::line);
        let is_held_up = held_up.is_some() && held_up != self.held_up;
        self.held_up = held_up;
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("{}: {}", self.subject, self.step));
                if progress.total > 0 && bar.length() != Some(progress.total.into()) {
                    bar.set_style(style(BAR));
                    bar.set_length(progress.total.into());
                }
                bar.set_position(progress.done.into());
                self.show_waiting();
            }
            None if is_new => self
                .terminal
                .note(&format!("{}: {}", self.subject, self.step)),
            None => {}
        }
        if let (None, Some(what), true) = (&self.bar, &self.held_up, is_held_up) {
            self.terminal
                .note(&format!("{}: waiting: {what}", self.subject));
        }
    }

    /// A resource has changed its state.
    pub fn resource(&mut self, report: &ResourceReport) {
        self.away = false;
        self.tally.count(report);
        self.failures.take(report);
        let (name, said) = (event::name(report), event::said(report));
        if is_unchanged(report) {
            self.waiting.remove(&name);
            return self.show_waiting();
        }
        if said.is_empty() || self.printed.get(&name) == Some(&said) {
            return;
        }
        if event::is_end(report.state) {
            self.waiting.remove(&name);
        } else {
            self.waiting.insert(name.clone(), said.clone());
        }
        match &self.bar {
            Some(bar) => {
                if event::is_end(report.state) {
                    let mark = event::mark(report.state);
                    let line = format!("{mark} {name}: {said}");
                    bar.println(fitted(&line, self.terminal.stderr_width));
                }
                self.show_waiting();
            }
            None => self
                .terminal
                .note(&format!("{}: {name}: {said}", self.subject)),
        }
        self.printed.insert(name, said);
    }

    /// The manager does not answer. The operation may still go on.
    pub fn away(&mut self, error: &ClientError) {
        let said = format!("still trying: {}", text::line(&error.to_string()));
        match &self.bar {
            Some(bar) => bar.set_message(said),
            None if !self.away => self.terminal.note(&said),
            None => {}
        }
        self.away = true;
    }

    /// Below the bar: what the whole operation waits for, or else the first failed resource, or the first waiting one.
    fn show_waiting(&self) {
        let Some(bar) = &self.bar else { return };
        let of_first = || {
            let (name, said) = self.waiting.iter().next()?;
            let said = said.strip_prefix("waiting: ").unwrap_or(said);
            Some(format!("{name}: {said}"))
        };
        let held_up = self.held_up.clone();
        let said = held_up.or_else(|| self.failures.first()).or_else(of_first);
        bar.set_message(said.unwrap_or_default());
    }
}

/// Unchanged resources get no lines of their own: the last line counts them.
fn is_unchanged(report: &ResourceReport) -> bool {
    report.state == ResourceState::Ready && report.action == Some(Action::Unchanged)
}

impl Drop for Progress<'_, '_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The templates are constants and tested below. For an invalid one, the default of indicatif would be used.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_can_be_read() {
        for template in [SPINNER, BAR] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
