//! The grammar of the command line, apart from the program: man pages and reference pages are generated from it.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use common::memory::available_bytes;
use common::server::{CallerFlags, Listen};

use crate::input::Bounds;
use crate::memory::{Plan, TooLittle, Wishes};

const MIB: u64 = 1024 * 1024;

/// Expands Deployment Manager configurations.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub listen: Listen,
    #[command(flatten)]
    pub callers: CallerFlags,
    #[command(flatten)]
    pub engine: EngineFlags,
}

/// What the program does instead of serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Expands a file without a server and prints the answer as YAML.
    Expand(ExpandFlags),
}

/// Limits of expansions, and what Python templates run with.
#[derive(Debug, Clone, Args)]
pub struct EngineFlags {
    /// The program that runs Python templates [default: expandybird-worker beside this one].
    #[arg(long, env = "DM_WORKER", value_name = "PATH", global = true)]
    pub worker: Option<PathBuf>,
    /// The folder with the Python packages that templates may import [default: ../python beside this program's folder, else Python's own].
    #[arg(long, env = "DM_PYTHON_PATH", value_name = "DIR", global = true)]
    pub python_path: Option<PathBuf>,
    /// Run Python templates although the kernel cannot enforce the whole sandbox.
    #[arg(long, env = "DM_ALLOW_WEAK_SANDBOX", global = true)]
    pub allow_weak_sandbox: bool,
    /// Processes for Python templates at once [default: as the memory allows, at most 16].
    #[arg(long, env = "DM_MAX_SESSIONS", value_name = "N", global = true)]
    pub max_sessions: Option<NonZeroUsize>,
    /// Expansions at once, each in a process of its own [default: as the memory allows, at most 16].
    #[arg(long, env = "DM_MAX_EXPANSIONS", value_name = "N", global = true)]
    pub max_expansions: Option<NonZeroUsize>,
    /// Memory of one expansion, in MiB, without that of its Python templates [default: 512, less where there is little memory].
    #[arg(long, env = "DM_EXPANSION_MEMORY", value_name = "MIB", global = true)]
    pub expansion_memory: Option<u32>,
    /// Wall time of one expansion, in seconds.
    #[arg(
        long,
        env = "DM_EXPANSION_TIMEOUT",
        value_name = "SECONDS",
        default_value_t = 30,
        global = true
    )]
    pub expansion_timeout: u64,
    /// Memory of the Python templates of one expansion, in MiB [default: 256, less where there is little memory].
    #[arg(long, env = "DM_TEMPLATE_MEMORY", value_name = "MIB", global = true)]
    pub template_memory: Option<u32>,
    /// Resources that one configuration may expand to.
    #[arg(long, env = "DM_MAX_RESOURCES", value_name = "N", default_value_t = Bounds::default().resources, global = true)]
    pub max_resources: usize,
    /// Levels of templates within templates.
    #[arg(long, env = "DM_MAX_DEPTH", value_name = "N", default_value_t = Bounds::default().depth, global = true)]
    pub max_depth: usize,
}

impl EngineFlags {
    /// How the memory of this machine or container is divided.
    ///
    /// # Errors
    ///
    /// [`TooLittle`] where the settings cannot add up.
    pub fn plan(&self, body_memory: Option<NonZeroU32>) -> Result<Plan, TooLittle> {
        let bytes = |mebibytes: u32| u64::from(mebibytes) * MIB;
        let wishes = Wishes {
            expansions: self.max_expansions.map(NonZeroUsize::get),
            expansion_bytes: self.expansion_memory.map(bytes),
            sessions: self.max_sessions.map(NonZeroUsize::get),
            template_bytes: self.template_memory.map(bytes),
            body_bytes: body_memory.map(NonZeroU32::get).map(bytes),
        };
        Plan::new(available_bytes(), wishes)
    }
}

/// What `expandybird expand` takes.
#[derive(Debug, Args)]
pub struct ExpandFlags {
    /// The configuration.
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// Further files: templates, schemas, helpers.
    pub imports: Vec<PathBuf>,
    /// What templates see as `env`, such as deployment=web.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub env: Vec<String>,
    /// Read a whole request, as for POST /expand, from standard input, and answer it in JSON: with the expansion, or with
    /// the error and exit code 1.
    #[arg(long, conflicts_with_all = ["file", "imports", "env"])]
    pub request: bool,
}
