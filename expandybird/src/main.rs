//! The `expandybird` program: flags in, the service wired up, exit code out.

mod expand;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use common::server::{Access, CallerFlags, Listen, serve};
use common::telemetry;
use expandybird::input::Bounds;
use expandybird::memory::{self, Plan, TooLittle, Wishes};
use expandybird::process::{self, inside};
use expandybird::sandbox::{self, Sandbox, SandboxOptions};
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
    /// Processes for Python templates at once [default: as the memory allows, at most 16].
    #[arg(long, env = "DM_MAX_SESSIONS", value_name = "N", global = true)]
    max_sessions: Option<NonZeroUsize>,
    /// Expansions at once, each in a process of its own [default: as the memory allows, at most 16].
    #[arg(long, env = "DM_MAX_EXPANSIONS", value_name = "N", global = true)]
    max_expansions: Option<NonZeroUsize>,
    /// Memory of one expansion, in MiB, without that of its Python templates [default: 512, less where there is little memory].
    #[arg(long, env = "DM_EXPANSION_MEMORY", value_name = "MIB", global = true)]
    expansion_memory: Option<u32>,
    /// Wall time of one expansion, in seconds.
    #[arg(
        long,
        env = "DM_EXPANSION_TIMEOUT",
        value_name = "SECONDS",
        default_value_t = 30,
        global = true
    )]
    expansion_timeout: u64,
    /// Memory of the Python templates of one expansion, in MiB [default: 256, less where there is little memory].
    #[arg(long, env = "DM_TEMPLATE_MEMORY", value_name = "MIB", global = true)]
    template_memory: Option<u32>,
    /// Resources that one configuration may expand to.
    #[arg(long, env = "DM_MAX_RESOURCES", value_name = "N", default_value_t = Bounds::default().resources, global = true)]
    max_resources: usize,
    /// Levels of templates within templates.
    #[arg(long, env = "DM_MAX_DEPTH", value_name = "N", default_value_t = Bounds::default().depth, global = true)]
    max_depth: usize,
}

impl EngineFlags {
    fn plan(&self, body_memory: Option<NonZeroU32>) -> Result<Plan, TooLittle> {
        let bytes = |mebibytes: u32| u64::from(mebibytes) * MIB;
        let wishes = Wishes {
            expansions: self.max_expansions.map(NonZeroUsize::get),
            expansion_bytes: self.expansion_memory.map(bytes),
            sessions: self.max_sessions.map(NonZeroUsize::get),
            template_bytes: self.template_memory.map(bytes),
            body_bytes: body_memory.map(NonZeroU32::get).map(bytes),
        };
        Plan::new(memory::available_bytes(), wishes)
    }

    fn expander(&self, plan: &Plan) -> anyhow::Result<Expander> {
        let sandbox = Sandbox::new(SandboxOptions {
            worker: self.worker.clone(),
            python_path: self.python_path.clone(),
            allow_weak_lockdown: self.allow_weak_sandbox,
            max_sessions: plan.sessions,
        })
        .context("cannot set up the sandbox")?;
        let bounds = Bounds {
            depth: self.max_depth,
            resources: self.max_resources,
            ..Bounds::default()
        };
        let limits = process::Limits {
            bounds,
            jinja: engine::jinja::Limits::default(),
            python: sandbox::Limits {
                memory_bytes: plan.template_bytes,
                cpu_seconds: self.expansion_timeout,
                output_bytes: 16 * 1024 * 1024,
            },
            memory_bytes: plan.expansion_bytes,
        };
        let options = Options {
            timeout: Duration::from_secs(self.expansion_timeout),
            at_once: plan.expansions,
            limits,
            program: None,
        };
        Expander::new(options, sandbox).context("cannot start expansion processes")
    }
}

fn main() -> ExitCode {
    // Not a flag of the service: this program starts itself so, without a runtime and its threads.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == process::ARGUMENT)
    {
        return inside::run();
    }
    actix_web::rt::System::new().block_on(serve_or_expand())
}

async fn serve_or_expand() -> ExitCode {
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

async fn run(mut cli: Cli) -> anyhow::Result<ExitCode> {
    let plan = cli.engine.plan(cli.listen.limits.max_body_memory)?;
    let expander = cli.engine.expander(&plan)?;
    match cli.command {
        Some(Command::Expand(flags)) => expand::run(&expander, &flags).await,
        None => {
            tracing::info!("memory: {plan}");
            let bodies = u32::try_from(plan.body_bytes / MIB).unwrap_or(u32::MAX);
            cli.listen.limits.max_body_memory = NonZeroU32::new(bodies);
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
