//! A port of this machine that stays a test's own.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpSocket;

/// A port on the loopback address.
///
/// A process of the test listens at it, is killed, and listens at it again. In between, the system gives it to nobody
/// else, because this has it too and does not listen.
#[derive(Debug, Clone)]
pub struct HeldPort {
    number: u16,
    _socket: Arc<TcpSocket>,
}

impl HeldPort {
    /// One that is free.
    ///
    /// # Errors
    /// If none is.
    pub fn take() -> std::io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        // Both sides set it: the program that listens does so too.
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self {
            number: socket.local_addr()?.port(),
            _socket: Arc::new(socket),
        })
    }

    pub const fn number(&self) -> u16 {
        self.number
    }
}
