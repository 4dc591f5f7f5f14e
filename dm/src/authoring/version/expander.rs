//! Expands an example: through the manager, or with the program `expandybird`.

use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::{Expand, Expansion};
use common::client::{ClientError, ManagerClient};
use common::model::{ClusterName, DeploymentName, Namespace};

use crate::bundle::Bundle;
use crate::error::{ExitCode, exit_code};
use crate::local::{self, LocalError};

/// The name of the deployment that templates see.
const DEPLOYMENT: &str = "example";

pub enum ExampleExpander<'a> {
    Manager {
        client: &'a ManagerClient,
        place: Place<'a>,
    },
    Here,
}

/// Where the example would be. Absent: where the manager puts it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    pub namespace: Option<&'a Namespace>,
    pub cluster: Option<&'a ClusterName>,
}

/// Why there is no expansion.
#[derive(Debug)]
pub enum ExpansionFailure {
    /// The template or the example is wrong.
    Faulty(String),
    /// Something else failed, for example a template that it uses is unavailable.
    Unknown(String),
}

impl ExampleExpander<'_> {
    pub async fn expand(&self, bundle: Bundle) -> Result<Expansion, ExpansionFailure> {
        let unknown = |error: &dyn std::fmt::Display| ExpansionFailure::Unknown(error.to_string());
        let name = DeploymentName::parse(DEPLOYMENT).map_err(|error| unknown(&error))?;
        let request = |place: Place<'_>| Expand {
            name,
            content: bundle.content,
            imports: bundle.imports,
            namespace: place.namespace.cloned(),
            cluster: place.cluster.cloned(),
            seed: None,
            capabilities: None,
        };
        match self {
            Self::Manager { client, place } => {
                let expanded = client.expand(&request(*place)).await;
                expanded.map_err(|error| match error {
                    ClientError::Answered(body) => answered(&body),
                    error => unknown(&error),
                })
            }
            Self::Here => {
                let expanded = local::expansion(request(Place::default())).await;
                expanded.map_err(|error| match error {
                    LocalError::Answered(body) => answered(&body),
                    error => unknown(&error),
                })
            }
        }
    }
}

fn answered(body: &ErrorBody) -> ExpansionFailure {
    let is_foreign = matches!(
        body.code,
        ErrorCode::Forbidden | ErrorCode::Unauthenticated | ErrorCode::Internal
    );
    match exit_code(body.code) {
        ExitCode::Failed if !is_foreign => ExpansionFailure::Faulty(body.message.clone()),
        _ => ExpansionFailure::Unknown(body.message.clone()),
    }
}
