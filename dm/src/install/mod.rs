//! Deployment Manager's own installation in a cluster: which objects it is made of.
//!
//! Responsible for bringing together the chart (`charts/deployment-manager`, a copy of which is in this program), which says
//! what runs, and what no chart can hold: certificates and keys, made here and told to nobody else. It refuses to know how
//! objects get into a cluster.

mod certificates;
mod chart;
pub mod command;
mod objects;
mod secrets;

use common::api::error::ErrorBody;
use common::api::manager::Expand;
use common::model::{DeploymentName, Namespace};
use serde_json::{Map, Value, json};

use crate::error::{CommandError, ExitCode};
use crate::local::{self, LocalError};
use crate::terminal::format::OutputError;

pub use certificates::CertificateError;
pub use objects::{Objects, documents};

#[derive(Debug, thiserror::Error)]
pub enum InstallationError {
    #[error(transparent)]
    Expand(#[from] LocalError),
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error("the system gives no random numbers for a key")]
    Random,
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl CommandError for InstallationError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Expand(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Certificate(_) | Self::Random => ExitCode::Failed,
        }
    }

    fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Expand(error) => error.body(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Expand(error) => error.hint(),
            _ => None,
        }
    }
}

/// What is to be installed, and where.
#[derive(Debug)]
pub struct Installation {
    /// The deployment's, and the beginning of the names of all objects.
    pub name: DeploymentName,
    pub namespace: Namespace,
    /// As the chart's schema has them.
    pub properties: Map<String, Value>,
}

impl Installation {
    /// All objects; those with secrets are new ones at every call.
    pub async fn objects(&self) -> Result<Objects, InstallationError> {
        Ok(Objects {
            namespace: self.namespace_object(),
            secrets: secrets::make(self)?,
            rest: self.expanded().await?,
        })
    }

    /// Pods that could do more than the chart's own are refused there, by the cluster.
    fn namespace_object(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": self.namespace,
                "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
            },
        })
    }

    async fn expanded(&self) -> Result<Vec<Value>, InstallationError> {
        let configuration = json!({"resources": [{
            "name": self.name,
            "type": chart::TEMPLATE,
            "properties": self.properties,
        }]});
        let expansion = local::expansion(Expand {
            name: self.name.clone(),
            content: crate::terminal::format::yaml(&configuration)?,
            imports: chart::files(),
            namespace: Some(self.namespace.clone()),
        });
        let resources = expansion.await?.expanded_config.resources;
        // The chart writes every object out in full.
        Ok(resources
            .into_iter()
            .filter_map(|resource| resource.properties)
            .collect())
    }
}
