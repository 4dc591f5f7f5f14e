//! What to do next, for each error code of the services that has an answer to that.

use common::api::error::ErrorCode;

/// The command line knows its own commands, which a service does not.
pub const fn hint_for(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::AlreadyExists => {
            Some("choose another name; dm update changes a deployment that exists")
        }
        ErrorCode::OperationRunning => {
            Some("see dm operations, and wait for it with dm wait OPERATION")
        }
        ErrorCode::NotFound => {
            Some("dm list, dm operations, dm registries and dm getcredential show what there is")
        }
        ErrorCode::TemplateNotFound => Some("dm templates shows the templates and their versions"),
        ErrorCode::InvalidProperties => {
            Some("dm describe TEMPLATE:VERSION shows what a template takes")
        }
        ErrorCode::ResourcesFailed => {
            Some("see dm status NAME; correct it with dm update, or dm delete NAME")
        }
        ErrorCode::DeletesNotAllowed => {
            Some("see what it would delete with dm diff; allow it with --allow-deletes")
        }
        ErrorCode::PreconditionFailed => {
            Some("somebody changed it since you looked: preview or read it again")
        }
        ErrorCode::OperationStopped => {
            Some("see dm status NAME; go on with dm update, dm rollback or dm delete")
        }
        ErrorCode::NeverApplied => Some(
            "commit the preview with dm update NAME --commit; dm manifest NAME lists the manifests",
        ),
        ErrorCode::NothingRunning => Some("dm operations NAME shows what was done"),
        ErrorCode::Timeout => {
            Some("see dm status NAME for what is missing; give it more time with --timeout")
        }
        ErrorCode::Unauthenticated => Some(
            "give a token in DM_TOKEN or --token-file, or a kubeconfig with one or, over https, with a certificate (see kubectl config current-context)",
        ),
        ErrorCode::Forbidden | ErrorCode::PermissionsMissing => {
            Some("dm whoami shows as whom you asked")
        }
        _ => None,
    }
}
