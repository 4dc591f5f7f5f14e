//! Who is at the other end of a connection, as far as the connection itself tells.

use std::any::Any;
use std::net::IpAddr;
use std::sync::Arc;

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::HttpRequest;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpUserTimeout;

use crate::tls::Certificate;

/// The peer of a connection. Handlers and middleware get it with [`Peer::of`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// Where it comes from: a proxy's address, if there is one between. Forwarding headers are not believed.
    pub address: Option<IpAddr>,
    /// What it showed, verified by `--client-ca`. Absent over plain HTTP, and if it showed none.
    pub certificate: Option<Arc<Certificate>>,
}

impl Peer {
    /// The peer of a request's connection; unknown where there is none, as in tests that call the routes themselves.
    pub fn of(request: &HttpRequest) -> Self {
        request.conn_data().cloned().unwrap_or_default()
    }
}

/// A client that takes nothing of what is sent to it for so long is gone, or holds the answer's memory on purpose.
const UNREAD_MS: u32 = 60_000;

/// Notes the peer of a new connection, once for all its requests.
pub(super) fn note(connection: &dyn Any, notes: &mut Extensions) {
    if let Some(stream) = connection.downcast_ref::<TcpStream>() {
        notes.insert(Peer {
            address: accepted(stream),
            certificate: None,
        });
    } else if let Some(stream) = connection.downcast_ref::<TlsStream<TcpStream>>() {
        let (stream, session) = stream.get_ref();
        let shown = session.peer_certificates().and_then(<[_]>::first);
        notes.insert(Peer {
            address: accepted(stream),
            certificate: shown.and_then(|der| read(der)),
        });
    }
}

fn accepted(stream: &TcpStream) -> Option<IpAddr> {
    if let Err(error) = setsockopt(stream, TcpUserTimeout, &UNREAD_MS) {
        tracing::debug!(%error, "a connection has no timeout for what is not read");
    }
    address(stream)
}

fn address(stream: &TcpStream) -> Option<IpAddr> {
    stream
        .peer_addr()
        .ok()
        .map(|address| address.ip().to_canonical())
}

/// A certificate that was verified but cannot be read gives no name: its holder is a stranger.
fn read(der: &[u8]) -> Option<Arc<Certificate>> {
    Certificate::read(der)
        .map(Arc::new)
        .inspect_err(|error| tracing::warn!("a client's certificate cannot be read: {error}"))
        .ok()
}
