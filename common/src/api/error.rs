//! The one table of error codes, and the body that every error answer has.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::limits::MESSAGE_CHARS;

macro_rules! codes {
    ($($variant:ident $code:literal $status:literal $meaning:literal;)*) => {
        /// What went wrong, for programs. The wire name is a constant: renaming one breaks clients.
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

            /// The HTTP status that goes with it.
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
    InvalidRequest         "INVALID_REQUEST"          400 "The request itself cannot be read: body, query, header or name.";
    InvalidConfiguration   "INVALID_CONFIGURATION"    400 "The configuration, or what a template made, is not one.";
    InvalidSchema          "INVALID_SCHEMA"           400 "A template's schema is not a valid schema.";
    InvalidProperties      "INVALID_PROPERTIES"       400 "A template's schema refuses the properties given to it.";
    InvalidReference       "INVALID_REFERENCE"        400 "A $(ref...) is malformed, names nothing, or is part of a cycle.";
    TemplateFailed         "TEMPLATE_FAILED"          400 "A template raised an error or has a syntax error.";
    TemplateTimeout        "TEMPLATE_TIMEOUT"         400 "A template ran longer than it may.";
    TemplateMemory         "TEMPLATE_MEMORY"          400 "A template used more memory than it may.";
    TemplateOutput         "TEMPLATE_OUTPUT"          400 "A template's output is larger than it may be.";
    TemplateFuel           "TEMPLATE_FUEL"            400 "A Jinja template took more steps than it may.";
    TemplateForbidden      "TEMPLATE_FORBIDDEN"       400 "A template tried what the sandbox does not allow.";
    TemplateImport         "TEMPLATE_IMPORT"          400 "A template imports a module that is neither for templates nor among the imports.";
    TemplateCrashed        "TEMPLATE_CRASHED"         400 "A template brought its own process down, or garbled what it says.";
    TemplateBlocked        "TEMPLATE_BLOCKED"         400 "A template brought its process down more than once, and is not run again for some minutes.";
    PatternTooCostly       "PATTERN_TOO_COSTLY"       400 "A schema's pattern takes more steps on a value than it may.";
    YamlTooLarge           "YAML_TOO_LARGE"           400 "A YAML text is larger or deeper than it may be, with what its aliases repeat.";
    TooDeep                "TOO_DEEP"                 400 "Templates are nested deeper than they may be.";
    TooManyReferences      "TOO_MANY_REFERENCES"      400 "References and dependencies are more, or bring in more, than is followed.";
    TemplateUntrusted      "TEMPLATE_UNTRUSTED"       400 "The registry requires that its templates are signed, and this one is not, or is not what was signed.";
    TooManyResources       "TOO_MANY_RESOURCES"       400 "The configuration expands to more resources than it may.";
    InvalidBackup          "INVALID_BACKUP"           400 "What is to be restored is no backup, is damaged or cut off, or was made by a newer manager.";
    UnknownType            "UNKNOWN_TYPE"             400 "A type is neither an import, nor a template reference, nor a kind that the cluster serves.";
    Unauthenticated        "UNAUTHENTICATED"          401 "The request does not say who asks, or not in a way that is accepted here.";
    Forbidden              "FORBIDDEN"                403 "Who asks may not do this; the message names what would allow it.";
    PermissionsMissing     "PERMISSIONS_MISSING"      403 "The cluster does not let whom it is done for do all that is needed; nothing was touched, the causes name each permission.";
    QuotaExceeded          "QUOTA_EXCEEDED"           403 "The namespace holds as much as the operator lets it; the message says of what.";
    NotFound               "NOT_FOUND"                404 "What the request names does not exist.";
    TemplateNotFound       "TEMPLATE_NOT_FOUND"       404 "A template reference names no template or version of its registry.";
    MethodNotAllowed       "METHOD_NOT_ALLOWED"       405 "The route exists, but not with this method.";
    RequestTimeout         "REQUEST_TIMEOUT"          408 "The request's body came too slowly, or stopped coming.";
    AlreadyExists          "ALREADY_EXISTS"           409 "Something of this name exists: a deployment, a registry.";
    StoreNotEmpty          "STORE_NOT_EMPTY"          409 "A backup is only restored into a store that holds nothing.";
    InUse                  "IN_USE"                   409 "What is to be removed is used by what the message names.";
    OperationRunning       "OPERATION_RUNNING"        409 "Another operation is running on the deployment.";
    OperationStopped       "OPERATION_STOPPED"        409 "The operation was stopped on request; nothing was undone.";
    NeverApplied           "NEVER_APPLIED"            409 "The manifest is a preview that was never applied: nothing can be rolled back to it.";
    Superseded             "SUPERSEDED"               409 "A later operation has taken the deployment over: this one writes nothing any more.";
    NothingRunning         "NOTHING_RUNNING"          409 "There is no operation to stop: none is running, or it is done.";
    PreconditionFailed     "PRECONDITION_FAILED"      412 "What the caller goes by has changed since: the deployment (If-Match), or what a preview showed.";
    PayloadTooLarge        "PAYLOAD_TOO_LARGE"        413 "The request's body, or an answer that a service gives to another for it, is larger than it may be: in bytes, values or levels.";
    UriTooLong             "URI_TOO_LONG"             414 "The request's path with its query is longer than it may be.";
    UnsupportedMediaType   "UNSUPPORTED_MEDIA_TYPE"   415 "The request's body is neither JSON nor YAML, or is compressed.";
    DeletesNotAllowed      "DELETES_NOT_ALLOWED"      422 "The update would delete most of the deployment's objects, and the request does not allow that (allowDeletes).";
    IdempotencyConflict    "IDEMPOTENCY_CONFLICT"     422 "The Idempotency-Key was given before, with another request.";
    ResourcesFailed        "RESOURCES_FAILED"         422 "The cluster refused some resources, or they failed; the causes name each.";
    TooManyRequests        "TOO_MANY_REQUESTS"        429 "The caller asks more often, or for more at once, than one caller may; Retry-After says when to go on.";
    HeadersTooLarge        "HEADERS_TOO_LARGE"        431 "The request's headers are larger than they may be.";
    Internal               "INTERNAL"                 500 "A fault of the service; its log has the request id.";
    RegistryUnavailable    "REGISTRY_UNAVAILABLE"     503 "A template registry cannot be reached.";
    ExpanderUnavailable    "EXPANDER_UNAVAILABLE"     503 "expandybird cannot be reached or cannot run templates.";
    DeployerUnavailable    "DEPLOYER_UNAVAILABLE"     503 "resourcifier cannot be reached.";
    ClusterUnavailable     "CLUSTER_UNAVAILABLE"      503 "The Kubernetes API server cannot be reached, or kubectl cannot be run.";
    Unavailable            "UNAVAILABLE"              503 "The service cannot take the request now; try again.";
    Timeout                "TIMEOUT"                  504 "What was asked did not finish in time; the message says what is missing.";
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
    pub code: ErrorCode,
    /// One sentence: what, where, why, and what next.
    pub message: String,
    /// Further faults of the same request, or what lies beneath this one: each with the same shape.
    #[serde(default)]
    pub causes: Vec<ErrorBody>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Set by the service that answers; finds the request in its log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// Seconds until it is worth asking again: the header `Retry-After` of an answer, on either side.
    #[serde(skip)]
    pub retry_after: Option<u64>,
}

impl ErrorBody {
    /// A message longer than the limit is clipped, and says so.
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

    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

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

/// Where in the caller's input a fault is. Lines and columns count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Location {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The resource's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The resource's place in the layout, `$.resources[0]`, or within its properties.
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
    fn a_very_long_message_is_clipped_and_says_so() {
        let body = ErrorBody::new(ErrorCode::Internal, "ä".repeat(MESSAGE_CHARS + 1));
        assert!(body.message.ends_with("… (clipped)"));
        assert_eq!(
            body.message.chars().count(),
            MESSAGE_CHARS + "… (clipped)".chars().count()
        );
    }
}
