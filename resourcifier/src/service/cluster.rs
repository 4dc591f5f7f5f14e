//! What charts see of the cluster: its version and kinds, and objects that they look up.

use common::api::cluster::{
    Capabilities, LOOKUP_BYTES, LOOKUPS, Lookup, LookupAnswer, LookupAnswers, LookupRequest,
};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::Namespace;
use futures::StreamExt;
use serde_json::{Value, json};

use super::read::{check, object};
use super::{Deployer, LOOK};
use crate::apply;
use crate::kubectl::{ClusterApi, ObjectFault, Query};
use crate::plan::{Catalog, Wanted};

/// Lookups that are under way at once.
const AT_ONCE: usize = 8;

impl Deployer {
    /// The version of the cluster, and all that it serves.
    pub async fn capabilities(&self) -> Result<Capabilities, ErrorBody> {
        let versions = self.cluster.versions(LOOK).await?;
        let kube_version = versions.server.map_err(|reason| {
            let message = format!("the version of the cluster is unknown: {reason}");
            ErrorBody::new(ErrorCode::ClusterUnavailable, message)
        })?;
        let mut api_versions: Vec<String> = Vec::new();
        for kind in self.cluster.all_kinds().await? {
            api_versions.push(kind.api_version.clone());
            api_versions.push(format!("{}/{}", kind.api_version, kind.kind));
        }
        api_versions.sort();
        api_versions.dedup();
        Ok(Capabilities {
            kube_version: Some(kube_version),
            api_versions,
            complete: true,
        })
    }

    /// Objects as they are, with the caller's rights.
    pub async fn look_up(&self, request: LookupRequest) -> Result<LookupAnswers, ErrorBody> {
        let asked = request.lookups.len();
        if asked > LOOKUPS {
            let message = format!("{asked} lookups are too many; look up at most {LOOKUPS}");
            return Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
        }
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let wanted: Vec<Wanted> = request.lookups.iter().map(wanted).collect();
        let catalog = self.discovery.catalog(&wanted).await?;
        let calls: Vec<_> = request
            .lookups
            .into_iter()
            .zip(&wanted)
            .map(|(lookup, wanted)| answer(&*kubectl, &catalog, lookup, wanted))
            .collect();
        let mut answers = futures::stream::iter(calls).buffered(AT_ONCE);
        let (mut items, mut bytes) = (Vec::new(), 0);
        while let Some(answer) = answers.next().await {
            let answer = answer?;
            bytes += answer.bytes();
            if bytes > LOOKUP_BYTES {
                let message = format!(
                    "what is looked up has more than {} MiB; look up single objects by their names",
                    LOOKUP_BYTES >> 20
                );
                return Err(ErrorBody::new(ErrorCode::TemplateFailed, message));
            }
            items.push(answer);
        }
        Ok(LookupAnswers { items })
    }
}

fn wanted(lookup: &Lookup) -> Wanted {
    Wanted {
        api_version: Some(lookup.api_version.clone()),
        kind: lookup.kind.clone(),
    }
}

/// An unknown kind and a missing permission are answers. Only a cluster that is away is an error.
async fn answer(
    kubectl: &dyn ClusterApi,
    catalog: &Catalog,
    lookup: Lookup,
    wanted: &Wanted,
) -> Result<LookupAnswer, ErrorBody> {
    let refused = |lookup, error: String| LookupAnswer {
        lookup,
        found: None,
        error: Some(error),
    };
    let kind = match catalog.find(wanted) {
        Ok(kind) => kind,
        Err(error) => return Ok(refused(lookup, error.to_string())),
    };
    let namespace = Some(lookup.namespace.as_str()).filter(|name| !name.is_empty());
    let name = Some(lookup.name.as_str()).filter(|name| !name.is_empty());
    let place = namespace.map(Namespace::parse).transpose();
    let place = match place {
        Ok(place) => place,
        Err(error) => return Ok(refused(lookup, error.to_string())),
    };
    if let Err(error) = check(kind, name, place.as_ref()) {
        return Ok(refused(lookup, error.message));
    }
    let found = match name {
        Some(name) => kubectl.get(&object(kind, namespace, name), LOOK).await,
        None => {
            let query = Query {
                kind,
                namespace: namespace.filter(|_| kind.namespaced),
                selector: None,
                metadata_only: false,
            };
            let items = apply::all(kubectl, query, LOOK).await;
            items.map(|items| {
                let items: Vec<Value> = items.into_iter().map(slim).collect();
                let list = format!("{}List", kind.kind);
                Some(json!({"apiVersion": kind.api_version, "kind": list, "items": items}))
            })
        }
    };
    match found {
        Ok(found) => Ok(LookupAnswer {
            lookup,
            found: found.map(slim),
            error: None,
        }),
        Err(error) if error.is_transient() => Err(error.into()),
        Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(LookupAnswer {
            lookup,
            found: None,
            error: None,
        }),
        Err(error) => Ok(refused(lookup, error.to_string())),
    }
}

/// Without the lists of who owns which field.
fn slim(mut object: Value) -> Value {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.map(|metadata| metadata.remove("managedFields"));
    object
}
