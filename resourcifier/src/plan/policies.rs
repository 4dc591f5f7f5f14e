//! Which policies hold for a resource: its own, under those of the whole request.
//!
//! A request that says REPLACE does not mean objects that hold data, or that others live in: their data would go
//! with them. Each of those has to say it itself.

use common::api::deployer::Policies;
use common::model::{ObjectRef, ResourceMetadata, UpdatePolicy};

/// The metadata with the request's policies over its own. The delete policy is the request's own affair: what an object is
/// marked with is what its resource says.
pub fn overridden(
    own: ResourceMetadata,
    request: Policies,
    object: &ObjectRef,
) -> ResourceMetadata {
    let update = request
        .update
        .filter(|update| *update != UpdatePolicy::Replace || !holds_data(object));
    ResourceMetadata {
        create_policy: request.create.unwrap_or(own.create_policy),
        update_policy: update.unwrap_or(own.update_policy),
        conflict_policy: request.conflict.unwrap_or(own.conflict_policy),
        ..own
    }
}

/// Whether data, or objects of others, may go when objects of the kind are deleted.
pub fn holds_data(object: &ObjectRef) -> bool {
    matches!(
        (object.group(), object.kind.as_str()),
        (
            "",
            "Namespace" | "PersistentVolume" | "PersistentVolumeClaim"
        ) | ("apps", "StatefulSet")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
            | ("snapshot.storage.k8s.io", _)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(api_version: &str, kind: &str) -> bool {
        let request = Policies {
            update: Some(UpdatePolicy::Replace),
            ..Policies::default()
        };
        let object = ObjectRef {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: "x".to_owned(),
        };
        let metadata = overridden(ResourceMetadata::default(), request, &object);
        metadata.update_policy == UpdatePolicy::Replace
    }

    #[test]
    fn a_request_replaces_everything_but_what_holds_data() {
        assert!(replaced("apps/v1", "Deployment"));
        assert!(replaced("v1", "Service"));
        for (api_version, kind) in [
            ("v1", "PersistentVolumeClaim"),
            ("v1", "PersistentVolume"),
            ("v1", "Namespace"),
            ("apps/v1", "StatefulSet"),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ] {
            assert!(!replaced(api_version, kind), "{kind}");
        }
    }
}
