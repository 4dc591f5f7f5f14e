//! Live objects of a namespace, for a caller who wants to keep them as a template.
//!
//! The cluster is read with the caller's rights. A caller must also be permitted to read deployments of the namespace:
//! without impersonation, resourcifier reads with its own rights.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::export::{
    Export, ExportQuery, ExportRequest, Exported, SELECTED, Selected, USUAL_KINDS,
};
use common::model::TypeName;
use common::work::{self, Size};
use expandybird_templateobject::export::{Portable, Style, cleaned, template};
use serde_json::Value;

use crate::auth::authorization::Question;
use crate::auth::{AccessControl, Caller, Resource, Verb};
use crate::deployer::Deployers;
use crate::error::Error;
use crate::service::writes;

/// The time for reading: one call for each kind or object.
const READ: Duration = Duration::from_secs(60);

pub struct LiveExport {
    pub deployers: Arc<dyn Deployers>,
    pub access: AccessControl,
}

impl LiveExport {
    /// # Errors
    /// The request names nothing or too much, or the caller may not read it.
    pub async fn export(&self, mut export: Export, caller: &Caller) -> Result<Exported, Error> {
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
        let cluster = export.cluster.take().unwrap_or_default();
        let request = Arc::new(ExportRequest {
            export: Export {
                namespace: Some(namespace),
                ..export
            },
            on_behalf_of: caller.identity.clone(),
        });
        let deployer = self.deployers.of(&cluster);
        Ok(deployer.export(request, READ).await?)
    }

    /// The objects as a Template, to deploy them elsewhere.
    ///
    /// # Errors
    /// As for [`Self::export`]; or nothing was found.
    pub async fn template(&self, query: ExportQuery, caller: &Caller) -> Result<Value, Error> {
        let objects = selected(&query)?;
        let wanted = query.name.clone().filter(|_| objects.len() > 1);
        let name = query.name.unwrap_or_else(|| "exported".to_owned());
        let export = Export {
            objects,
            label_selector: query.selector,
            namespace: query.namespace,
            cluster: query.cluster,
        };
        let mut found = self.export(export, caller).await?.items;
        if let Some(wanted) = wanted {
            found.retain(|object| object["metadata"]["name"] == *wanted);
        }
        let size = Size::of(&found);
        let objects = work::sized(size, move || {
            let cleaned = found
                .into_iter()
                .filter_map(|object| cleaned(object, Portable::Anywhere));
            let objects: Vec<_> = cleaned.collect();
            let style = Style {
                name: &name,
                parameterize: false,
            };
            (!objects.is_empty()).then(|| template(objects, style))
        });
        let nothing = || {
            let message = "no resources found - nothing to export";
            Error::new(ErrorCode::NotFound, message)
        };
        objects.await.ok_or_else(nothing)
    }
}

/// The kinds of a query, or one object.
fn selected(query: &ExportQuery) -> Result<Vec<Selected>, Error> {
    let invalid = |message: String| Error::new(ErrorCode::InvalidRequest, message);
    let kinds: Vec<&str> = match &query.kind {
        Some(kinds) => kinds.split(',').map(str::trim).collect(),
        None => USUAL_KINDS.to_vec(),
    };
    // Of several kinds, most have no object of the name.
    let name = query.name.as_ref().filter(|_| kinds.len() == 1);
    let one = |kind: &&str| {
        let type_name = TypeName::parse(*kind).map_err(|error| invalid(error.to_string()))?;
        Ok(Selected {
            type_name,
            name: name.cloned(),
        })
    };
    kinds.iter().map(one).collect()
}
