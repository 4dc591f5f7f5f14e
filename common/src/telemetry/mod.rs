//! Logs and traces of the process.
//!
//! Logs are one line per event on stderr, as text for people or JSON for programs. `DM_LOG` (or `RUST_LOG`) filters the
//! events, in the directive syntax of `tracing`. The default is `info`. An invalid directive is reported on stderr and
//! ignored. [`traces`] has the rest.

mod collector;
pub mod traces;

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use self::traces::Traces;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Starts logging for the process, and sends its traces if there is a collector. A second call has no effect.
pub fn init(format: LogFormat, traces: Option<&Traces>) {
    start([Some(logs(format)), traces.map(Traces::layer)]);
}

/// For a process without logs.
pub fn init_traces(traces: &Traces) {
    start([Some(traces.layer())]);
}

type Output = Box<dyn Layer<Registry> + Send + Sync>;

fn start(outputs: impl IntoIterator<Item = Option<Output>>) {
    let outputs: Vec<_> = outputs.into_iter().flatten().collect();
    // `Err` means that logging is already started, by a test of the same process.
    let _ = tracing_subscriber::registry().with(outputs).try_init();
}

fn logs(format: LogFormat) -> Output {
    let lines = fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.with_filter(filter()).boxed(),
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_filter(filter())
            .boxed(),
    }
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
