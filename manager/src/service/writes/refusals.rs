//! Why a write is refused.

use common::api::error::ErrorCode;
use common::model::{ClusterName, Deployment, DeploymentName, ManifestName, OperationId};

use crate::error::Error;

pub fn crowded() -> Error {
    let message = "as many operations wait as may (--operations-waiting); try again when some of them are done";
    Error::new(ErrorCode::Unavailable, message)
}

pub fn exists(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::AlreadyExists,
        format!("deployment '{name}' exists; update it, or delete it first"),
    )
}

pub fn absent(name: &DeploymentName, manifest: &ManifestName) -> Error {
    let message = format!("deployment '{name}' has no manifest '{manifest}'");
    Error::new(ErrorCode::NotFound, message)
}

pub fn never_applied(name: &DeploymentName, manifest: &ManifestName) -> Error {
    let message = format!(
        "'{manifest}' is a preview of deployment '{name}' and was never applied, so a rollback cannot go back to it; commit the preview, or roll back to a manifest that was applied"
    );
    Error::new(ErrorCode::NeverApplied, message)
}

pub fn unapplied(name: &DeploymentName) -> Error {
    let message = format!("deployment '{name}' has no manifest that was applied");
    Error::new(ErrorCode::NotFound, message)
}

pub fn busy(name: &DeploymentName, holder: Option<&OperationId>) -> Error {
    let who = holder.map_or_else(
        || "another operation".to_owned(),
        |id| format!("operation {id}"),
    );
    Error::new(
        ErrorCode::OperationRunning,
        format!("{who} is running on deployment '{name}'; wait for its end, or stop it"),
    )
}

/// A deployment stays on its cluster. `asked` is the cluster of the request, if it names one.
pub fn on_cluster(deployment: &Deployment, asked: Option<&ClusterName>) -> Result<(), Error> {
    let (name, own) = (&deployment.name, &deployment.cluster);
    match asked {
        Some(asked) if asked != own => Err(Error::new(
            ErrorCode::InvalidRequest,
            format!(
                "deployment '{name}' is on cluster '{own}', and an update cannot move it to '{asked}'; leave the cluster out, or delete the deployment and deploy it again on '{asked}'"
            ),
        )),
        _ => Ok(()),
    }
}
