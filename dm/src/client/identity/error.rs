//! Why dm cannot prove an identity to the manager.

use common::client::ClientError;
use common::client::access::AccessError;
use common::model::limits;
use common::reload::Unusable;

use super::kubeconfig::KubeconfigError;
use crate::client::login::LoginError;
use crate::error::{CommandError, ExitCode};

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error(transparent)]
    TokenFile(#[from] Unusable),
    #[error(
        "DM_TOKEN is not a token: it is empty, longer than {} bytes, or contains blanks",
        limits::TOKEN_BYTES
    )]
    Token,
    #[error(
        "the token is not sent to {url}: it would cross the network unencrypted. Use https, or a tunnel to this machine (kubectl port-forward); --send-token-in-clear overrides this"
    )]
    InClear { url: String },
    #[error("a client certificate needs its key: give both --client-cert and --client-key")]
    HalfACertificate,
    #[error(
        "the manager requires authentication, and the kubeconfig's user {user:?} has only a certificate, which {url} {why}; give a token in DM_TOKEN or --token-file, such as one of kubectl create token"
    )]
    CertificateUnwanted {
        user: String,
        url: String,
        why: &'static str,
    },
    #[error(transparent)]
    Tls(#[from] AccessError),
    #[error("the manager requires authentication, and the kubeconfig has no usable identity: {0}")]
    Kubeconfig(#[from] KubeconfigError),
    #[error("the tokens of dm login cannot be used: {0}")]
    Login(#[from] LoginError),
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl CommandError for IdentityError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::InClear { .. } | Self::HalfACertificate => ExitCode::Usage,
            Self::Client(error) => error.exit_code(),
            _ => ExitCode::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Client(error) => error.hint(),
            _ => None,
        }
    }
}
