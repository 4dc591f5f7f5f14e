//! The errors of registries: why a reference leads to no template.

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::model::RegistryType;
use common::registry::PathError;
use common::registry::chart::ChartError;
use common::registry::oci::OciError;
use common::yaml::YamlError;

use crate::adapter::git::GitError;
use crate::catalog::package::PackageError;
use crate::catalog::signed::SignatureError;
use crate::reference::ReferenceError;
use crate::registrations::BoxError;
use crate::transport::WebError;

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    #[error("there is no default registry: set --registry, or put the bundled one into one of {}", .tried.join(", "))]
    NoDefault { tried: Vec<String> },
    #[error("there is no registry '{name}'{}; the registries are {}, and github.com/<owner>/<repository>", meant(.similar), listed(.known))]
    UnknownRegistry {
        name: String,
        similar: Option<String>,
        known: Vec<String>,
    },
    #[error("{reference:?} is not a template reference: {unknown}")]
    UnknownRegistryOf {
        reference: String,
        unknown: Box<RegistryError>,
    },
    #[error("'{name}' is neither a registry nor a collection of the default one{}; the registries are {}, and the default one has {}", meant(.similar), listed(.registries), its_collections(.collections))]
    NeitherRegistryNorCollection {
        name: String,
        similar: Option<String>,
        registries: Vec<String>,
        collections: Vec<String>,
    },
    #[error("registry {registry} does not exist, or is not public")]
    RegistryMissing { registry: String },
    #[error("registry {registry} has no branch or tag '{reference}'")]
    NoRef { registry: String, reference: String },
    #[error("registry {registry} cannot be fetched: {error}")]
    Git { registry: String, error: GitError },
    #[error("registry {registry} has no collection '{collection}'{}", known(.collections, "collections"))]
    CollectionNotFound {
        registry: String,
        collection: String,
        collections: Vec<String>,
    },
    #[error("registry {registry} has no template '{template}'{}", known(.templates, "templates"))]
    TemplateNotFound {
        registry: String,
        template: String,
        templates: Vec<String>,
    },
    #[error("template '{template}' of registry {registry} has no version {wanted}{}", known(.versions, "versions"))]
    VersionNotFound {
        registry: String,
        template: String,
        wanted: String,
        versions: Vec<String>,
    },
    #[error(
        "template '{template}' of registry {registry} has two folders of one version, '{first}' and '{second}'; remove one"
    )]
    SameVersion {
        registry: String,
        template: String,
        first: String,
        second: String,
    },
    #[error(
        "'{folder}' contains no template: it needs {template}.py, {template}.jinja, {template}.gotmpl, {template}.yaml with Kubernetes objects, or a package's Chart.yaml and manifests"
    )]
    NoTemplateFile { folder: String, template: String },
    #[error(
        "'{folder}' contains two templates, {template}.py and {template}.jinja; keep one of them"
    )]
    TwoTemplateFiles { folder: String, template: String },
    #[error("there is no file '{file}'")]
    FileNotFound { file: String },
    #[error("there is no template at {url}")]
    UrlNotFound { url: String },
    #[error("schema '{schema}' cannot be read: {source}")]
    SchemaYaml {
        schema: String,
        source: Box<YamlError>,
    },
    #[error("schema '{schema}' is not valid: {reason}")]
    SchemaShape { schema: String, reason: String },
    #[error("schema '{schema}' requests files that do not exist: {}", .imports.join(", "))]
    ImportsNotFound {
        schema: String,
        imports: Vec<String>,
    },
    #[error("schema '{schema}' may only import files at or below its own folder: {}", .faults.join("; "))]
    ImportPaths { schema: String, faults: Vec<String> },
    #[error("'{file}' is not a valid list of collections: {}", .faults.join("; "))]
    Metadata { file: String, faults: Vec<String> },
    #[error(
        "registry {registry} has collection '{collection}' in '{folder}', but that folder does not exist"
    )]
    CollectionFolder {
        registry: String,
        collection: String,
        folder: String,
    },
    #[error("file '{file}' is not UTF-8 text")]
    NotText { file: String },
    #[error("file '{file}' is larger than {limit} bytes")]
    FileTooLarge { file: String, limit: usize },
    #[error("template '{template}' has more than {limit} bytes in all of its files")]
    TemplateTooLarge { template: String, limit: usize },
    #[error("schema '{schema}' imports more than {limit} files")]
    TooManyImports { schema: String, limit: usize },
    #[error("folder '{folder}' has {limit} entries or more; divide it into collections")]
    TooManyEntries { folder: String, limit: usize },
    #[error("'{path}' is a link or a special file; registries may contain only files and folders")]
    NotOrdinary { path: String },
    #[error(
        "registry {registry} is not a chart repository; its templates are written {registry}/{chart}:v1"
    )]
    NotCharts { registry: String, chart: String },
    #[error("{url} does not exist: a chart repository has its index there")]
    NoChartIndex { url: String },
    #[error("{reason}: write the version of chart '{chart}' like 1.2.3, or a range like ^1.2")]
    ChartVersion { chart: String, reason: String },
    #[error("registry {registry} has this chart at {url}; refer to it there")]
    ChartElsewhere { registry: String, url: String },
    #[error("chart '{chart}' cannot be described: {error}")]
    Chart { chart: String, error: ChartError },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("the pattern {pattern:?} is not a regular expression: {reason}")]
    Pattern { pattern: String, reason: String },
    #[error("'{path}' of the registry cannot be read: {source}")]
    Io {
        path: String,
        source: std::io::Error,
    },
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Signature(#[from] SignatureError),
    #[error(transparent)]
    Web(#[from] WebError),
    #[error("registry {registry}: {error}")]
    Oci {
        registry: String,
        error: OciError<WebError>,
    },
    #[error(
        "registry {registry} cannot list its templates: its repository has no index, and its host lists no repositories; use its templates by name"
    )]
    NoIndex { registry: String },
    #[error("'{version}' of registry {registry} is not a template: {reason}")]
    Artifact {
        registry: String,
        version: String,
        reason: String,
    },
    #[error("{url} returned an answer that cannot be read: {reason}")]
    Malformed { url: String, reason: String },
    #[error(
        "{url} does not exist: a registry on a web server must list its files there, in the format of sha256sum"
    )]
    NoList { url: String },
    #[error(
        "file '{file}' does not match the digest in its registry's list; the file was changed, or the list is out of date"
    )]
    Digest { file: String },
    /// The error of a request that several callers shared.
    #[error(transparent)]
    Again(Arc<RegistryError>),
    #[error("reading from the registry was interrupted; try again")]
    Cut,
    #[error("'{what}' was not resolved within {seconds} s; its registry is too slow")]
    TimedOut { what: String, seconds: u64 },
    #[error(
        "--registry {text:?} is neither a folder, nor [github.com/]<owner>/<repository>[/<collection>], nor a registered registry's name"
    )]
    Setting { text: String },
    #[error("--registry-ca {file} cannot be used: {reason}")]
    Authorities { file: String, reason: String },
    #[error("{text:?} is not the URL of GitHub's API: write it like https://api.github.com")]
    ApiUrl { text: String },
    #[error("{registry_type} registry {url:?} cannot be registered: {reason}")]
    Definition {
        registry_type: RegistryType,
        url: String,
        reason: String,
    },
    #[error("registry {registry} cannot be opened with its credential: {source}")]
    Credential { registry: String, source: BoxError },
    #[error("the registered registries cannot be read")]
    Registrations(#[source] BoxError),
}

/// The largest number of names in an error.
const NAMED: usize = 10;

fn known(names: &[String], noun: &str) -> String {
    if names.is_empty() {
        return format!("; it has no {noun}");
    }
    format!("; its {noun} are {}", listed(names))
}

fn listed(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

fn its_collections(names: &[String]) -> String {
    match names.is_empty() {
        true => "no collections".to_owned(),
        false => format!("the collections {}", listed(names)),
    }
}

fn meant(similar: &Option<String>) -> String {
    let similar = similar.as_ref();
    similar.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

impl RegistryError {
    /// The registry did not answer, so its earlier answers stay in use. A refusal is an answer.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Web(error) => error.is_absence(),
            Self::Git { error, .. } => error.is_absence(),
            Self::Oci { error, .. } => match error {
                OciError::Transport(error) => error.is_absence(),
                OciError::Status { status, .. } => status.is_server_error(),
                _ => false,
            },
            Self::Again(error) => error.is_absence(),
            Self::TimedOut { .. } | Self::Cut => true,
            _ => false,
        }
    }

    /// A fault of the caller is a 4xx. An unreachable registry is a 503.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Reference(_) | Self::ChartVersion { .. } | Self::UnknownRegistryOf { .. } => {
                ErrorCode::UnknownType
            }
            Self::RegistryMissing { .. }
            | Self::NoList { .. }
            | Self::NotCharts { .. }
            | Self::NoChartIndex { .. }
            | Self::ChartElsewhere { .. }
            | Self::NoRef { .. }
            | Self::NoIndex { .. }
            | Self::CollectionNotFound { .. }
            | Self::NeitherRegistryNorCollection { .. }
            | Self::CollectionFolder { .. }
            | Self::TemplateNotFound { .. }
            | Self::VersionNotFound { .. }
            | Self::SameVersion { .. }
            | Self::NoTemplateFile { .. }
            | Self::TwoTemplateFiles { .. }
            | Self::UrlNotFound { .. }
            | Self::Package(PackageError::NoManifests { .. }) => ErrorCode::TemplateNotFound,
            Self::UnknownRegistry { .. } | Self::FileNotFound { .. } => ErrorCode::NotFound,
            Self::SchemaYaml { .. }
            | Self::SchemaShape { .. }
            | Self::ImportsNotFound { .. }
            | Self::ImportPaths { .. }
            | Self::TooManyImports { .. } => ErrorCode::InvalidSchema,
            Self::NotText { .. }
            | Self::FileTooLarge { .. }
            | Self::TemplateTooLarge { .. }
            | Self::TooManyEntries { .. }
            | Self::NotOrdinary { .. }
            | Self::Artifact { .. }
            | Self::Chart { .. }
            | Self::Package(_)
            | Self::Metadata { .. } => ErrorCode::InvalidConfiguration,
            Self::Path(_)
            | Self::Pattern { .. }
            | Self::Setting { .. }
            | Self::Authorities { .. }
            | Self::Definition { .. }
            | Self::ApiUrl { .. } => ErrorCode::InvalidRequest,
            Self::Signature(_) => ErrorCode::TemplateUntrusted,
            Self::Web(error) => error.code(),
            Self::Again(error) => error.code(),
            Self::Oci {
                error: OciError::Transport(error),
                ..
            } => error.code(),
            Self::Registrations(_) => ErrorCode::Internal,
            Self::NoDefault { .. }
            | Self::Credential { .. }
            | Self::Git { .. }
            | Self::Oci { .. }
            | Self::Io { .. }
            | Self::Malformed { .. }
            | Self::Digest { .. }
            | Self::Cut
            | Self::TimedOut { .. } => ErrorCode::RegistryUnavailable,
        }
    }
}
