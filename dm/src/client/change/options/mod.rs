//! The flags that several writes share.

pub mod policies;

use std::collections::BTreeMap;

use clap::Args;
use common::api::manager::{DiffQuery, WriteQuery};
use common::model::{ClusterName, Namespace};

use self::policies::{AccountFlag, DriftFlag, Policies};
use super::preview::dry_run::DryRunFlag;

use crate::client::session::Session;

/// The flags that deploy, apply and update share.
#[derive(Debug, Args)]
pub struct WriteOptions {
    /// Show what the command would do and store it, to be committed later; apply nothing.
    #[arg(long)]
    pub preview: bool,
    /// If the command fails, go back to the previous deployed manifest.
    #[arg(long, conflicts_with = "preview")]
    pub rollback_on_failure: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub drift: DriftFlag,
    #[command(flatten)]
    pub account: AccountFlag,
    /// Do not wait: print the started operation.
    #[arg(long = "async")]
    pub no_wait: bool,
    /// Wait until it is ready, which is the default.
    #[arg(long, short, conflicts_with = "no_wait")]
    pub wait: bool,
    #[command(flatten)]
    pub place: ClusterFlag,
    #[command(flatten)]
    pub dry_run: DryRunFlag,
    #[command(flatten)]
    pub before: BeforeFlags,
}

/// What happens before the first write.
#[derive(Debug, Args)]
pub struct BeforeFlags {
    /// Create the deployment's namespace if it is missing. Deleting the deployment leaves it.
    #[arg(long)]
    pub create_namespace: bool,
    #[command(flatten)]
    pub preflight: PreflightFlag,
    #[command(flatten)]
    pub hooks: HooksFlag,
}

/// Where a deployment is.
#[derive(Debug, Clone, Args)]
pub struct ClusterFlag {
    /// Cluster of the deployment, as in dm clusters [default: that of the manager's own resourcifier]. It never changes.
    #[arg(long, value_name = "CLUSTER")]
    pub cluster: Option<ClusterName>,
}

#[derive(Debug, Args)]
pub struct PreflightFlag {
    /// Apply without the dry run of all objects that otherwise comes before the first write.
    #[arg(long)]
    no_preflight: bool,
}

impl PreflightFlag {
    pub fn query(&self) -> Option<bool> {
        self.no_preflight.then_some(false)
    }
}

#[derive(Debug, Args)]
pub struct HooksFlag {
    /// Run no hooks of charts.
    #[arg(long)]
    no_hooks: bool,
}

impl HooksFlag {
    pub fn query(&self) -> Option<bool> {
        self.no_hooks.then_some(false)
    }
}

impl BeforeFlags {
    fn query(&self, query: WriteQuery) -> WriteQuery {
        WriteQuery {
            create_namespace: self.create_namespace,
            preflight: self.preflight.query(),
            hooks: self.hooks.query(),
            ..query
        }
    }
}

impl WriteOptions {
    pub fn query(&self, query: WriteQuery) -> WriteQuery {
        WriteQuery {
            preview: self.preview,
            rollback_on_failure: self.rollback_on_failure,
            policies: self.policies.query(),
            ..self.before.query(query)
        }
    }

    /// Whether the command prints the started operation instead of waiting for its end.
    pub fn returns_at_once(&self) -> bool {
        self.no_wait && !self.wait
    }

    /// Whether the command applies nothing.
    pub fn only_shows(&self) -> bool {
        self.preview || self.dry_run.is_wanted()
    }

    /// The query of a dry run.
    pub fn diff_query(
        &self,
        namespace: Option<Namespace>,
        locked: bool,
        session: &Session<'_, '_>,
    ) -> DiffQuery {
        DiffQuery {
            timeout_ms: session.timeout_ms(),
            namespace,
            cluster: self.place.cluster.clone(),
            locked,
            hooks: self.before.hooks.query(),
            policies: self.policies.query(),
        }
    }
}

/// The description and the labels of a deployment.
#[derive(Debug, Args)]
pub struct Metadata {
    /// Description of the deployment.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Label of the deployment; may be repeated.
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

impl Metadata {
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.labels.iter().cloned().collect()
    }
}

pub fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write a label as KEY=VALUE".to_owned()),
    }
}
