//! The `expandybird` program: flags in, the service wired up, exit code out.

mod expand;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use common::server::{Access, CallerFlags, Listen, serve};
use common::telemetry;
use expandybird::expansion::Bounds;
use expandybird::sandbox::{Limits, Sandbox, SandboxOptions};
use expandybird::service::{Expander, Options};
use expandybird::{engine, http};

const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);
const MIB: u64 = 1024 * 1024;

/// Expands Deployment Manager configurations.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    callers: CallerFlags,
    #[command(flatten)]
    engine: EngineFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Expands a file without a server and prints the answer as YAML.
    Expand(expand::ExpandFlags),
}

#[derive(Debug, Clone, Args)]
struct EngineFlags {
    /// The program that runs Python templates [default: expandybird-worker beside this one].
    #[arg(long, env = "DM_WORKER", value_name = "PATH", global = true)]
    worker: Option<PathBuf>,
    /// The folder with the Python packages that templates may import [default: ../python beside this program's folder, else Python's own].
    #[arg(long, env = "DM_PYTHON_PATH", value_name = "DIR", global = true)]
    python_path: Option<PathBuf>,
    /// Run Python templates although the kernel cannot enforce the whole sandbox.
    #[arg(long, env = "DM_ALLOW_WEAK_SANDBOX", global = true)]
    allow_weak_sandbox: bool,
    /// Processes for Python templates at once.
    #[arg(
        long,
        env = "DM_MAX_SESSIONS",
        value_name = "N",
        default_value_t = 16,
        global = true
    )]
    max_sessions: usize,
    /// Wall time of one expansion, in seconds.
    #[arg(
        long,
        env = "DM_EXPANSION_TIMEOUT",
        value_name = "SECONDS",
        default_value_t = 30,
        global = true
    )]
    expansion_timeout: u64,
    /// Memory of the Python templates of one expansion, in MiB.
    #[arg(
        long,
        env = "DM_TEMPLATE_MEMORY",
        value_name = "MIB",
        default_value_t = 256,
        global = true
    )]
    template_memory: u64,
    /// Resources that one configuration may expand to.
    #[arg(long, env = "DM_MAX_RESOURCES", value_name = "N", default_value_t = Bounds::default().resources, global = true)]
    max_resources: usize,
    /// Levels of templates within templates.
    #[arg(long, env = "DM_MAX_DEPTH", value_name = "N", default_value_t = Bounds::default().depth, global = true)]
    max_depth: usize,
}

impl EngineFlags {
    fn expander(&self) -> anyhow::Result<Expander> {
        let sandbox = Sandbox::new(SandboxOptions {
            worker: self.worker.clone(),
            python_path: self.python_path.clone(),
            allow_weak_lockdown: self.allow_weak_sandbox,
            max_sessions: self.max_sessions,
        })
        .context("cannot set up the sandbox")?;
        let bounds = Bounds {
            depth: self.max_depth,
            resources: self.max_resources,
            ..Bounds::default()
        };
        let options = Options {
            timeout: Duration::from_secs(self.expansion_timeout),
            bounds,
            jinja: engine::jinja::Limits::default(),
            python: Limits {
                memory_bytes: self.template_memory * MIB,
                cpu_seconds: self.expansion_timeout,
                output_bytes: 16 * 1024 * 1024,
            },
        };
        Ok(Expander::new(options, sandbox))
    }
}

#[actix_web::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    telemetry::init(cli.listen.log_format);
    match run(cli).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("expandybird: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let expander = cli.engine.expander()?;
    match cli.command {
        Some(Command::Expand(flags)) => expand::run(&expander, &flags).await,
        None => {
            report(&expander).await;
            let expander = Data::new(expander);
            let access = Access::Services(cli.callers);
            serve(&cli.listen, ADDRESS, access, move |config| {
                http::routes(config, &expander)
            })
            .await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Says at start what Python templates can count on; Jinja works without.
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
