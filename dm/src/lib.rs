//! The command line of Deployment Manager.
//!
//! ```text
//! args ─► cli ─► commands/<verb> ─► target, bundle, properties (what to ask)
//!                       │        ─► common::client (asking), follow, progress (waiting)
//!                       └──────► output (results on stdout) · report (failures on stderr)
//! ```
//!
//! Knows files, flags and terminals. It refuses to know how a template is expanded or an object applied: the manager does
//! that, or for `dm expand --local` and `dm install` the `expandybird` program ([`local`]).

mod bundle;
mod cli;
mod commands;
mod completion;
mod duration;
mod error;
mod follow;
mod identity;
mod installation;
mod local;
mod output;
mod package;
mod progress;
mod properties;
mod publish;
mod release;
mod report;
mod session;
mod target;
mod terminal;
mod tested;
mod version_rules;

use std::ffi::OsString;

use clap::Parser;

use cli::Cli;
pub use completion::complete;
pub use error::{ExitCode, exit_code};
pub use terminal::Terminal;

/// Runs one command, the program's name first among the arguments.
pub async fn run(
    args: impl IntoIterator<Item = OsString>,
    terminal: &mut Terminal<'_>,
) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return say(&error, terminal),
    };
    let failed = cli.command.code_of_failure();
    match commands::run(cli, terminal).await {
        Ok(code) => code,
        Err(failure) => {
            let code = match failure.exit_code() {
                ExitCode::Failed => failed,
                code => code,
            };
            if code != ExitCode::Done {
                terminal.note(report::report(&failure).trim_end());
            }
            code
        }
    }
}

/// Help goes to standard output; what is wrong with the command line, to standard error.
fn say(error: &clap::Error, terminal: &mut Terminal<'_>) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        terminal.note(text.trim_end());
        return ExitCode::Usage;
    }
    match terminal.stdout.write_all(text.as_bytes()) {
        Ok(()) => ExitCode::Done,
        Err(error) => error::Failure::from(output::OutputError::from(error)).exit_code(),
    }
}
