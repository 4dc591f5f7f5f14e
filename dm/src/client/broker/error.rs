//! Why a broker did not answer. The hints name the flags of `dm broker`, not those of the manager.

use common::client::ClientError;

use crate::error::{CommandError, ExitCode};

/// An error of a call to a broker.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BrokerError(#[from] ClientError);

impl CommandError for BrokerError {
    fn exit_code(&self) -> ExitCode {
        self.0.exit_code()
    }

    fn hint(&self) -> Option<String> {
        let hint = match &self.0 {
            // What rustls makes of an answer that is not TLS.
            ClientError::Unreachable { reason, .. } if reason.contains("InvalidContentType") => {
                "the broker does not speak TLS there: write http:// instead of https:// in --broker or DM_BROKER"
            }
            ClientError::Unreachable { .. } | ClientError::InvalidUrl { .. } => {
                "set --broker or DM_BROKER to the URL of the broker; a manager has one at its --broker-listen"
            }
            ClientError::Untrusted { .. } => {
                "give the authority that signed the broker's certificate with --ca-file"
            }
            other => return other.hint(),
        };
        Some(hint.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_an_unreachable_broker_names_the_broker() {
        let error = ClientError::Unreachable {
            service: "the broker",
            url: "http://127.0.0.1:8090".to_owned(),
            reason: "connection refused".to_owned(),
        };
        let error = BrokerError(error);
        let hint = error.hint().unwrap_or_default();
        assert!(
            hint.contains("--broker") && !hint.contains("DM_SERVICE"),
            "{hint}"
        );
        assert_eq!(error.exit_code(), ExitCode::Unavailable);
    }
}
