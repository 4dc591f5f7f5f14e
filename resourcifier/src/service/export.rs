//! Live objects for a caller who wants to keep them as a template.

use common::api::error::{ErrorBody, ErrorCode};
use common::api::export::{ExportRequest, Exported, Selected};
use serde_json::Value;

use super::read::{check, object, without_secrets};
use super::{Deployer, LOOK};
use crate::apply;
use crate::kubectl::{ClusterApi, Query, ServedKind};
use crate::plan::Wanted;

impl Deployer {
    /// The objects, with the caller's rights and without the values of Secrets.
    ///
    /// # Errors
    /// A kind is not served, a named object does not exist, or the caller may not read one.
    pub async fn export(&self, request: ExportRequest) -> Result<Exported, ErrorBody> {
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let export = &request.export;
        let selected = export.objects.iter();
        let wanted: Vec<_> = selected
            .map(|one| Wanted::parse(one.type_name.as_str()))
            .collect();
        let catalog = self.discovery.catalog(&wanted).await?;
        let mut items = Vec::new();
        for (selected, wanted) in export.objects.iter().zip(&wanted) {
            let kind = catalog
                .find(wanted)
                .map_err(|error| ErrorBody::new(ErrorCode::UnknownType, error.to_string()))?;
            check(kind, selected.name.as_deref(), export.namespace.as_ref())?;
            items.extend(found(&*kubectl, kind, selected, &request).await?);
        }
        let items = items.into_iter().map(without_secrets).collect();
        Ok(Exported { items })
    }
}

async fn found(
    kubectl: &dyn ClusterApi,
    kind: &ServedKind,
    selected: &Selected,
    request: &ExportRequest,
) -> Result<Vec<Value>, ErrorBody> {
    let namespace = request.export.namespace.as_ref();
    let namespace = namespace.map(|namespace| namespace.as_str());
    let Some(name) = &selected.name else {
        let query = Query {
            kind,
            namespace: namespace.filter(|_| kind.namespaced),
            selector: request.export.label_selector.as_deref(),
            metadata_only: false,
        };
        return Ok(apply::all(kubectl, query, LOOK).await?);
    };
    let live = kubectl.get(&object(kind, namespace, name), LOOK).await?;
    let missing = || {
        let message = format!("the cluster has no {} {name}", kind.kind);
        ErrorBody::new(ErrorCode::NotFound, message)
    };
    Ok(vec![live.ok_or_else(missing)?])
}
