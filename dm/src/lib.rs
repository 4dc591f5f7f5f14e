//! The command line of Deployment Manager.
//!
//! ```text
//! cli (grammar, dispatch) ─┬─► client     deploy and look at deployments, through a manager
//!                          ├─► authoring  test, package and publish versions of templates
//!                          └─► install    Deployment Manager's own installation
//!                                 └─► bundle (files to send), local (expansion without a manager), terminal, error
//! ```
//!
//! Knows files, flags and terminals. It refuses to know how a template is expanded or an object applied: the manager does
//! that, or for `dm expand --local`, `dm publish` and `dm install` the `expandybird` program ([`local`]).

mod authoring;
mod bundle;
mod cli;
mod client;
mod error;
mod install;
mod kubectl;
mod local;
mod terminal;

use std::ffi::OsString;

use common::telemetry::traces::SPANS;
use tracing::Instrument;

pub use cli::completion::{command, complete};
pub use error::{ExitCode, exit_code};
pub use terminal::Terminal;

/// Runs one command. The first argument is the name of the program.
pub async fn run(
    args: impl IntoIterator<Item = OsString>,
    terminal: &mut Terminal<'_>,
) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match cli::parse(&args) {
        Ok(cli) => cli,
        Err(error) => return say(&error, &args, terminal),
    };
    let failed = cli.command.code_of_failure();
    let span =
        tracing::debug_span!(target: SPANS, "dm", otel.kind = "client", otel.name = cli.name());
    match Box::pin(cli::dispatch::run(cli, terminal).instrument(span)).await {
        Ok(code) => code,
        Err(failure) => {
            let code = match failure.exit_code() {
                ExitCode::Failed => failed,
                code => code,
            };
            if code != ExitCode::Done {
                terminal.note(terminal::report::report(&failure).trim_end());
            }
            code
        }
    }
}

/// Prints help to standard output, and usage errors to standard error.
fn say(error: &clap::Error, args: &[OsString], terminal: &mut Terminal<'_>) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        terminal.note(text.trim_end());
        if let Some(advice) = cli::habits::advice(args, error.kind()) {
            terminal.note(&format!("\n{advice}"));
        }
        return ExitCode::Usage;
    }
    let text = terminal::fitted(&text, terminal.width);
    match terminal.stdout.write_all(text.as_bytes()) {
        Ok(()) => ExitCode::Done,
        Err(error) => error::Failure::from(terminal::format::OutputError::from(error)).exit_code(),
    }
}
