//! The flags that several writes have in common.

use std::collections::BTreeMap;

use clap::Args;
use common::api::manager::WriteQuery;

use super::policies::{AccountFlag, DriftFlag, Policies};

/// What creates and updates have in common.
#[derive(Debug, Args)]
pub struct WriteOptions {
    /// Show what it would do, and store that to be committed; apply nothing.
    #[arg(long)]
    pub preview: bool,
    /// If it fails, go back to what was deployed before.
    #[arg(long, conflicts_with = "preview")]
    pub rollback_on_failure: bool,
    #[command(flatten)]
    pub policies: Policies,
    #[command(flatten)]
    pub drift: DriftFlag,
    #[command(flatten)]
    pub account: AccountFlag,
    /// Do not wait: print the operation that has started.
    #[arg(long = "async")]
    pub no_wait: bool,
}

impl WriteOptions {
    pub fn query(&self, query: WriteQuery) -> WriteQuery {
        WriteQuery {
            preview: self.preview,
            rollback_on_failure: self.rollback_on_failure,
            policies: self.policies.query(),
            ..query
        }
    }
}

/// What a deployment says of itself.
#[derive(Debug, Args)]
pub struct Metadata {
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// A label of the deployment; may be repeated.
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
        _ => Err("write a label KEY=VALUE".to_owned()),
    }
}
