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
            "`respond-async`: do not wait for the operation's end.",
        )
        .header_with(
            IDEMPOTENCY_KEY,
            "Makes the request safe to repeat: the same key is the same operation.",
            key_schema(),
        )
        .answers::<Operation>(202, "The operation, accepted; only if preferred.", of)
        .with_header(202, "Location", "The operation's address.")
        .fails(OPERATION)
}

/// A write to something that exists.
fn change(description: Description, kinds: &[Kind], of: &mut SchemaGenerator) -> Description {
    write(description, kinds, of)
        .header(
            "If-Match",
            "The deployment's `ETag`: it must not have changed since.",
        )
        .fails(&[NotFound, PreconditionFailed])
}

pub mod health {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("Whether the process answers").raw_answer(200, "It does.", "text/plain")
    }
}

pub mod metrics {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("Measurements, for Prometheus").raw_answer(
            200,
            "In Prometheus' text format.",
            "text/plain",
        )
    }
}

pub mod whoami {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("The caller, as authentication identified it").answers::<Whoami>(
            200,
            "The user.",
            of,
        )
    }
}

pub mod openapi {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("This document").answers::<serde_json::Value>(200, "OpenAPI 3.1.", of)
    }
}

pub mod readiness {
    use common::server::health::Readiness;

    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Whether the manager can do its work, and what is down")
            .answers::<Readiness>(200, "All that it depends on is there.", of)
            .answers::<Readiness>(503, "Something is not; the checks say what.", of)
    }
}

pub mod admin {
    use common::api::admin::{ARCHIVE, Restored, Rotated, Verification};

    use super::*;

    pub fn backup(_: &mut SchemaGenerator) -> Description {
        Description::new("The whole store, as it is at this moment").raw_answer(
            200,
            "An archive: one JSON document a line, the last with the digest of all before.",
            ARCHIVE,
        )
    }

    pub fn restore(of: &mut SchemaGenerator) -> Description {
        Description::new("Fill an empty store with an archive")
            .raw_body(ARCHIVE)
            .answers::<Restored>(200, "All of it is stored.", of)
            .fails(&[InvalidBackup, StoreNotEmpty, Unavailable])
    }

    pub fn rotate(of: &mut SchemaGenerator) -> Description {
        Description::new("Make a new key for the store, and seal all in it anew")
            .answers::<Rotated>(200, "All is sealed with the new key.", of)
            .fails(&[Unavailable])
    }

    pub fn verify(of: &mut SchemaGenerator) -> Description {
        Description::new("Whether the store holds what it should, and nothing else")
            .answers::<Verification>(200, "What was looked at, and what is wrong with it.", of)
    }
}

pub mod deployments {
    use super::*;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("Deployments, by name")
            .query::<DeploymentsQuery>(of)
            .answers::<Page<Deployment>>(200, "A page of them.", of)
    }

    pub fn create(of: &mut SchemaGenerator) -> Description {
        write(Description::new("Make a deployment"), &[Kind::Create], of)
            .body::<CreateDeployment>(of)
            .answers::<Deployment>(201, "It is deployed, or its preview is stored.", of)
            .with_header(201, "Location", "The deployment's address.")
            .with_header(201, "ETag", "Changes with every write.")
            .fails(&[AlreadyExists])
            .fails(EXPANSION)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("A deployment")
            .answers::<Deployment>(200, "It.", of)
            .with_header(200, "ETag", "Changes with every write; for `If-Match`.")
            .fails(&[NotFound])
    }

    pub fn update(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Give a deployment a new configuration"),
            &[Kind::Update, Kind::Commit],
            of,
        )
        .body::<UpdateDeployment>(of)
        .answers::<Deployment>(200, "It is deployed.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(EXPANSION)
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        let description = Description::new("Remove a deployment and its objects");
        change(description, &[Kind::Delete], of)
            .answers::<Deployment>(200, "Its last state.", of)
            .with_header(200, "ETag", "Changes with every write.")
    }

    pub fn rollback(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Go back to an earlier manifest, as a new one"),
            &[Kind::Rollback],
            of,
        )
        .body::<RollbackDeployment>(of)
        .answers::<Deployment>(200, "It is deployed.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(&[NeverApplied])
    }

    pub fn upgrade(of: &mut SchemaGenerator) -> Description {
        change(
            Description::new("Give a deployment another version of one template"),
            &[Kind::Upgrade],
            of,
        )
        .body::<UpgradeDeployment>(of)
        .answers::<Deployment>(200, "It is deployed.", of)
        .with_header(200, "ETag", "Changes with every write.")
        .fails(EXPANSION)
    }
}

pub mod templates {
    use super::*;

    pub fn whatif(of: &mut SchemaGenerator) -> Description {
        Description::new("What deployments would be with a template at another version")
            .query::<WhatIfQuery>(of)
            .body::<WhatIf>(of)
            .answers::<WhatIfPage>(200, "A page of them, by name.", of)
            .fails(&[NotFound])
            .fails(EXPANSION)
    }
}

pub mod live {
    use super::*;

    pub fn resources(of: &mut SchemaGenerator) -> Description {
        Description::new("The live state of a deployment's objects, with their drift")
            .query::<ResourcesQuery>(of)
            .answers::<Resources>(200, "A page of them.", of)
            .fails(&[NotFound, DeployerUnavailable, ClusterUnavailable, Timeout])
    }

    pub fn graph(of: &mut SchemaGenerator) -> Description {
        Description::new("Which resources of the latest manifest wait for which")
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
        Description::new("The manifest that can be committed, with what it would do")
            .answers::<Manifest>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Drop the preview; the deployment stays as it is")
            .header(
                "If-Match",
                "The deployment's `ETag`: it must not have changed since.",
            )
            .answers::<Deployment>(200, "The deployment without it.", of)
            .with_header(200, "ETag", "Changes with every write.")
            .fails(&[NotFound, OperationRunning, PreconditionFailed])
    }

    pub fn diff(of: &mut SchemaGenerator) -> Description {
        Description::new("What an update would do now; nothing is stored or applied")
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
        Description::new("A deployment's manifests, oldest first")
            .query::<PageQuery>(of)
            .answers::<Page<ManifestSummary>>(200, "A page of them.", of)
            .fails(&[NotFound])
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("A manifest, with its contents")
            .answers::<Manifest>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn diff(of: &mut SchemaGenerator) -> Description {
        Description::new(
            "What going from another manifest to this one asks for; the cluster is not asked",
        )
        .query::<ManifestDiffQuery>(of)
        .answers::<ManifestDiff>(200, "Every resource, with the fields that differ.", of)
        .fails(&[NotFound])
    }

    pub fn layout(of: &mut SchemaGenerator) -> Description {
        Description::new("The tree that a manifest's resources came from, or a node of it")
            .query::<LayoutQuery>(of)
            .answers::<LayoutAnswer>(200, "The layout, or with a path the node there.", of)
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
        Description::new("Types that are in use, by name")
            .query::<PageQuery>(of)
            .answers::<Page<TypeSummary>>(200, "A page of them.", of)
    }

    pub fn instances(of: &mut SchemaGenerator) -> Description {
        Description::new("Where a type is in use; `all` for every type")
            .query::<PageQuery>(of)
            .answers::<Page<TypeInstance>>(200, "A page of instances.", of)
    }

    pub fn metadata(of: &mut SchemaGenerator) -> Description {
        Description::new("What a template is and takes")
            .answers::<TemplateDescription>(200, "Its description.", of)
            .fails(CATALOG)
    }

    pub fn registry(of: &mut SchemaGenerator) -> Description {
        Description::new("The registry that holds a template")
            .answers::<RegistrySummary>(200, "It.", of)
            .fails(CATALOG)
    }
}

pub mod registries {
    use super::*;
    use crate::http::registries::{DownloadQuery, TemplatesQuery};

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("Registries")
            .query::<PageQuery>(of)
            .answers::<Page<RegistrySummary>>(200, "A page of them by name.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("A registry")
            .answers::<RegistrySummary>(200, "It.", of)
            .fails(CATALOG)
    }

    pub fn create(of: &mut SchemaGenerator) -> Description {
        Description::new("Register a registry")
            .body::<RegistryDefinition>(of)
            .answers::<RegistrySummary>(201, "It is registered.", of)
            .with_header(201, "Location", "The registry's address.")
            .fails(&[AlreadyExists])
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Remove a registered registry; what was deployed from it stays")
            .answers::<RegistrySummary>(200, "Its last state.", of)
            .fails(&[NotFound])
    }

    pub fn templates(of: &mut SchemaGenerator) -> Description {
        Description::new("A registry's templates")
            .query::<TemplatesQuery>(of)
            .answers::<Page<TemplateSummary>>(
                200,
                "A page of those whose names match, by name.",
                of,
            )
            .fails(CATALOG)
    }

    pub fn template(of: &mut SchemaGenerator) -> Description {
        Description::new("What a template of a registry is and takes")
            .answers::<TemplateDescription>(200, "Its description.", of)
            .fails(CATALOG)
    }

    pub fn download(of: &mut SchemaGenerator) -> Description {
        Description::new("A file of a registry")
            .query::<DownloadQuery>(of)
            .raw_answer(200, "Its bytes.", "application/octet-stream")
            .fails(CATALOG)
    }
}

pub mod credentials {
    use super::*;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("Credentials of registries, never their secrets")
            .query::<PageQuery>(of)
            .answers::<Page<CredentialSummary>>(200, "A page of them by name.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("A registry's credential, never its secret")
            .answers::<CredentialSummary>(200, "What is known of it.", of)
            .fails(&[NotFound])
    }

    pub fn set(of: &mut SchemaGenerator) -> Description {
        Description::new("Make a credential, or give it a new secret")
            .body::<Credential>(of)
            .answers::<CredentialSummary>(201, "It is new.", of)
            .answers::<CredentialSummary>(200, "It has a new secret.", of)
    }

    pub fn delete(of: &mut SchemaGenerator) -> Description {
        Description::new("Remove a credential that no registry uses")
            .answers::<CredentialSummary>(200, "Its last state.", of)
            .fails(&[NotFound, InUse])
    }
}

pub mod expand {
    use super::*;

    pub fn post(of: &mut SchemaGenerator) -> Description {
        Description::new("Expand a configuration; nothing is stored or applied")
            .body::<Expand>(of)
            .answers::<Expansion>(200, "What it expands to.", of)
            .fails(EXPANSION)
    }
}

pub mod operations {
    use super::*;
    use crate::http::operations::ListQuery;

    pub fn list(of: &mut SchemaGenerator) -> Description {
        Description::new("Operations, latest first")
            .query::<ListQuery>(of)
            .answers::<Page<Operation>>(200, "A page of them.", of)
    }

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("An operation, with its progress")
            .answers::<Operation>(200, "It.", of)
            .fails(&[NotFound])
    }

    pub fn cancel(of: &mut SchemaGenerator) -> Description {
        stopping(Description::new("Stop an operation; nothing is undone"), of)
    }

    pub fn stop(of: &mut SchemaGenerator) -> Description {
        let description = "Stop what runs on a deployment; nothing is undone";
        stopping(Description::new(description), of)
            .header(
                "If-Match",
                "The deployment's `ETag`: it must not have changed since.",
            )
            .fails(&[PreconditionFailed])
    }

    fn stopping(description: Description, of: &mut SchemaGenerator) -> Description {
        description
            .header("Prefer", "`respond-async`: do not wait for the end.")
            .answers::<Operation>(200, "The operation, as it ended.", of)
            .answers::<Operation>(202, "It is to be stopped; only if preferred.", of)
            .with_header(202, "Location", "The operation's address.")
            .fails(&[NotFound, NothingRunning, Unavailable])
    }
}

pub mod events {
    use super::*;

    pub fn get(_: &mut SchemaGenerator) -> Description {
        Description::new("An operation as it goes on, until its end")
            .header("Last-Event-ID", "Goes on after this event.")
            .events("Server-sent events: `operation` with an Operation, `resource` with a ResourceReport.")
            .fails(&[NotFound])
    }
}
