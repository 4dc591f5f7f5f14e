//! A server on a free port of loopback, until the test ends.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use actix_web::web::ServiceConfig;
use common::server::{CallerPolicy, Listen, serve};

const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const PATIENCE: Duration = Duration::from_secs(60);

/// Serves the routes; gives the address.
pub async fn start(access: CallerPolicy, routes: fn(&mut ServiceConfig)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let port_file = folder.path().join("port");
    let listen = Listen {
        port_file: Some(port_file.clone()),
        ..Listen::default()
    };
    tokio::spawn(async move { serve(&listen, ANY, access, routes).await });
    let started = Instant::now();
    loop {
        match std::fs::read_to_string(&port_file) {
            Ok(port) => break format!("http://127.0.0.1:{}", port.trim()),
            Err(error) => assert!(started.elapsed() < PATIENCE, "no port: {error}"),
        }
        tokio::task::yield_now().await;
    }
}
