//! Connections that are held for nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::services::{Services, answer, status};

const IDLE: usize = 10_000;

/// So many, each opened and then left alone after `said`.
async fn open(address: SocketAddr, number: usize, said: &[u8]) -> Result<Vec<TcpStream>> {
    let mut open = Vec::with_capacity(number);
    for n in 0..number {
        let stream = TcpStream::connect(address).await;
        let mut stream = stream.with_context(|| format!("connection {n}"))?;
        stream.write_all(said).await?;
        open.push(stream);
    }
    Ok(open)
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_idle_connections_keep_nobody_out() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let needed = (IDLE + 1000) as u64;
    ensure!(
        hard >= needed,
        "this test opens {needed} files: raise `ulimit -Hn`"
    );
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard)?;
    let services = Services::start().await?;
    for (name, address) in services.all() {
        let held = open(address, IDLE, b"").await.context(name)?;
        services.serve().await.context(name)?;
        drop(held);
        services.serve().await.context(name)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_do_not_come_end() -> Result<()> {
    let services = Services::start().await?;
    let half = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
    let attack = async {
        for (name, address) in services.all() {
            let mut held = open(address, 200, half).await?;
            for stream in &mut held {
                let answer = answer(stream).await;
                ensure!([408, 0].contains(&status(&answer)), "{name}: {answer}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}
