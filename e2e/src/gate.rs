//! A gate on the way to a server: open, it lets connections through; shut, it breaks them and lets no further one in.
//!
//! So a test takes a server away from one client, and from nobody else.

use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the connections go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    open: bool,
    /// Connections end when it changes.
    cuts: u64,
}

pub struct Gate {
    address: SocketAddr,
    way: watch::Sender<Way>,
    task: JoinHandle<()>,
}

impl Gate {
    /// An open gate before the server at this address of loopback.
    pub async fn before(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let way = watch::Sender::new(Way {
            open: true,
            cuts: 0,
        });
        let task = tokio::spawn(keep(listener, server, way.subscribe()));
        Ok(Self { address, way, task })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn open(&self) {
        self.way.send_modify(|way| way.open = true);
    }

    pub fn shut(&self) {
        self.way.send_modify(|way| way.open = false);
    }

    /// Breaks the connections that there are; further ones are let in.
    pub fn cut(&self) {
        self.way.send_modify(|way| way.cuts += 1);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep(listener: TcpListener, server: SocketAddr, way: watch::Receiver<Way>) {
    while let Ok((client, _)) = listener.accept().await {
        let now = *way.borrow();
        if now.open {
            tokio::spawn(pass(client, server, way.clone(), now));
        }
    }
}

/// Carries bytes both ways until an end closes, or the way is no longer as it was.
async fn pass(
    mut client: TcpStream,
    server: SocketAddr,
    mut way: watch::Receiver<Way>,
    entered: Way,
) {
    let Ok(mut server) = TcpStream::connect(server).await else {
        return;
    };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = way.wait_for(|way| *way != entered) => {}
    }
}
