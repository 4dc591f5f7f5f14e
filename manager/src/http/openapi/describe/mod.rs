//! What each route takes and returns, by the names of the handlers.

pub mod activity;
pub mod clusters;
pub mod credentials;
pub mod deployments;
pub mod live;
pub mod manifests;
pub mod operations;
pub mod previews;
pub mod registries;
pub mod stored_templates;
pub mod types;

use common::api::deployer::ResourceReport;
use common::api::error::ErrorCode::{self, *};
use common::api::export::{Export, ExportQuery, Exported};
use common::api::manager::*;
use common::api::page::{Page, PageQuery};
use common::api::upgrade::{UpgradeDeployment, WhatIf, WhatIfPage, WhatIfQuery};
use common::model::{Cluster, Credential, Deployment, Manifest, Operation, RegistryDefinition};
use schemars::generate::SchemaGenerator;
use serde_json::{Value, json};

use super::description::Description;
use crate::service::writes::asked::{Kind, key_schema};

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

/// The header of a write that starts no operation.
pub fn idempotency_key() -> Value {
    let described = Description::new("").header_with(
        IDEMPOTENCY_KEY,
        "Makes the request safe to repeat: a request with the same key gets the answer of the first one.",
        key_schema(),
    );
    json!(described.parameters.first())
}

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
        Description::new("Get the caller, as authentication identified it")
            .query::<WhoamiQuery>(of)
            .answers::<Whoami>(200, "The user.", of)
    }
}

pub mod openapi {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Get this document").answers::<serde_json::Value>(200, "OpenAPI 3.1.", of)
    }
}

pub mod readiness {
    use common::server::observe::health::Readiness;

    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new("Check whether the manager is ready, and what is unavailable")
            .answers::<Readiness>(200, "All dependencies are available.", of)
            .answers::<Readiness>(503, "A dependency is unavailable. The checks name it.", of)
    }
}

pub mod admin {
    use common::api::admin::{ARCHIVE, Formats, Restored, Rotated, Verification};

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
            .fails(&[ManagersBehind, Unavailable])
    }

    pub fn formats(of: &mut SchemaGenerator) -> Description {
        Description::new("Show the format of the store, and the managers that use it")
            .answers::<Formats>(200, "The formats.", of)
            .fails(&[Unavailable])
    }

    pub fn upgrade(of: &mut SchemaGenerator) -> Description {
        Description::new("Put the newest format of the store in force")
            .answers::<Formats>(200, "The newest format is in force.", of)
            .fails(&[ManagersBehind, Unavailable])
    }

    pub fn verify(of: &mut SchemaGenerator) -> Description {
        Description::new("Check that the store is complete and consistent").answers::<Verification>(
            200,
            "What was checked, and the problems.",
            of,
        )
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

pub mod expand {
    use super::*;

    pub fn post(of: &mut SchemaGenerator) -> Description {
        Description::new("Expand a configuration. Nothing is stored or applied")
            .body::<Expand>(of)
            .answers::<Expansion>(200, "The expansion.", of)
            .fails(EXPANSION)
    }
}

pub mod export {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        Description::new(
            "Live objects as a Template object, without what their cluster has written",
        )
        .query::<ExportQuery>(of)
        .answers::<serde_json::Value>(200, "A Template. Values of Secrets are parameters.", of)
        .fails(&[
            NotFound,
            Forbidden,
            UnknownType,
            DeployerUnavailable,
            ClusterUnavailable,
            Timeout,
        ])
    }

    pub fn post(of: &mut SchemaGenerator) -> Description {
        Description::new("Live objects, with the caller's rights and without the values of Secrets")
            .body::<Export>(of)
            .answers::<Exported>(200, "The objects, in the order of the request.", of)
            .fails(&[
                NotFound,
                Forbidden,
                UnknownType,
                DeployerUnavailable,
                ClusterUnavailable,
                Timeout,
            ])
    }
}

pub mod events {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        let kinds = json!({
            OperationEvent::OPERATION: of.subschema_for::<Operation>(),
            OperationEvent::RESOURCE: of.subschema_for::<ResourceReport>(),
        });
        Description::new("Follow an operation until its end")
            .header("Last-Event-ID", "Continues after this event.")
            .events("Server-sent events: `operation` with an Operation, `resource` with a ResourceReport.", kinds)
            .fails(&[NotFound])
    }
}

pub mod many {
    use super::*;

    pub fn get(of: &mut SchemaGenerator) -> Description {
        let kinds = json!({
            OperationEvent::OPERATION: of.subschema_for::<Operation>(),
            OperationEvent::RESOURCE: of.subschema_for::<OperationReport>(),
            OperationEvent::REFUSED: of.subschema_for::<OperationRefusal>(),
        });
        Description::new("Follow many operations in one stream")
            .query::<OperationEventsQuery>(of)
            .header("Last-Event-ID", "Continues after this event. The query must be the same.")
            .events("Server-sent events: `operation` with an Operation, `resource` with an OperationReport, `refused` with an OperationRefusal.", kinds)
            .fails(&[NotFound])
    }
}
