//! Why a plan cannot be made.

use common::api::error::ErrorCode;
use common::model::limits::RESOURCES;
use common::model::object::metadata::MetadataError;
use common::model::{ObjectRef, Resource, ResourceName, TypeName};

use super::graph::DEPENDENCIES;
use super::kinds::KindError;
use super::references::ReferenceError;
use super::rule::RuleError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("the configuration has {count} resources, more than the limit of {RESOURCES}")]
    TooManyResources { count: usize },
    #[error("a resource cannot be applied as it is")]
    Fault(#[source] Box<Fault>),
    #[error("{} resources cannot be applied as they are", .others.len() + 1)]
    Faults {
        #[source]
        first: Box<Fault>,
        others: Vec<Fault>,
    },
}

/// What is wrong with one resource or output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("resource {resource}")]
    Resource {
        resource: ResourceName,
        #[source]
        problem: Problem,
    },
    #[error("resource {resource} has type {type_name}")]
    Type {
        resource: ResourceName,
        type_name: TypeName,
        #[source]
        error: KindError,
    },
    #[error("output {output}")]
    Output {
        output: String,
        #[source]
        error: ReferenceError,
    },
    #[error(
        "resource {resource} depends on {name}, but the deployment has no resource of that name"
    )]
    NoDependency {
        resource: ResourceName,
        name: String,
    },
    /// In the order in which they depend on each other.
    #[error("resources depend on each other in a circle: {}", circle(.0))]
    Circle(Vec<ResourceName>),
    #[error(
        "the resources have more than {DEPENDENCIES} dependencies together; depend on fewer: a resource waits for all that its dependencies wait for"
    )]
    TooManyDependencies { resource: ResourceName },
    #[error(
        "resources {} (type {}) and {} (type {}) are the same object, {object}: give one of them another metadata.name",
        .first.0, .first.1, .second.0, .second.1
    )]
    SameObject {
        first: (ResourceName, TypeName),
        second: (ResourceName, TypeName),
        object: ObjectRef,
    },
}

/// What is wrong within one resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("its type is {type_name} and its properties say {field} {stated}; make them the same")]
    OtherType {
        type_name: TypeName,
        field: &'static str,
        stated: String,
    },
    #[error("{0} is not a string")]
    NotText(String),
    #[error("its properties are not a map")]
    PropertiesNotMap,
    #[error("{0} in its properties is not a map")]
    NotMap(&'static str),
    #[error("objects of kind {0} cannot be applied")]
    NotApplicable(String),
    #[error(
        "{kind} objects belong to no namespace, but its properties name {namespace}; leave it out"
    )]
    NoNamespace { kind: String, namespace: String },
    #[error(
        "metadata.{field} is {text}, but must be known before anything is applied: it can refer only to another resource's metadata.name or metadata.namespace where that is written out"
    )]
    UnknownIdentity { field: &'static str, text: String },
    #[error("annotation {annotation}")]
    Rule {
        annotation: &'static str,
        #[source]
        error: RuleError,
    },
    #[error("{path}: {reason}")]
    Address { path: &'static str, reason: String },
    #[error("{path} {reason}")]
    Reserved { path: String, reason: String },
    #[error("objects of kind {0} cannot be shared by deployments; leave metadata.shared out")]
    NotShared(String),
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
}

fn circle(names: &[ResourceName]) -> String {
    let names = names.iter().chain(names.first());
    let names: Vec<&str> = names.map(ResourceName::as_str).collect();
    names.join(" → ")
}

impl PlanError {
    /// Of at least one fault.
    pub fn of(first: Fault, others: Vec<Fault>) -> Self {
        let first = Box::new(first);
        match others.is_empty() {
            true => Self::Fault(first),
            false => Self::Faults { first, others },
        }
    }
}

impl Fault {
    pub fn of(resource: &Resource, problem: impl Into<Problem>) -> Self {
        Self::Resource {
            resource: resource.name.clone(),
            problem: problem.into(),
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Resource { problem, .. } => problem.code(),
            Self::Type { .. } => ErrorCode::UnknownType,
            Self::Output { .. } | Self::NoDependency { .. } | Self::Circle(_) => {
                ErrorCode::InvalidReference
            }
            Self::TooManyDependencies { .. } => ErrorCode::TooManyReferences,
            Self::SameObject { .. } => ErrorCode::InvalidConfiguration,
        }
    }

    /// The resource that has to be changed.
    pub fn resource(&self) -> Option<&ResourceName> {
        match self {
            Self::Resource { resource, .. }
            | Self::Type { resource, .. }
            | Self::NoDependency { resource, .. }
            | Self::TooManyDependencies { resource } => Some(resource),
            Self::SameObject { second, .. } => Some(&second.0),
            Self::Circle(names) => names.first(),
            Self::Output { .. } => None,
        }
    }

    /// Where in its properties.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Resource { problem, .. } => problem.path(),
            _ => None,
        }
    }
}

impl Problem {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Reference(_) | Self::UnknownIdentity { .. } => ErrorCode::InvalidReference,
            Self::OtherType { .. }
            | Self::NotText(_)
            | Self::PropertiesNotMap
            | Self::NotMap(_)
            | Self::NotApplicable(_)
            | Self::NoNamespace { .. }
            | Self::Rule { .. }
            | Self::Address { .. }
            | Self::Reserved { .. }
            | Self::NotShared(_)
            | Self::Metadata(_) => ErrorCode::InvalidConfiguration,
        }
    }

    /// Where in the properties.
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Rule { annotation, .. } => Some(format!("metadata.annotations['{annotation}']")),
            Self::Address { path, .. } => Some((*path).to_owned()),
            Self::Reserved { path, .. } => Some(path.clone()),
            _ => None,
        }
    }
}
