//! A browser with a client certificate. It needs no token, and there is no session that it could end.
//!
//! A browser without a window has no store for certificates. So a doorway presents the certificate to the manager.

use std::path::Path;

use anyhow::{Context as _, Result};
use e2e::{Loopback, Stack};
use futures::StreamExt as _;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use reqwest::{Certificate, Client, Identity, Method};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::browser::Browser;

/// Writes an authority, and what it signs for the server and for a user.
fn certificates(folder: &Path, user: &str) -> Result<()> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    std::fs::write(folder.join("ca.pem"), authority.self_signed(&key)?.pem())?;
    let authority = Issuer::new(authority, key);
    for (file, name) in [("server", "manager"), ("user", user)] {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &authority)?.pem();
        std::fs::write(folder.join(format!("{file}.pem")), signed)?;
        std::fs::write(folder.join(format!("{file}.key")), key.serialize_pem())?;
    }
    Ok(())
}

/// Requests over TLS with the user's certificate.
fn client(folder: &Path) -> Result<Client> {
    let read = |file: &str| std::fs::read(folder.join(file));
    let identity = [read("user.pem")?, read("user.key")?].concat();
    let client = common::client::http::builder()
        .no_proxy()
        .tls_certs_only([Certificate::from_pem(&read("ca.pem")?)?])
        .identity(Identity::from_pem(&identity)?);
    Ok(client.build()?)
}

/// Passes one request on, and closes the connection after its answer.
async fn pass_on(stream: TcpStream, client: Client, manager: String) -> Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let mut words = line.split(' ');
    let method: Method = words.next().context("no method")?.parse()?;
    let target = words.next().context("no target")?;
    let mut request = client.request(method, format!("{manager}{target}"));
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        if name.eq_ignore_ascii_case("accept") {
            request = request.header(name, value);
        }
    }
    let answer = request.send().await?;
    let mut head = format!("HTTP/1.1 {}\r\nconnection: close\r\n", answer.status());
    for (name, value) in answer.headers() {
        if !["connection", "content-length", "transfer-encoding"].contains(&name.as_str()) {
            head += &format!("{name}: {}\r\n", value.to_str()?);
        }
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    let mut pieces = answer.bytes_stream().boxed();
    while let Some(piece) = pieces.next().await {
        stream.write_all(&piece?).await?;
    }
    Ok(stream.shutdown().await?)
}

#[tokio::test]
async fn a_certificate_opens_the_page_as_whom_it_names() -> Result<()> {
    let stack = Stack::guarded().await?;
    let folder = stack.folder();
    certificates(folder, "carol")?;
    let path = |file: &str| folder.join(file).display().to_string();
    let flags = [
        format!("--tls-cert={}", path("server.pem")),
        format!("--tls-key={}", path("server.key")),
        format!("--client-ca={}", path("ca.pem")),
        "--auth-client-certs".to_owned(),
        "--auth-rbac".to_owned(),
    ];
    let service = stack.another_manager("tls", &flags).await?;
    let manager = format!("https://{}", service.address());
    let client = client(folder)?;
    let door =
        Loopback::serve(move |stream| pass_on(stream, client.clone(), manager.clone())).await?;
    let browser = Browser::open(&format!("http://{}", door.address())).await?;

    browser
        .shows("There are no deployments that you may see")
        .await?;
    browser.shows("carol").await?;
    browser.hides("Sign out").await?;
    browser.examine("certificate").await?;
    browser.close().await
}
