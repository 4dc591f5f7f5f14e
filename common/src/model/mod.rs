//! The types of Deployment Manager: plain data, shared by the services and the command line.
//!
//! Values are valid by construction: each kind of name is a type with a `parse`. Nothing here knows HTTP, stores,
//! processes or clocks.

pub mod cluster;
pub mod deployment;
pub mod hook;
pub mod identity;
pub mod language;
pub mod limits;
pub mod manifest;
pub mod name;
pub mod object;
pub mod registry;
pub mod template;

pub use cluster::{Capacity, Cluster};
pub use deployment::operation::{Operation, OperationStatus, OperationType, Progress, Rollback};
pub use deployment::preview::{DiffSummary, Preview};
pub use deployment::summary::DeploymentSummary;
pub use deployment::{Deployment, DeploymentState, DeploymentStatus, Drift, DriftPolicy};
pub use hook::{AppliedChart, ChartPath, Hook, HookDeletePolicy, HookEvent};
pub use identity::{Identity, IdentityError};
pub use language::Language;
pub use manifest::configuration::{
    Configuration, InstanceOutputs, Output, OutputKind, PromisedOutput, Resource,
};
pub use manifest::layout::{Layout, LayoutNode, LayoutPath, Origin, SecretValue};
pub use manifest::{
    InputConfig, Manifest, ManifestDigests, Provenance, ResolvedFile, ResolvedType,
};
pub use name::{
    ClusterName, CredentialName, DeploymentName, ManifestName, NameError, Namespace, OperationId,
    RegistryName, ResourceName, ServiceAccountName, TemplateName, TypeName,
};
pub use object::metadata::{
    ConflictPolicy, CreatePolicy, DeletePolicy, Predecessor, ReadyCheck, ResourceMetadata,
    UpdatePolicy,
};
pub use object::{AppliedObject, DEPLOYMENT_LABEL, ObjectRef};
pub use registry::credential::{Credential, CredentialType, Secret};
pub use registry::scope::Scope;
pub use registry::version::{Version, VersionError};
pub use registry::{RegistryDefinition, RegistryType};
pub use template::Import;
pub use template::generated::{
    GeneratedValue, INHERITED, Regenerate, RegenerateError, Regenerates,
};
