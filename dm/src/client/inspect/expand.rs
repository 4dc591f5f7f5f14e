//! `dm expand`: expands a configuration or template without deploying it.

use clap::Args;
use common::api::cluster::Capabilities;
use common::api::manager::Expand as Request;
use common::model::{ClusterName, Namespace};

use crate::client::operation::write::Subject;
use crate::client::render::tree::tree;
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::Failure;
use crate::local::{self, LocalError};

/// Expand a configuration or a template without deploying it, and print the expanded configuration.
///
/// With -o json or -o yaml, print the whole answer of the manager: the configuration, the layout, the resolved types.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm expand web.yaml
  dm expand web.yaml --layout
  dm expand web.yaml --local
  dm expand my-chart --raw
  dm expand replicatedservice:v1 --set replicas=3 -o json")]
pub struct Expand {
    #[command(flatten)]
    pub target: Target,
    /// Namespace that templates see.
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Show the layout instead of the configuration.
    #[arg(long)]
    pub layout: bool,
    /// Expand without a manager, with the program expandybird beside dm or on PATH. References to templates of a registry stay
    /// unexpanded, because only the manager fetches those.
    #[arg(long)]
    pub local: bool,
    /// Cluster whose abilities charts see [default: that of the manager's own resourcifier].
    #[arg(long, value_name = "CLUSTER", conflicts_with = "local")]
    pub cluster: Option<ClusterName>,
    /// Print the texts of a chart as `helm template --include-crds` prints them. They are made without a manager, as with --local.
    #[arg(long, conflicts_with_all = ["layout", "cluster"])]
    pub raw: bool,
    #[command(flatten)]
    pub capabilities: CapabilityFlags,
}

const NO_CHART: &str = "there is no chart whose texts can be printed: give its folder or archive (only a manager fetches charts of registries)";

/// What charts see of a cluster.
#[derive(Debug, Args)]
pub struct CapabilityFlags {
    /// Version of Kubernetes that charts see [default: the cluster's; with --local, the one that Helm assumes].
    #[arg(long, value_name = "VERSION")]
    pub kube_version: Option<String>,
    /// API version that charts see, beside those that Helm assumes. May be repeated.
    #[arg(long, value_name = "GROUP/VERSION[/KIND]")]
    pub api_versions: Vec<String>,
}

impl CapabilityFlags {
    fn given(self) -> Option<Capabilities> {
        let is_given = self.kube_version.is_some() || !self.api_versions.is_empty();
        is_given.then_some(Capabilities {
            kube_version: self.kube_version,
            api_versions: self.api_versions,
            complete: false,
        })
    }
}

impl Expand {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let Resolved {
            name,
            shown,
            bundle,
            ..
        } = self.target.resolve(session.terminal)?;
        let subject = Subject::new(format!("expanding {shown}"), bundle.sources);
        let request = Request {
            name,
            content: bundle.content,
            imports: bundle.imports,
            namespace: self.namespace,
            cluster: self.cluster,
            seed: None,
            capabilities: self.capabilities.given(),
        };
        let local_failure = |error| match error {
            LocalError::Answered(body) => subject.refused(*body),
            error => error.into(),
        };
        if self.raw {
            let (texts, warnings) = local::texts(request).await.map_err(local_failure)?;
            session.terminal.warn(&warnings);
            let texts = texts.ok_or_else(|| Failure::failed(NO_CHART))?;
            return session.show_text(texts);
        }
        let expansion = match self.local {
            true => local::expansion(request).await.map_err(local_failure)?,
            false => session
                .client
                .expand(&request)
                .await
                .map_err(|error| subject.failed(error))?,
        };
        session.terminal.warn(&expansion.warnings);
        if self.layout {
            let width = session.terminal.width;
            return session.show(&expansion.layout, |layout| {
                tree(layout, false).render(width)
            });
        }
        match session.form.is_for_programs() {
            true => session.show_document(&expansion),
            false => session.show_document(&expansion.expanded_config),
        }
    }
}
