//! What each route takes and returns, by the names of the handlers.

use common::api::error::ErrorCode::{self, *};
use common::api::manager::*;
use common::api::page::{Page, PageQuery};
use common::api::upgrade::{UpgradeDeployment, WhatIf, WhatIfPage, WhatIfQuery};
use common::model::{Credential, Deployment, Manifest, Operation, RegistryDefinition};
use schemars::generate::SchemaGenerator;

use super::description::Description;
use crate::service::asked::{Kind, key_schema};

/// The errors of a configuration, and of fetching its templates.
const EXPANSION: &[ErrorCode] = &[
    InvalidConfiguration,
    InvalidSchema,
    InvalidProperties,
    InvalidReference,
    TemplateFailed,
    TemplateTimeout,
    TemplateMemory,
    TemplateOutput,
    TemplateFuel,
    TemplateForbidden,
    TemplateImport,
    TemplateCrashed,
    TemplateBlocked,
    PatternTooCostly,
    YamlTooLarge,
    TooDeep,
    TooManyResources,
    TooManyReferences,
    TemplateNotFound,
    TemplateUntrusted,
    RegistryUnavailable,
    ExpanderUnavailable,
    Timeout,
];
/// The errors of an operation.
const OPERATION: &[ErrorCode] = &[
    UnknownType,
    OperationRunning,
    OperationStopped,
    Superseded,
    DeletesNotAllowed,
    QuotaExceeded,
    IdempotencyConflict,
    ResourcesFailed,
    PermissionsMissing,
    DeployerUnavailable,
    ClusterUnavailable,
    Unavailable,
    Timeout,
];
const CATALOG: &[ErrorCode] = &[
    InvalidConfiguration,
    InvalidSchema,
    NotFound,
    UnknownType,
    TemplateNotFound,
    TemplateUntrusted,
    RegistryUnavailable,
    Timeout,
];

/// What all writes have in common. `kinds` are the kinds of writes that the route accepts.
fn write(description: Description, kinds: &[Kind], of: &mut SchemaGenerator) -> Description {
    let takes = |parameter: &str| kinds.iter().any(|kind| kind.takes(parameter));
    description
        .query_of::<WriteQuery>(of, takes)
        .header(
            "Prefer",
            "`respond-async`: do not wait for the end of the operation.",
        )
        .header_with(
            IDEMPOTENCY_KEY,
            "Makes the request safe to repeat: a request with the same key is the same operation.",
            key_schema(),
        )
        .answers::<Operation>(202, "The accepted operation, if `Prefer` asks for it.", of)
        .with_header(202, "Location", "The path of the operation.")
        .fails(OPERATION)
}

/// A write to something that exists.
fn change(description: Description, kinds: &[Kind], of: &mut SchemaGenerator) -> Description {
    write(description, kinds, of)
        .header(
            "If-Match",
            "The `ETag` of the deployment: the request fails if it has changed since.",
        )
        .fails(&[NotFound, PreconditionFailed])
}

pub mod health {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("Check that the process answers").raw_answer(
            200,
            "It answers.",
            "text/plain",
        )
    }
}

pub mod metrics {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("Get the metrics for Prometheus").raw_answer(
            200,
            "Metrics in the text format of Prometheus.",
            "text/plain",
        )
    }
}

pub mod whoami {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the caller, as authentication identified it").answers::<Whoami>(
            200,
            "The user.",
            of,
        )
    }
}

pub mod openapi {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get this document").answers::<serde_json::Value>(200, "OpenAPI 3.1.", of)
    }
}

pub mod readiness {
    use common::server::health::Readiness;

    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Check whether the manager is ready, and what is unavailable")
            .answers::<Readiness>(200, "All dependencies are available.", of)
            .answers::<Readiness>(503, "A dependency is unavailable. The checks name it.", of)
    }
}

pub mod admin {
    use common::api::admin::{ARCHIVE, Restored, Rotated, Verification};

    use super::*;

    pub fn backup(_: &mut SchemaGenerator) -> Description {
        Description::new("Back up the whole store").raw_answer(
            200,
            "An archive: one JSON document per line. The last has the digest of all lines before it.",
            ARCHIVE,
        )
    }

    pub fn restore(of: &mut SchemaGenerator) -> Description {
        Description::new("Restore an archive into an empty store")
            .raw_body(ARCHIVE)
            .answers::<Restored>(200, "The archive is restored.", of)
            .fails(&[InvalidBackup, StoreNotEmpty, Unavailable])
    }

    pub fn rotate(of: &mut SchemaGenerator) -> Description {
        Description::new("Create a new key for the store, and seal all entries with it")
            .answers::<Rotated>(200, "All entries are sealed with the new key.", of)
            .fails(&[Unavailable])
    }

    pub fn verify(of: &mut SchemaGenerator) -> Description {
        Description::new("Check that the store is complete and consistent").answers::<Verification>(
            200,
            "What was checked, and the problems.",
            of,
        )
    }
}

pub mod deployments {
    use super::*;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the deployments, by name")
            .query::<PageQuery>(of)
            .answers::<Page<Deployment>>(200, "A page of the list.", of)
    }

    pub fn create(of: &mut SchemaGenerator) -> Description {
        write(Description::new("Create a deployment"), &[Kind::Create], of)
            .body::<CreateDeployment>(of)
            .answers::<Deployment>(
                201,
                "The deployment is created, or its preview is stored.",
                of,
            )
            .with_header(201, "Location", "The path of the deployment.")
            .with_header(201, "ETag", "Changes with every write.")
            .fails(&[AlreadyExists])
            .fails(EXPANSION)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get a deployment")
            .answers::<Deployment>(200, "It.", of)
            .with_header(200, "ETag", "Changes with every write. For `If-Match`.")
            .fails(&[NotFound])
    }

    pub fn update(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Update a deployment with a new configuration, or commit its preview"),
            &[Kind::Update, Kind::Commit],
            of,
        )
        .body::<UpdateDeployment>(of)
        .answers::<Deployment>(200, "The deployment after the write.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(EXPANSION)
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        let description = Description::new("Delete a deployment and its objects");
        change(description, &[Kind::Delete], of)
            .answers::<Deployment>(200, "The state before the removal.", of)
            .with_header(200, "ETag", "Changes with every write.")
    }

    pub fn rollback(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Roll back to an earlier manifest, as a new manifest"),
            &[Kind::Rollback],
            of,
        )
        .body::<RollbackDeployment>(of)
        .answers::<Deployment>(200, "The deployment after the write.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(&[NeverApplied])
    }

    pub fn upgrade(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Upgrade one template of a deployment to another version"),
            &[Kind::Upgrade],
            of,
        )
        .body::<UpgradeDeployment>(of)
        .answers::<Deployment>(200, "The deployment after the write.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(EXPANSION)
    }
}

pub mod templates {
    use super::*;

    pub fn whatif(of: &mut SchemaGenerator) -> Description {
        Description::new("Show what another version of a template would change in deployments")
            .query::<WhatIfQuery>(of)
            .body::<WhatIf>(of)
            .answers::<WhatIfPage>(200, "A page of the list, by name.", of)
            .fails(&[NotFound])
            .fails(EXPANSION)
    }
}

pub mod live {
    use super::*;

    pub fn resources(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the live state of a deployment's objects, with their drift")
            .query::<ResourcesQuery>(of)
            .answers::<Resources>(200, "A page of the list.", of)
            .fails(&[NotFound, DeployerUnavailable, ClusterUnavailable, Timeout])
    }

    pub fn graph(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the dependencies between the resources of the latest manifest")
            .answers::<Graph>(200, "Nodes and edges.", of)
            .fails(&[
                NotFound,
                UnknownType,
                DeployerUnavailable,
                ClusterUnavailable,
                Timeout,
            ])
    }
}

pub mod previews {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the preview: the manifest, and what a commit would do")
            .answers::<Manifest>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Delete the preview. The deployment does not change")
            .header(
                "If-Match",
                "The `ETag` of the deployment: the request fails if it has changed since.",
            )
            .answers::<Deployment>(200, "The deployment without the preview.", of)
            .with_header(200, "ETag", "Changes with every write.")
            .fails(&[NotFound, OperationRunning, PreconditionFailed])
    }

    pub fn diff(of: &mut SchemaGenerator) -> Description {
        Description::new("Show what an update would do now. Nothing is stored or applied")
            .query::<DiffQuery>(of)
            .body::<UpdateDeployment>(of)
            .answers::<Diff>(
                200,
                "Every resource, with the fields that would change.",
                of,
            )
            .fails(&[
                NotFound,
                UnknownType,
                DeployerUnavailable,
                ClusterUnavailable,
            ])
            .fails(EXPANSION)
    }
}

pub mod manifests {
    use super::*;
    use crate::http::manifests::{LayoutQuery, ManifestDiffQuery};

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the manifests of a deployment, oldest first")
            .query::<PageQuery>(of)
            .answers::<Page<ManifestSummary>>(200, "A page of the list.", of)
            .fails(&[NotFound])
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get a manifest with its contents")
            .answers::<Manifest>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn diff(of: &mut SchemaGenerator) -> Description {
        Description::new("Compare two manifests. The cluster is not asked")
            .query::<ManifestDiffQuery>(of)
            .answers::<ManifestDiff>(200, "Every resource, with the fields that differ.", of)
            .fails(&[NotFound])
    }

    pub fn layout(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the layout of a manifest, or one node of it")
            .query::<LayoutQuery>(of)
            .answers::<LayoutAnswer>(200, "The layout, or the node at the path.", of)
            .fails(&[NotFound])
    }

    #[derive(schemars::JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum LayoutAnswer {
        Node(common::model::LayoutNode),
        ClusterScoped(common::model::Layout),
    }
}

pub mod types {
    use super::*;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the types in use, by name")
            .query::<PageQuery>(of)
            .answers::<Page<TypeSummary>>(200, "A page of the list.", of)
    }

    pub fn instances(of: &mut SchemaGenerator) -> Description {
        Description::new("List the instances of a type. `all` means every type")
            .query::<PageQuery>(of)
            .answers::<Page<TypeInstance>>(200, "A page of the list.", of)
    }

    pub fn metadata(of: &mut SchemaGenerator) -> Description {
        Description::new("Describe a template")
            .answers::<TemplateDescription>(200, "Its description.", of)
            .fails(CATALOG)
    }

    pub fn registry(of: &mut SchemaGenerator) -> Description {
        Description::new("Get the registry of a template")
            .answers::<RegistrySummary>(200, "It.", of)
            .fails(CATALOG)
    }
}

pub mod registries {
    use super::*;
    use crate::http::registries::{DownloadQuery, TemplatesQuery};

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the registries")
            .query::<PageQuery>(of)
            .answers::<Page<RegistrySummary>>(200, "A page of the list, by name.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get a registry")
            .answers::<RegistrySummary>(200, "It.", of)
            .fails(CATALOG)
    }

    pub fn create(of: &mut SchemaGenerator) -> Description {
        Description::new("Register a registry")
            .body::<RegistryDefinition>(of)
            .answers::<RegistrySummary>(201, "The registry is registered.", of)
            .with_header(201, "Location", "The path of the registry.")
            .fails(&[AlreadyExists])
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Remove a registered registry. Deployments from it stay")
            .answers::<RegistrySummary>(200, "The state before the removal.", of)
            .fails(&[NotFound])
    }

    pub fn templates(of: &mut SchemaGenerator) -> Description {
        Description::new("List the templates of a registry")
            .query::<TemplatesQuery>(of)
            .answers::<Page<TemplateSummary>>(
                200,
                "A page of the templates whose names match, by name.",
                of,
            )
            .fails(CATALOG)
    }

    pub fn template(of: &mut SchemaGenerator) -> Description {
        Description::new("Describe a template of a registry")
            .answers::<TemplateDescription>(200, "Its description.", of)
            .fails(CATALOG)
    }

    pub fn download(of: &mut SchemaGenerator) -> Description {
        Description::new("Get a file of a registry")
            .query::<DownloadQuery>(of)
            .raw_answer(200, "The bytes of the file.", "application/octet-stream")
            .fails(CATALOG)
    }
}

pub mod credentials {
    use super::*;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the credentials of registries, without their secrets")
            .query::<PageQuery>(of)
            .answers::<Page<CredentialSummary>>(200, "A page of the list, by name.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get a registry's credential, without its secret")
            .answers::<CredentialSummary>(200, "The credential, without its secret.", of)
            .fails(&[NotFound])
    }

    pub fn set(of: &mut SchemaGenerator) -> Description {
        Description::new("Create a credential, or set a new secret")
            .body::<Credential>(of)
            .answers::<CredentialSummary>(201, "The credential is created.", of)
            .answers::<CredentialSummary>(200, "The secret is replaced.", of)
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Remove a credential that no registry uses")
            .answers::<CredentialSummary>(200, "The state before the removal.", of)
            .fails(&[NotFound, InUse])
    }
}

pub mod expand {
    use super::*;

    pub fn post(of: &mut SchemaGenerator) -> Description {
        Description::new("Expand a configuration. Nothing is stored or applied")
            .body::<Expand>(of)
            .answers::<Expansion>(200, "The expansion.", of)
            .fails(EXPANSION)
    }
}

pub mod operations {
    use super::*;
    use crate::http::operations::ListQuery;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("List the operations, latest first")
            .query::<ListQuery>(of)
            .answers::<Page<Operation>>(200, "A page of the list.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get an operation with its progress")
            .answers::<Operation>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn cancel(of: &mut SchemaGenerator) -> Description {
        stopping(Description::new("Stop an operation. Nothing is undone"), of)
    }

    pub fn stop(of: &mut SchemaGenerator) -> Description {
        let description = "Stop the running operation of a deployment. Nothing is undone";
        stopping(Description::new(description), of)
            .header(
                "If-Match",
                "The `ETag` of the deployment: the request fails if it has changed since.",
            )
            .fails(&[PreconditionFailed])
    }

    fn stopping(description: Description, of: &mut SchemaGenerator) -> Description {
        description
            .header("Prefer", "`respond-async`: do not wait for the end.")
            .answers::<Operation>(200, "The operation after its end.", of)
            .answers::<Operation>(
                202,
                "The operation that is being stopped, if `Prefer` asks for it.",
                of,
            )
            .with_header(202, "Location", "The path of the operation.")
            .fails(&[NotFound, NothingRunning, Unavailable])
    }
}

pub mod events {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("Follow an operation until its end")
            .header("Last-Event-ID", "Continues after this event.")
            .events("Server-sent events: `operation` with an Operation, `resource` with a ResourceReport.")
            .fails(&[NotFound])
    }
}
