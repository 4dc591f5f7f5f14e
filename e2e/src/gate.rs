//! A gate on the way to a server. A test chooses what gets through: so it takes a server away from one client, and from
//! nobody else.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

use crate::Loopback;

/// What a gate does with connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Open,
    /// Connections are broken, and no further one is let in.
    Shut,
    /// Nothing gets through in this direction until the way is another one, as where packets are lost.
    Held(Direction),
    /// Each piece waits so long.
    Slow(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
    Both,
}

impl Way {
    fn holds(self, direction: Direction) -> bool {
        match self {
            Self::Held(held) => held == Direction::Both || held == direction,
            _ => false,
        }
    }
}

pub struct Gate {
    server: Loopback,
    way: watch::Sender<Way>,
}

impl Gate {
    /// An open gate before the server at this address of loopback.
    pub async fn before(server: SocketAddr) -> Result<Self> {
        let way = watch::Sender::new(Way::Open);
        let seen = way.subscribe();
        let server = Loopback::serve(move |client| pass(client, server, seen.clone())).await?;
        Ok(Self { server, way })
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn open(&self) {
        self.set(Way::Open);
    }

    pub fn shut(&self) {
        self.set(Way::Shut);
    }

    pub fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

/// Carries bytes both ways until both ends close, or the gate.
async fn pass(client: TcpStream, server: SocketAddr, way: watch::Receiver<Way>) -> Result<()> {
    let mut shut = way.clone();
    if *shut.borrow() == Way::Shut {
        return Ok(());
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = TcpStream::connect(server).await?.into_split();
    tokio::select! {
        both = async { tokio::try_join!(
            carry(from_client, to_server, way.clone(), Direction::ToServer),
            carry(from_server, to_client, way, Direction::ToClient),
        ) } => both.map(drop),
        _ = shut.wait_for(|way| *way == Way::Shut) => Ok(()),
    }
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut way: watch::Receiver<Way>,
    direction: Direction,
) -> Result<()> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let count = from.read(&mut bytes).await?;
        let way = *way.wait_for(|way| !way.holds(direction)).await?;
        if let Way::Slow(time) = way {
            tokio::time::sleep(time).await;
        }
        if count == 0 {
            return Ok(to.shutdown().await?);
        }
        to.write_all(&bytes[..count]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_held_in_one_direction_comes_when_the_way_is_open_again() -> Result<()> {
        let echo = Loopback::serve(async |mut stream| {
            let (mut from, mut to) = stream.split();
            tokio::io::copy(&mut from, &mut to).await?;
            Ok(())
        })
        .await?;
        let gate = Gate::before(echo.address()).await?;
        let mut client = TcpStream::connect(gate.address()).await?;
        let mut answer = [0; 4];
        for direction in [Direction::ToServer, Direction::ToClient, Direction::Both] {
            gate.set(Way::Held(direction));
            client.write_all(b"ping").await?;
            assert!(futures::poll!(Box::pin(client.read(&mut answer))).is_pending());
            gate.set(Way::Slow(Duration::from_millis(1)));
            client.read_exact(&mut answer).await?;
            assert_eq!(&answer, b"ping");
        }
        gate.shut();
        assert_eq!(client.read(&mut answer).await.unwrap_or_default(), 0);
        Ok(())
    }
}
