//! Bodies that are compressed, too large, too slow, or never come.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::services::{SERVICE_TOKEN, Services, answer, raw, status};

/// The head of a write that each of the services would take.
fn post(name: &str, headers: &str) -> String {
    let path = match name {
        "resourcifier" => "/configurations",
        _ => "/expand",
    };
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SERVICE_TOKEN}\r\nContent-Type: application/json\r\n{headers}\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_bodies_are_refused_before_they_are_unpacked() -> Result<()> {
    let services = Services::start().await?;
    let attack = async {
        for (name, address) in services.all() {
            for encoding in ["gzip", "br", "zstd", "deflate", "gzip, gzip"] {
                let headers = format!(
                    "Connection: close\r\nContent-Encoding: {encoding}\r\nContent-Length: 4\r\n"
                );
                let request = post(name, &headers) + "\u{1f}x\u{8}\0";
                let answer = raw(address, &request.as_bytes()[..request.len()]).await?;
                ensure!(status(&answer) == 415, "{name}, {encoding}: {answer}");
                ensure!(answer.contains("UNSUPPORTED_MEDIA_TYPE"), "{answer}");
            }
        }
        Ok(())
    };
    services.bear(attack).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_announced_too_large_is_refused_unread() -> Result<()> {
    let services = Services::start().await?;
    let attack = async {
        for (name, address) in services.all() {
            let request = post(name, "Connection: close\r\nContent-Length: 99999999999\r\n");
            let answer = raw(address, request.as_bytes()).await?;
            ensure!(status(&answer) == 413, "{name}: {answer}");
        }
        Ok(())
    };
    services.bear(attack).await
}

/// Holds a connection whose body never ends, and returns the final answer.
async fn hold(name: &'static str, address: SocketAddr) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let head = post(name, "Content-Length: 1000000\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(b"{").await?;
    Ok(answer(&mut stream).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_do_not_come_end_while_others_are_served() -> Result<()> {
    let services = Services::start().await?;
    let mut held = Vec::new();
    for (name, address) in services.all() {
        held.extend((0..100).map(|_| tokio::spawn(hold(name, address))));
    }
    let ended = async {
        for held in held {
            let answer = held.await??;
            ensure!(status(&answer) == 408, "{answer}");
            ensure!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
        }
        Ok(())
    };
    services.bear(ended).await
}
