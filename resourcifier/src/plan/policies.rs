//! The policies of a resource: its own, overridden by those of the whole request.
//!
//! REPLACE for a whole request does not apply to objects that hold data or contain other objects, because the data
//! would be lost. Such an object needs the policy in its own metadata.

use common::api::deployer::Policies;
use common::model::{ObjectRef, ResourceMetadata, UpdatePolicy};

/// The metadata with the policies of the request. The delete policy of the request is not included: an object is marked
/// with the policy of its own resource.
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

/// Whether deleting objects of the kind may delete data, or objects of others.
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
