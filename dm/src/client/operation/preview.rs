//! Shows a stored preview.

use common::model::{DeploymentName, Manifest};

use super::error::OperationError;
use crate::client::render::change;
use crate::client::session::Session;
use crate::error::Failure;

/// Shows the deployment's preview and the next commands. A preview that would fail is a failure.
pub async fn show_preview(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
) -> Result<(), Failure> {
    let manifest = session.client.preview(name).await?;
    let colours = session.terminal.colours;
    session.show(&manifest, |manifest| render(manifest, colours))?;
    let failing = manifest
        .preview
        .map_or(0, |preview| preview.summary.failing);
    match failing {
        0 => Ok(()),
        failing => Err(OperationError::WouldFail {
            name: name.clone(),
            failing,
        }
        .into()),
    }
}

fn render(manifest: &Manifest, colours: bool) -> String {
    let Some(preview) = &manifest.preview else {
        return format!("{} is not a preview\n", manifest.name);
    };
    let name = &manifest.deployment;
    let changes = change::resources(&preview.resources, colours);
    let summary = change::summary(&preview.summary);
    format!(
        "{changes}{summary}\napply it:  dm update {name} --commit {}\nforget it: dm preview {name} --drop\n",
        manifest.name
    )
}
