//! The grammar of the command line, apart from the program: man pages and reference pages are generated from it.

use std::path::PathBuf;

use clap::Parser;
use common::server::{CallerFlags, Listen};

/// Applies the resources of deployments to a Kubernetes cluster, through kubectl.
#[derive(Debug, Parser)]
#[command(name = "resourcifier", version)]
pub struct Flags {
    #[command(flatten)]
    pub listen: Listen,
    #[command(flatten)]
    pub callers: CallerFlags,
    /// The kubectl to run, 1.28 or later.
    #[arg(
        long,
        env = "DM_KUBECTL",
        value_name = "PATH",
        default_value = "kubectl"
    )]
    pub kubectl: PathBuf,
    /// The kubeconfig with the cluster and the credentials [default: KUBECONFIG, or kubectl's own].
    #[arg(long, env = "DM_KUBECONFIG", value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use [default: its current one].
    #[arg(long, env = "DM_CONTEXT", value_name = "NAME")]
    pub context: Option<String>,
    /// Reject requests without a user to impersonate, so that no request uses the permissions of the kubeconfig.
    #[arg(long, env = "DM_REQUIRE_IDENTITY")]
    pub require_identity: bool,
}
