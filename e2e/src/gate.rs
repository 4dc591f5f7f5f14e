//! A gate on the way to a server: open, it lets connections through; shut, it breaks them and lets no further one in.
//!
//! So a test takes a server away from one client, and from nobody else.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub struct Gate {
    address: SocketAddr,
    is_open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Gate {
    /// An open gate before the server at this address of loopback.
    pub async fn before(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let is_open = watch::Sender::new(true);
        let task = tokio::spawn(keep(listener, server, is_open.subscribe()));
        Ok(Self {
            address,
            is_open,
            task,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub fn shut(&self) {
        self.is_open.send_replace(false);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep(listener: TcpListener, server: SocketAddr, is_open: watch::Receiver<bool>) {
    while let Ok((client, _)) = listener.accept().await {
        if *is_open.borrow() {
            tokio::spawn(pass(client, server, is_open.clone()));
        }
    }
}

/// Carries bytes both ways until an end closes, or the gate.
async fn pass(mut client: TcpStream, server: SocketAddr, mut is_open: watch::Receiver<bool>) {
    let Ok(mut server) = TcpStream::connect(server).await else {
        return;
    };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = is_open.wait_for(|open| !open) => {}
    }
}
