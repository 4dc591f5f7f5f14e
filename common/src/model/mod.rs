//! The types of Deployment Manager: plain data, shared by the services and the command line.
//!
//! Values are valid by construction: each kind of name is a type with a `parse`. Nothing here knows HTTP, stores,
//! processes or clocks.

pub mod configuration;
pub mod credential;
pub mod deployment;
pub mod generated;
pub mod identity;
pub mod language;
pub mod layout;
pub mod limits;
pub mod manifest;
pub mod metadata;
pub mod name;
pub mod object;
pub mod operation;
pub mod preview;
pub mod registry;
pub mod scope;
pub mod template;
pub mod version;

pub use configuration::{
    Configuration, InstanceOutputs, Output, OutputKind, PromisedOutput, Resource,
};
pub use credential::{Credential, CredentialType, Secret};
pub use deployment::{Deployment, DeploymentState, DeploymentStatus, Drift, DriftPolicy};
pub use generated::{GeneratedValue, Regenerate, RegenerateError, Regenerates};
pub use identity::{Identity, IdentityError};
pub use language::Language;
pub use layout::{Layout, LayoutNode, LayoutPath, SecretValue};
pub use manifest::{InputConfig, Manifest, ManifestDigests, ResolvedFile, ResolvedType};
pub use metadata::{ConflictPolicy, CreatePolicy, DeletePolicy, ResourceMetadata, UpdatePolicy};
pub use name::{
    CredentialName, DeploymentName, ManifestName, NameError, Namespace, OperationId, RegistryName,
    ResourceName, ServiceAccountName, TemplateName, TypeName,
};
pub use object::{AppliedObject, ObjectRef};
pub use operation::{Operation, OperationStatus, OperationType, Progress, Rollback};
pub use preview::{DiffSummary, Preview};
pub use registry::{RegistryDefinition, RegistryType};
pub use scope::Scope;
pub use template::Import;
pub use version::{Version, VersionError};
