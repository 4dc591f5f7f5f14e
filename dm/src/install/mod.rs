//! For operators: the objects of an installation of Deployment Manager in a cluster.
//!
//! The objects come from the chart `charts/deployment-manager`, of which this program has a copy, and from this room, which makes
//! the certificates and keys. Only the `command` knows how objects get into a cluster.

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
    #[error("the operating system returned no random numbers for a key")]
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

/// What to install, and where.
#[derive(Debug)]
pub struct Installation {
    /// The name of the deployment. The names of all objects begin with it.
    pub name: DeploymentName,
    pub namespace: Namespace,
    /// The properties of the chart.
    pub properties: Map<String, Value>,
}

impl Installation {
    /// All objects. Each call makes new secrets.
    pub async fn objects(&self) -> Result<Objects, InstallationError> {
        let rest = self.expanded().await?;
        Ok(Objects {
            namespace: self.namespace_object(),
            key: secrets::key(self)?,
            certificates: secrets::certificates(self, &rest)?,
            rest,
        })
    }

    /// The label makes the cluster refuse pods with more privileges than the chart's.
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
            cluster: None,
            seed: None,
            capabilities: None,
        });
        let resources = expansion.await?.expanded_config.resources;
        // The chart's resources have whole objects as properties.
        Ok(resources
            .into_iter()
            .filter_map(|resource| resource.properties)
            .collect())
    }
}
