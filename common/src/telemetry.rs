//! Logs: one line per event on stderr, as text for people or JSON for programs.
//!
//! `DM_LOG` (or `RUST_LOG`) filters the events, in the directive syntax of `tracing`. The default is `info`. An invalid
//! directive is reported on stderr and ignored.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Starts logging for the process. A second call has no effect.
pub fn init(format: LogFormat) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter())
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // `Err` means that logging is already started, by a test of the same process.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}

#[expect(
    clippy::disallowed_methods,
    reason = "logging begins before flags are read"
)]
fn filter() -> EnvFilter {
    let own = std::env::var_os("DM_LOG").is_some();
    EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .with_env_var(if own { "DM_LOG" } else { "RUST_LOG" })
        .from_env_lossy()
}
