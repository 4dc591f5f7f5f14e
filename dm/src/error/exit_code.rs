//! The exit codes, for scripts.

use common::api::error::ErrorCode;

/// How the program ends. The numbers are a promise to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Conflict = 4,
    Unavailable = 5,
    Timeout = 6,
    /// By Ctrl-C. Shells use this number.
    Interrupted = 130,
}

impl ExitCode {
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// The exit code for an error that a service returned. This is the only table of them.
pub const fn exit_code(code: ErrorCode) -> ExitCode {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::InvalidConfiguration
        | ErrorCode::InvalidSchema
        | ErrorCode::InvalidProperties
        | ErrorCode::InvalidReference
        | ErrorCode::TemplateFailed
        | ErrorCode::TemplateTimeout
        | ErrorCode::TemplateMemory
        | ErrorCode::TemplateOutput
        | ErrorCode::TemplateFuel
        | ErrorCode::TemplateForbidden
        | ErrorCode::TemplateImport
        | ErrorCode::TemplateCrashed
        | ErrorCode::TemplateBlocked
        | ErrorCode::PatternTooCostly
        | ErrorCode::YamlTooLarge
        | ErrorCode::TooDeep
        | ErrorCode::TemplateUntrusted
        | ErrorCode::TooManyResources
        | ErrorCode::TooManyReferences
        | ErrorCode::InvalidBackup
        | ErrorCode::InvalidTemplate
        | ErrorCode::UnknownType
        | ErrorCode::Unauthenticated
        | ErrorCode::Forbidden
        | ErrorCode::MethodNotAllowed
        | ErrorCode::Misdirected
        | ErrorCode::PayloadTooLarge
        | ErrorCode::UriTooLong
        | ErrorCode::HeadersTooLarge
        | ErrorCode::QuotaExceeded
        | ErrorCode::UnsupportedMediaType
        | ErrorCode::ResourcesFailed
        | ErrorCode::PermissionsMissing
        | ErrorCode::DeletesNotAllowed
        | ErrorCode::IdempotencyConflict
        | ErrorCode::OperationStopped
        | ErrorCode::Internal => ExitCode::Failed,
        ErrorCode::NotFound | ErrorCode::TemplateNotFound => ExitCode::NotFound,
        ErrorCode::AlreadyExists
        | ErrorCode::InUse
        | ErrorCode::Conflict
        | ErrorCode::StoreNotEmpty
        | ErrorCode::ManagersBehind
        | ErrorCode::OperationRunning
        | ErrorCode::NeverApplied
        | ErrorCode::Superseded
        | ErrorCode::NothingRunning
        | ErrorCode::PreconditionFailed => ExitCode::Conflict,
        ErrorCode::RegistryUnavailable
        | ErrorCode::ExpanderUnavailable
        | ErrorCode::DeployerUnavailable
        | ErrorCode::ClusterUnavailable
        | ErrorCode::TooManyRequests
        | ErrorCode::Unavailable => ExitCode::Unavailable,
        ErrorCode::RequestTimeout | ErrorCode::Timeout => ExitCode::Timeout,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_exit_codes_is_a_promise() {
        let table: Vec<_> = ErrorCode::ALL
            .iter()
            .map(|&code| format!("{} {:?} {code}", exit_code(code).code(), exit_code(code)))
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }
}
