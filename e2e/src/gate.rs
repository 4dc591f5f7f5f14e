//! A gate on the way to a server: open, it lets connections through; shut, it breaks them and lets no further one in.
//!
//! So a test takes a server away from one client, and from nobody else.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::Loopback;

pub struct Gate {
    server: Loopback,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// An open gate before the server at this address of loopback.
    pub async fn before(server: SocketAddr) -> Result<Self> {
        let is_open = watch::Sender::new(true);
        let seen = is_open.subscribe();
        let server = Loopback::serve(move |client| pass(client, server, seen.clone())).await?;
        Ok(Self { server, is_open })
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub fn shut(&self) {
        self.is_open.send_replace(false);
    }
}

/// Carries bytes both ways until an end closes, or the gate.
async fn pass(
    mut client: TcpStream,
    server: SocketAddr,
    mut is_open: watch::Receiver<bool>,
) -> Result<()> {
    if !*is_open.borrow() {
        return Ok(());
    }
    let mut server = TcpStream::connect(server).await?;
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = is_open.wait_for(|open| !open) => {}
    }
    Ok(())
}
