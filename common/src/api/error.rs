//! The one table of error codes, and the body of every error answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::limits::MESSAGE_CHARS;

macro_rules! codes {
    ($($variant:ident $code:literal $status:literal $meaning:literal;)*) => {
        /// What went wrong, for programs. The wire names are constants: renaming one breaks clients.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
        pub enum ErrorCode {
            $(#[doc = $meaning] #[serde(rename = $code)] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $code,)* }
            }

            /// The HTTP status of the code.
            pub const fn status(self) -> u16 {
                match self { $(ErrorCode::$variant => $status,)* }
            }

            /// One sentence for the documentation.
            pub const fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidRequest         "INVALID_REQUEST"          400 "The body, the query, a header or a name of the request cannot be read.";
    InvalidConfiguration   "INVALID_CONFIGURATION"    400 "The configuration, or the result of a template, is not valid.";
    InvalidSchema          "INVALID_SCHEMA"           400 "The schema of a template is not valid.";
    InvalidProperties      "INVALID_PROPERTIES"       400 "The properties do not match the schema of the template.";
    InvalidReference       "INVALID_REFERENCE"        400 "A $(ref...) is malformed, refers to an unknown name, or is part of a cycle.";
    TemplateFailed         "TEMPLATE_FAILED"          400 "A template raised an error, or has a syntax error.";
    TemplateTimeout        "TEMPLATE_TIMEOUT"         400 "A template exceeded its time limit.";
    TemplateMemory         "TEMPLATE_MEMORY"          400 "A template exceeded its memory limit.";
    TemplateOutput         "TEMPLATE_OUTPUT"          400 "The output of a template exceeds its size limit.";
    TemplateFuel           "TEMPLATE_FUEL"            400 "A Jinja or Go template exceeded its limit of steps, or of templates that run each other.";
    TemplateForbidden      "TEMPLATE_FORBIDDEN"       400 "A template tried something that the sandbox does not allow.";
    TemplateImport         "TEMPLATE_IMPORT"          400 "A template imports a module that is neither available to templates nor among the imports.";
    TemplateCrashed        "TEMPLATE_CRASHED"         400 "A template crashed its process, or corrupted the output of its process.";
    TemplateBlocked        "TEMPLATE_BLOCKED"         400 "A template crashed its process several times for this caller, and does not run for the caller again for some minutes.";
    PatternTooCostly       "PATTERN_TOO_COSTLY"       400 "A pattern of a schema exceeded its limit of steps on a value.";
    YamlTooLarge           "YAML_TOO_LARGE"           400 "A YAML text exceeds its limit of size or depth. Repeated aliases count each time.";
    TooDeep                "TOO_DEEP"                 400 "Templates are nested too deeply.";
    TooManyReferences      "TOO_MANY_REFERENCES"      400 "There are too many references and dependencies, or their values are too large.";
    TemplateUntrusted      "TEMPLATE_UNTRUSTED"       400 "The registry requires signed templates, and this one has no signature, or its files do not match the signature.";
    TooManyResources       "TOO_MANY_RESOURCES"       400 "The configuration expands to too many resources.";
    InvalidBackup          "INVALID_BACKUP"           400 "The file is not a backup, is damaged or incomplete, or comes from a newer manager.";
    UnknownType            "UNKNOWN_TYPE"             400 "A type is neither an import, nor a template reference, nor a kind that the cluster serves.";
    Unauthenticated        "UNAUTHENTICATED"          401 "The request has no credentials, or credentials that the service does not accept.";
    Forbidden              "FORBIDDEN"                403 "The caller lacks a permission. The message names it.";
    PermissionsMissing     "PERMISSIONS_MISSING"      403 "The user lacks cluster permissions that the change needs. Nothing was changed; `causes` lists them.";
    QuotaExceeded          "QUOTA_EXCEEDED"           403 "The namespace has reached a quota. The message names it.";
    NotFound               "NOT_FOUND"                404 "The object that the request names does not exist.";
    TemplateNotFound       "TEMPLATE_NOT_FOUND"       404 "The registry does not have the template or the version of a template reference.";
    MethodNotAllowed       "METHOD_NOT_ALLOWED"       405 "The route exists, but does not support this method.";
    RequestTimeout         "REQUEST_TIMEOUT"          408 "The body of the request arrived too slowly, or not completely.";
    AlreadyExists          "ALREADY_EXISTS"           409 "The name is already in use, for example by a deployment or a registry.";
    Conflict               "CONFLICT"                 409 "The Template object has changed since the caller read it (`metadata.resourceVersion`).";
    StoreNotEmpty          "STORE_NOT_EMPTY"          409 "A backup can be restored only into an empty store.";
    ManagersBehind         "MANAGERS_BEHIND"          409 "A manager runs that cannot read the next format of the store, or does not have its next key. The message names it.";
    InUse                  "IN_USE"                   409 "The object cannot be removed, because it is in use. The message names its users.";
    OperationRunning       "OPERATION_RUNNING"        409 "Another operation is running on the deployment.";
    OperationStopped       "OPERATION_STOPPED"        409 "The operation was stopped on request. Nothing was undone.";
    NeverApplied           "NEVER_APPLIED"            409 "The manifest is a preview that was never applied, so a rollback to it is not possible.";
    Superseded             "SUPERSEDED"               409 "A later operation has taken over the deployment. This operation makes no more changes.";
    NothingRunning         "NOTHING_RUNNING"          409 "There is no operation to stop: none is running, or it has ended.";
    PreconditionFailed     "PRECONDITION_FAILED"      412 "The deployment has changed since the caller read it (If-Match), or since the preview.";
    PayloadTooLarge        "PAYLOAD_TOO_LARGE"        413 "The body of the request, or an answer between services, exceeds a limit of bytes, values or depth.";
    UriTooLong             "URI_TOO_LONG"             414 "The path and the query of the request exceed their size limit.";
    UnsupportedMediaType   "UNSUPPORTED_MEDIA_TYPE"   415 "The body of the request is neither JSON nor YAML, or is compressed.";
    Misdirected            "MISDIRECTED"              421 "The Host header names a host that the service does not answer for.";
    InvalidTemplate        "INVALID_TEMPLATE"         422 "A Template object, or the values of its parameters, are not valid. `causes` lists each fault.";
    DeletesNotAllowed      "DELETES_NOT_ALLOWED"      422 "The update would delete most objects of the deployment, and the request does not allow that (allowDeletes).";
    IdempotencyConflict    "IDEMPOTENCY_CONFLICT"     422 "The Idempotency-Key was used before with a different request.";
    ResourcesFailed        "RESOURCES_FAILED"         422 "The cluster refused some resources, or they failed. `causes` lists them.";
    TooManyRequests        "TOO_MANY_REQUESTS"        429 "The caller exceeds its share of requests. Retry-After says when to retry.";
    HeadersTooLarge        "HEADERS_TOO_LARGE"        431 "The headers of the request exceed their size limit.";
    Internal               "INTERNAL"                 500 "The service has a fault. Its log has the request id.";
    RegistryUnavailable    "REGISTRY_UNAVAILABLE"     503 "A template registry is unreachable.";
    ExpanderUnavailable    "EXPANDER_UNAVAILABLE"     503 "expandybird is unreachable, or cannot run templates.";
    DeployerUnavailable    "DEPLOYER_UNAVAILABLE"     503 "resourcifier is unreachable.";
    ClusterUnavailable     "CLUSTER_UNAVAILABLE"      503 "The Kubernetes API server is unreachable, or kubectl cannot be run.";
    Unavailable            "UNAVAILABLE"              503 "The service cannot accept the request now. Retry later.";
    Timeout                "TIMEOUT"                  504 "The request or operation did not finish in time. The message says what is missing.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The body of every error answer.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct ErrorBody {
    /// For programs: it stays the same when the message changes.
    pub code: ErrorCode,
    /// A sentence: what is wrong, where, why, and what to do.
    pub message: String,
    /// Further faults of the same request, or the causes of this one, in the same shape.
    #[serde(default)]
    pub causes: Vec<ErrorBody>,
    /// Absent if the fault is in no file and at no resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The id of the request, which finds it in the log of the service. The service that answers sets it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// Seconds until a retry is useful: the header `Retry-After` of the answer.
    #[serde(skip)]
    pub retry_after: Option<u64>,
}

impl ErrorBody {
    /// A message longer than the limit is clipped and marked as such.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: clipped(message.into()),
            causes: Vec::new(),
            location: None,
            request_id: String::new(),
            retry_after: None,
        }
    }

    /// Replaces the location. Its names are the caller's, and are clipped like a message.
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(Location {
            file: location.file.map(clipped),
            resource: location.resource.map(clipped),
            path: location.path.map(clipped),
            ..location
        });
        self
    }

    /// Adds to the causes that are there.
    pub fn caused_by(mut self, causes: impl IntoIterator<Item = ErrorBody>) -> Self {
        self.causes.extend(causes);
        self
    }
}

fn clipped(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}… (clipped)", &message[..end]),
        None => message,
    }
}

/// Where a fault is in the caller's input. Lines and columns count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Location {
    /// The name of the configuration, or of an import or template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In characters, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The name of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The layout path of the resource (`$.resources[0]`), or a path within its properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl fmt::Display for Location {
    /// `file:line:column`, as far as known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.file.clone(),
            self.line.map(|n| n.to_string()),
            self.column.map(|n| n.to_string()),
        ];
        let known: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(&known.join(":"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_codes_is_a_promise() {
        let table: Vec<_> = ErrorCode::ALL
            .iter()
            .map(|c| format!("{} {c} {}", c.status(), c.meaning()))
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn a_code_is_written_as_the_table_says() {
        for &code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn a_location_takes_no_more_room_than_its_message() {
        let long = || Some("ä".repeat(MESSAGE_CHARS + 1));
        let location = Location {
            file: long(),
            resource: long(),
            path: long(),
            line: Some(3),
            ..Location::default()
        };
        let body = ErrorBody::new(ErrorCode::Internal, "").at(location);
        let location = body.location.unwrap();
        for text in [location.file, location.resource, location.path] {
            assert!(text.unwrap().ends_with("… (clipped)"));
        }
        assert_eq!(location.line, Some(3));
    }

    #[test]
    fn a_very_long_message_is_clipped_and_says_so() {
        let body = ErrorBody::new(ErrorCode::Internal, "ä".repeat(MESSAGE_CHARS + 1));
        assert!(body.message.ends_with("… (clipped)"));
        assert_eq!(
            body.message.chars().count(),
            MESSAGE_CHARS + "… (clipped)".chars().count()
        );
    }
}
