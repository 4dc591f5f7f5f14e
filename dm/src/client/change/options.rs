//! The flags that several writes share.

use std::collections::BTreeMap;

use clap::Args;
use common::api::manager::WriteQuery;

use super::policies::{AccountFlag, DriftFlag, Policies};

/// The flags that deploy and update share.
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
