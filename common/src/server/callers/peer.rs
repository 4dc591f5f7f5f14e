//! The client at the other end of a connection, as far as the connection shows.

use std::any::Any;
use std::net::IpAddr;
use std::sync::Arc;

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use actix_web::{HttpMessage, HttpRequest};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpUserTimeout;
use serde::{Deserialize, Serialize};

use crate::tls::Certificate;

/// The peer of a connection. Handlers and middleware get it with [`Peer::from_request`].
///
/// If another process of the same service passed the request on, it is the peer of that process ([`Relays`]).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its address; behind a proxy, the address of the proxy. Forwarding headers are not trusted.
    pub address: Option<IpAddr>,
    /// Its certificate, verified by `--client-ca`. Absent over plain HTTP, and if the client sent none.
    pub certificate: Option<Arc<Certificate>>,
}

impl Peer {
    /// The peer of a request's connection. Unknown without a connection, as in tests that call routes directly.
    pub fn from_request(request: &HttpRequest) -> Self {
        let relayed = request.extensions().get::<Relayed>().cloned();
        match relayed {
            Some(Relayed(peer)) => peer,
            None => request.conn_data().cloned().unwrap_or_default(),
        }
    }
}

/// Recognises the requests that another process of the same service passes on.
pub trait Relays: std::fmt::Debug + Send + Sync {
    /// The peer of the process that passes the request on. None for all other requests, and if the proof is not valid.
    fn first_peer(&self, request: &HttpRequest) -> Option<Peer>;
}

/// In a request's extensions: another process passes it on for this peer.
#[derive(Debug, Clone)]
struct Relayed(Peer);

/// Records the first peer of a request that another process passes on.
pub(in crate::server) fn note_relayed(relays: &dyn Relays, request: &HttpRequest) {
    if let Some(peer) = relays.first_peer(request) {
        request.extensions_mut().insert(Relayed(peer));
    }
}

/// Whether another process of the same service passes the request on.
pub fn is_relayed(request: &HttpRequest) -> bool {
    request.extensions().contains::<Relayed>()
}

/// A client that reads nothing for this long is gone, or keeps the answer in memory on purpose.
const UNREAD_MS: u32 = 60_000;

/// Records the peer of a new connection, once for all its requests.
pub(in crate::server) fn note(connection: &dyn Any, notes: &mut Extensions) {
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
