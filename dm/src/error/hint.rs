//! What to do next, for each error code of the services that has an answer to that.

use common::api::error::{ErrorBody, ErrorCode};

/// The command line knows its own commands, which a service does not.
pub const fn hint_for(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::AlreadyExists => {
            Some("choose another name, or write dm apply, which creates a deployment or updates it")
        }
        ErrorCode::OperationRunning => {
            Some("see dm operations, and wait for it with dm wait OPERATION")
        }
        ErrorCode::NotFound => {
            Some("dm list, dm operations, dm registries and dm getcredential show what exists")
        }
        ErrorCode::TemplateNotFound => Some("dm templates shows the templates and their versions"),
        ErrorCode::InvalidProperties => {
            Some("dm describe TEMPLATE:VERSION shows the properties of a template")
        }
        ErrorCode::ResourcesFailed => {
            Some("see dm status NAME; correct it with dm update, or dm delete NAME")
        }
        ErrorCode::DeletesNotAllowed => {
            Some("dm diff shows what would be deleted; allow it with --allow-deletes")
        }
        ErrorCode::PreconditionFailed => {
            Some("somebody changed it since you read it: read or preview it again")
        }
        ErrorCode::OperationStopped => {
            Some("see dm status NAME; continue with dm update, dm rollback or dm delete")
        }
        ErrorCode::NeverApplied => Some(
            "commit the preview with dm update NAME --commit; dm manifest NAME lists the manifests",
        ),
        ErrorCode::NothingRunning => Some("dm operations NAME lists finished operations"),
        ErrorCode::Timeout => {
            Some("dm status NAME shows what is not ready; give it more time with --timeout")
        }
        ErrorCode::Unauthenticated => Some(
            "sign in with dm login, give a token in DM_TOKEN or --token-file, or use a kubeconfig with a token or, over https, with a certificate (see kubectl config current-context)",
        ),
        ErrorCode::Forbidden | ErrorCode::PermissionsMissing => {
            Some("dm whoami shows your user and groups")
        }
        _ => None,
    }
}

/// What to do next about an error of a service.
pub fn hint_for_body(body: &ErrorBody) -> Option<String> {
    let hint = match body.code {
        ErrorCode::NotFound if body.message.starts_with("there is no deployment") => {
            Some("dm list shows the deployments")
        }
        ErrorCode::NotFound if body.message.contains("is not a template reference") => Some(
            "dm templates shows the templates, written TEMPLATE:VERSION, and dm describe deployment NAME shows a deployment",
        ),
        ErrorCode::NotFound if body.message.contains("registry") => {
            Some("dm registries shows the registries")
        }
        code => hint_for(code),
    };
    hint.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_looked_for_where_it_would_be() {
        let hint = |message: &str| hint_for_body(&ErrorBody::new(ErrorCode::NotFound, message));
        assert_eq!(
            hint("there is no deployment 'web'").as_deref(),
            Some("dm list shows the deployments")
        );
        let hint_for_type = hint("type \"web\" is not a template reference: no registry holds it");
        assert!(hint_for_type.unwrap().contains("dm describe deployment"));
        assert_eq!(
            hint("registry 'shop' does not exist").as_deref(),
            Some("dm registries shows the registries")
        );
    }
}
