//! `dm`: passes the streams of the process to the library and ends with its exit code.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use common::client::http::builder;
use common::telemetry;
use common::telemetry::traces::TraceFlags;
use dm::Terminal;

fn main() -> ExitCode {
    dm::complete();
    run()
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> ExitCode {
    let animated = stderr().is_terminal();
    let interactive = animated && stdin().is_terminal();
    let colours = console::colors_enabled();
    let columns = |term: console::Term| Some(usize::from(term.size_checked()?.1));
    let (width, stderr_width) = (
        columns(console::Term::stdout()),
        columns(console::Term::stderr()),
    );
    let (mut stdin, mut stdout, mut stderr) = (stdin().lock(), stdout().lock(), stderr());
    let mut terminal = Terminal {
        stdin: &mut stdin,
        stdout: &mut stdout,
        stderr: &mut stderr,
        animated,
        colours,
        interactive,
        width,
        stderr_width,
    };
    let traces = TraceFlags::default().open("dm", builder());
    let traces = match traces {
        Ok(traces) => traces,
        Err(error) => {
            terminal.note(&format!("no traces are sent: {error}"));
            None
        }
    };
    if let Some(traces) = &traces {
        telemetry::init_traces(traces);
    }
    let code = dm::run(std::env::args_os(), &mut terminal).await;
    if let Some(traces) = traces {
        traces.end().await;
    }
    ExitCode::from(code.code())
}
