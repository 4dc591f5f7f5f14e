//! With a namespace go all objects in it: it is deleted only when what is left in it is the deployment's, or when the request
//! allows to delete the objects of others.
//!
//! Not counted is what Kubernetes keeps in each namespace by itself, what says nothing of its own (events, leases, addresses of
//! services), and what goes with its owner anyway: the owner counts. Kinds that came up in the last seconds are not seen.

use std::collections::HashSet;

use common::model::ObjectRef;
use futures::StreamExt;
use serde_json::Value;

use crate::apply::context::Context;
use crate::apply::fetch::{self, AT_ONCE};
use crate::apply::object::change;
use crate::apply::object::claim::{self, Standing};
use crate::kubectl::{KubectlError, ObjectFault, Query, ServedKind, object_ref};

/// Objects that a sentence names.
const NAMED: usize = 5;
/// By group and kind.
const NOT_COUNTED: &[(&str, &str)] = &[
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("coordination.k8s.io", "Lease"),
];
/// By kind and name, in every namespace.
const OF_KUBERNETES: &[(&str, &str)] = &[
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
];

pub fn is_namespace(object: &ObjectRef) -> bool {
    object.group().is_empty() && object.kind == "Namespace"
}

/// Why the namespace must not be deleted.
pub async fn obstacle(context: Context<'_>, namespace: &str) -> Option<String> {
    let objects = match objects(context, namespace).await {
        Ok(objects) => objects,
        Err(error) => {
            return Some(format!(
                "whether others have objects in it is not known: {error}; {REMEDY}"
            ));
        }
    };
    let others = of_others(context, &objects);
    let named: Vec<String> = others.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if others.len() > NAMED { ", …" } else { "" };
    (!others.is_empty()).then(|| {
        format!(
            "{} objects in it are not the deployment's and would be deleted with it ({}{more}); {REMEDY}",
            others.len(),
            named.join(", ")
        )
    })
}

const REMEDY: &str = "delete them first, abandon the namespace (deletePolicy: ABANDON), or repeat the request with allowDeletes=true";

/// One object in the namespace.
struct Found {
    object: ObjectRef,
    live: Value,
}

/// The metadata of all objects in the namespace.
async fn objects(context: Context<'_>, namespace: &str) -> Result<Vec<Found>, KubectlError> {
    let is_counted = |kind: &&ServedKind| {
        let known = (kind.group(), kind.kind.as_str());
        kind.namespaced && kind.applicable && !NOT_COUNTED.contains(&known)
    };
    let kinds = context.catalog.kinds().filter(is_counted);
    let calls: Vec<_> = kinds
        .map(async |kind| of_kind(context, namespace, kind).await)
        .collect();
    let mut lists = futures::stream::iter(calls).buffer_unordered(AT_ONCE);
    let mut all = Vec::new();
    while let Some(list) = lists.next().await {
        all.extend(list?);
    }
    all.sort_by_cached_key(|found| found.object.to_string());
    Ok(all)
}

async fn of_kind(
    context: Context<'_>,
    namespace: &str,
    kind: &ServedKind,
) -> Result<Vec<Found>, KubectlError> {
    let query = Query {
        kind,
        namespace: Some(namespace),
        selector: None,
        metadata_only: true,
    };
    let found = |live: Value| Found {
        object: ObjectRef {
            kind: kind.kind.clone(),
            api_version: kind.api_version.clone(),
            ..object_ref(&live)
        },
        live,
    };
    match fetch::all(context.kubectl, query, context.deadline.call()).await {
        Ok(objects) => Ok(objects.into_iter().map(found).collect()),
        // The kind went with its definition.
        Err(error) if error.fault() == Some(ObjectFault::Unserved) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn of_others<'f>(context: Context<'_>, objects: &'f [Found]) -> Vec<&'f ObjectRef> {
    let uids: HashSet<&str> = objects
        .iter()
        .filter_map(|found| change::uid(&found.live))
        .collect();
    let is_owned = |live: &Value| {
        let owners = live["metadata"]["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        owners.any(|owner| owner["uid"].as_str().is_some_and(|uid| uids.contains(uid)))
    };
    let is_of_kubernetes =
        |object: &ObjectRef| OF_KUBERNETES.contains(&(object.kind.as_str(), object.name.as_str()));
    let is_others = |found: &&Found| {
        let standing = claim::standing(Some(&found.live), context.deployment, None);
        standing != Standing::Ours
            && !change::is_terminating(&found.live)
            && !is_owned(&found.live)
            && !is_of_kubernetes(&found.object)
    };
    let others = objects.iter().filter(is_others);
    others.map(|found| &found.object).collect()
}
