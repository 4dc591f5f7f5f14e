//! Live objects of a namespace, for a caller who wants to keep them as a template.
//!
//! The cluster is read with the caller's rights. A caller must also be permitted to read deployments of the namespace:
//! without impersonation, resourcifier reads with its own rights.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::export::{Export, ExportRequest, Exported, SELECTED};

use super::writes;
use crate::auth::authorization::Question;
use crate::auth::{Access, Caller, Resource, Verb};
use crate::deployer::Deployer;
use crate::error::Error;

/// The time for reading: one call for each kind or object.
const READ: Duration = Duration::from_secs(60);

pub struct LiveExport {
    pub deployer: Arc<dyn Deployer>,
    pub access: Access,
}

impl LiveExport {
    /// # Errors
    /// The request names nothing or too much, or the caller may not read it.
    pub async fn export(&self, export: Export, caller: &Caller) -> Result<Exported, Error> {
        if !(1..=SELECTED).contains(&export.objects.len()) {
            let message = format!("name 1 to {SELECTED} kinds or objects to export");
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        }
        let namespace = writes::namespace(export.namespace.clone())?;
        let question = Question {
            verb: Verb::Get,
            resource: Resource::Deployments,
            namespace: Some(namespace.clone()),
            name: None,
        };
        let identity = caller.identity.as_ref();
        self.access.require(identity, &question).await?;
        let request = Arc::new(ExportRequest {
            export: Export {
                namespace: Some(namespace),
                ..export
            },
            on_behalf_of: caller.identity.clone(),
        });
        Ok(self.deployer.export(request, READ).await?)
    }
}
