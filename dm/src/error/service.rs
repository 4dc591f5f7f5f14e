//! What an error of a call to a service means to the user.

use common::api::error::ErrorBody;
use common::client::ClientError;

use super::{CommandError, ExitCode, exit_code, hint_for_body};

impl CommandError for ClientError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Answered(body) => exit_code(body.code),
            Self::Unreachable { .. }
            | Self::BrokenOff { .. }
            | Self::Untrusted { .. }
            | Self::CertificateRefused { .. } => ExitCode::Unavailable,
            Self::TimedOut { .. } => ExitCode::Timeout,
            Self::Malformed { .. } | Self::TooLarge { .. } | Self::NoToken { .. } => {
                ExitCode::Failed
            }
            Self::InvalidUrl { .. } => ExitCode::Usage,
        }
    }

    fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Answered(body) => Some(body),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            // What rustls makes of an answer that is not TLS.
            Self::Unreachable { reason, .. } if reason.contains("InvalidContentType") => {
                "the manager does not speak TLS there: write http:// instead of https:// in --service or DM_SERVICE"
            }
            Self::Unreachable { .. } | Self::InvalidUrl { .. } => {
                "set --service or DM_SERVICE to the URL of the manager"
            }
            Self::Untrusted { .. } => {
                "give the authority that signed the manager's certificate with --ca-file"
            }
            Self::CertificateRefused { .. } => {
                "give a certificate that the manager's --client-ca has signed: with --client-cert and \
                 --client-key, or in the kubeconfig"
            }
            Self::Answered(body) => return hint_for_body(body),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
