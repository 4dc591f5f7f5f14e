//! The `expandybird` program: parses flags, starts the service, sets the exit code.

mod expand;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context as _;
use clap::Parser;
use common::client::http::builder;
use common::server::{CallerPolicy, HangUp, return_large_blocks, serve};
use common::telemetry;
use expandybird::flags::{Cli, Command, EngineFlags};
use expandybird::input::Bounds;
use expandybird::memory::Plan;
use expandybird::process::{self, inside};
use expandybird::sandbox::{self, Sandbox, SandboxOptions};
use expandybird::service::{Expander, Options};
use expandybird::{deaths, engine, http};

const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);
const MIB: u64 = 1024 * 1024;

fn main() -> ExitCode {
    // Not a flag of the service: the program starts itself in this mode, without a runtime and its threads.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == process::ARGUMENT)
    {
        return inside::run();
    }
    return_large_blocks("expandybird");
    actix_web::rt::System::new().block_on(serve_or_expand())
}

async fn serve_or_expand() -> ExitCode {
    let cli = Cli::parse();
    let done = traced(cli).await;
    done.unwrap_or_else(|error| {
        eprintln!("expandybird: {error:#}");
        ExitCode::FAILURE
    })
}

async fn traced(cli: Cli) -> anyhow::Result<ExitCode> {
    let traces = cli.listen.traces.open("expandybird", builder())?;
    telemetry::init(cli.listen.log_format, traces.as_ref());
    let done = run(cli).await;
    if let Some(traces) = traces {
        traces.end().await;
    }
    done
}

async fn run(mut cli: Cli) -> anyhow::Result<ExitCode> {
    let plan = cli.engine.plan(cli.listen.limits.max_body_memory)?;
    let expander = expander(&cli.engine, &plan)?;
    match cli.command {
        Some(Command::Expand(flags)) => expand::run(&expander, &flags).await,
        None => {
            tracing::info!("memory: {plan}");
            let bodies = u32::try_from(plan.body_bytes / MIB).unwrap_or(u32::MAX);
            cli.listen.limits.max_body_memory = NonZeroU32::new(bodies);
            cli.listen.hang_up = HangUp::Ends;
            deaths::show();
            report(&expander).await;
            let expander = Data::new(expander);
            let access = CallerPolicy::Services(cli.callers);
            serve(&cli.listen, ADDRESS, access, move |config| {
                http::routes(config, &expander)
            })
            .await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Logs at the start whether Python templates can run. Jinja templates always can.
async fn report(expander: &Expander) {
    for check in expander.checks().await {
        match check.ready {
            true => tracing::info!(engine = check.name, "{}: {}", check.name, check.message),
            false => tracing::warn!(
                engine = check.name,
                "{} templates cannot be run: {}",
                check.name,
                check.message
            ),
        }
    }
}

fn expander(flags: &EngineFlags, plan: &Plan) -> anyhow::Result<Expander> {
    let sandbox = Sandbox::new(SandboxOptions {
        worker: flags.worker.clone(),
        python_path: flags.python_path.clone(),
        allow_weak_lockdown: flags.allow_weak_sandbox,
        max_sessions: plan.sessions,
    })
    .context("cannot set up the sandbox")?;
    let bounds = Bounds {
        depth: flags.max_depth,
        resources: flags.max_resources,
        ..Bounds::default()
    };
    let limits = process::Limits {
        bounds,
        jinja: engine::jinja::Limits::default(),
        python: sandbox::Limits {
            memory_bytes: plan.template_bytes,
            cpu_seconds: flags.expansion_timeout,
            output_bytes: 16 * 1024 * 1024,
        },
        memory_bytes: plan.expansion_bytes,
    };
    let options = Options {
        timeout: Duration::from_secs(flags.expansion_timeout),
        at_once: plan.expansions,
        limits,
        program: None,
    };
    Expander::new(options, sandbox).context("cannot start expansion processes")
}
