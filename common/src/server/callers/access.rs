//! Which callers a service accepts, and where it may listen because of that.
//!
//! ```text
//! Open      nobody proves who they are         loopback only
//! Checked   the routes ask everybody           anywhere (the manager)
//! Services  only the manager may call          anywhere, if a way to prove it is configured; else as Open
//! ```

use std::net::SocketAddr;

use super::{CallerFlags, Callers};
use crate::reload::Unusable;
use crate::server::serve::tls::Tls;

/// Whether and how the service authenticates its callers.
#[derive(Debug, Clone)]
pub enum CallerPolicy {
    /// No authentication is configured. The text names the flags for it, and completes the sentence "configure …".
    Open(&'static str),
    /// Authentication is configured, and the routes check it.
    Checked,
    /// Only the manager may call.
    Services(CallerFlags),
}

/// In a request's extensions: authentication is configured, and this caller did not authenticate. Routes that answer such a
/// caller, like `/readyz`, omit details.
#[derive(Debug, Clone, Copy)]
pub struct Stranger;

/// [`Access`], with its files read.
#[derive(Debug, Clone)]
pub(in crate::server) enum Door {
    Open(&'static str),
    Checked,
    Manager(Callers),
}

/// A service without authentication may only listen on loopback.
#[derive(Debug, thiserror::Error)]
#[error(
    "will not listen on {address} without authentication, because any caller could then do everything that this service may do: configure {how}, or listen on a loopback address such as 127.0.0.1"
)]
pub struct Unguarded {
    address: SocketAddr,
    how: &'static str,
}

impl Door {
    pub(in crate::server) fn open(access: CallerPolicy, tls: &Tls) -> Result<Self, Unusable> {
        Ok(match access {
            CallerPolicy::Open(how) => Self::Open(how),
            CallerPolicy::Checked => Self::Checked,
            CallerPolicy::Services(flags) => flags.callers(tls)?.map_or(
                Self::Open("--service-token-file, or --tls-cert, --tls-key and --client-ca"),
                Self::Manager,
            ),
        })
    }

    /// Whether the service may listen on the address. Tokens over plain HTTP only cause a warning, because a proxy may terminate
    /// TLS, or the network may be encrypted.
    pub(in crate::server) fn may_listen(
        &self,
        address: SocketAddr,
        encrypted: bool,
    ) -> Result<(), Unguarded> {
        let loopback = address.ip().to_canonical().is_loopback();
        match self {
            Self::Open(how) if !loopback => return Err(Unguarded { address, how }),
            Self::Open(how) => tracing::info!(
                "no authentication is configured: listening on loopback only; to listen elsewhere, configure {how}"
            ),
            Self::Checked | Self::Manager(_) if !loopback && !encrypted => tracing::warn!(
                "listening on {address} without TLS: anybody who can read the network can read tokens; give --tls-cert and --tls-key, unless a proxy right before this service terminates TLS"
            ),
            Self::Checked | Self::Manager(_) => {}
        }
        Ok(())
    }

    /// Whether callers are authenticated.
    pub(in crate::server) fn is_guarded(&self) -> bool {
        !matches!(self, Self::Open(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_authentication_only_loopback_is_listened_on() {
        let open = Door::Open("--tokens FILE");
        for address in [
            "127.0.0.1:1",
            "127.9.9.9:1",
            "[::1]:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(
                open.may_listen(address.parse().unwrap(), false).is_ok(),
                "{address}"
            );
        }
        for address in [
            "0.0.0.0:1",
            "[::]:1",
            "10.0.0.1:1",
            "169.254.0.1:1",
            "[::ffff:10.0.0.1]:1",
        ] {
            let refused = open.may_listen(address.parse().unwrap(), true).unwrap_err();
            let message = refused.to_string();
            assert!(
                message.contains("configure --tokens FILE, or listen on"),
                "{message}"
            );
            assert!(
                Door::Checked
                    .may_listen(address.parse().unwrap(), false)
                    .is_ok()
            );
        }
    }
}
