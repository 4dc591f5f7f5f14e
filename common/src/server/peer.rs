//! The client at the other end of a connection, as far as the connection shows.

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

/// The peer of a connection. Handlers and middleware get it with [`Peer::from_request`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its address; behind a proxy, the address of the proxy. Forwarding headers are not trusted.
    pub address: Option<IpAddr>,
    /// Its certificate, verified by `--client-ca`. Absent over plain HTTP, and if the client sent none.
    pub certificate: Option<Arc<Certificate>>,
}

impl Peer {
    /// The peer of a request's connection. Unknown without a connection, as in tests that call routes directly.
    pub fn from_request(request: &HttpRequest) -> Self {
        request.conn_data().cloned().unwrap_or_default()
    }
}

/// A client that reads nothing for this long is gone, or keeps the answer in memory on purpose.
const UNREAD_MS: u32 = 60_000;

/// Records the peer of a new connection, once for all its requests.
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

/// A verified certificate that cannot be parsed has no names, so its holder is unknown.
fn read(der: &[u8]) -> Option<Arc<Certificate>> {
    Certificate::read(der)
        .map(Arc::new)
        .inspect_err(|error| tracing::warn!("a client's certificate cannot be read: {error}"))
        .ok()
}
