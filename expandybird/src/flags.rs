//! The grammar of the command line, apart from the program: man pages and reference pages are generated from it.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use common::memory::available_bytes;
use common::server::{CallerFlags, Listen};

use crate::input::Bounds;
use crate::memory::{MemorySettings, Plan, TooLittle};

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

/// Commands that do not start the service.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Expands a file without a server and prints the answer as YAML.
    Expand(ExpandFlags),
}

/// Limits of expansions, and the environment of Python templates.
#[derive(Debug, Clone, Args)]
pub struct EngineFlags {
    /// The program that runs Python templates [default: expandybird-worker beside this program].
    #[arg(long, env = "DM_WORKER", value_name = "PATH", global = true)]
    pub worker: Option<PathBuf>,
    /// The folder with the Python packages that templates may import [default: ../python beside this program's folder, or Python's own packages].
    #[arg(long, env = "DM_PYTHON_PATH", value_name = "DIR", global = true)]
    pub python_path: Option<PathBuf>,
    /// Run Python templates although the kernel cannot enforce the whole sandbox.
    #[arg(long, env = "DM_ALLOW_WEAK_SANDBOX", global = true)]
    pub allow_weak_sandbox: bool,
    /// Processes for Python templates at the same time [default: depends on the memory, at most 16].
    #[arg(long, env = "DM_MAX_SESSIONS", value_name = "N", global = true)]
    pub max_sessions: Option<NonZeroUsize>,
    /// Expansions at the same time, each in its own process [default: depends on the memory, at most 16].
    #[arg(long, env = "DM_MAX_EXPANSIONS", value_name = "N", global = true)]
    pub max_expansions: Option<NonZeroUsize>,
    /// Memory of one expansion, in MiB, without that of its Python templates [default: 512, or less if there is little memory].
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
    /// Memory of the Python templates of one expansion, in MiB [default: 256, or less if there is little memory].
    #[arg(long, env = "DM_TEMPLATE_MEMORY", value_name = "MIB", global = true)]
    pub template_memory: Option<u32>,
    /// Maximum number of resources of one expanded configuration.
    #[arg(long, env = "DM_MAX_RESOURCES", value_name = "N", default_value_t = Bounds::default().resources, global = true)]
    pub max_resources: usize,
    /// Maximum depth of nested templates.
    #[arg(long, env = "DM_MAX_DEPTH", value_name = "N", default_value_t = Bounds::default().depth, global = true)]
    pub max_depth: usize,
}

impl EngineFlags {
    /// How the memory of this machine or container is divided.
    ///
    /// # Errors
    ///
    /// [`TooLittle`] if the settings need more memory than there is.
    pub fn plan(&self, body_memory: Option<NonZeroU32>) -> Result<Plan, TooLittle> {
        let bytes = |mebibytes: u32| u64::from(mebibytes) * MIB;
        let settings = MemorySettings {
            expansions: self.max_expansions.map(NonZeroUsize::get),
            expansion_bytes: self.expansion_memory.map(bytes),
            sessions: self.max_sessions.map(NonZeroUsize::get),
            template_bytes: self.template_memory.map(bytes),
            body_bytes: body_memory.map(NonZeroU32::get).map(bytes),
        };
        Plan::new(available_bytes(), settings)
    }
}

/// The arguments of `expandybird expand`.
#[derive(Debug, Args)]
pub struct ExpandFlags {
    /// The configuration.
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// Further files: templates, schemas, helpers.
    pub imports: Vec<PathBuf>,
    /// Values of `env` in templates, such as deployment=web.
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub env: Vec<String>,
    /// Read a request of POST /expand from standard input, and print the answer as JSON: the expansion, or the error
    /// with exit code 1.
    #[arg(long, conflicts_with_all = ["file", "imports", "env"])]
    pub request: bool,
}
