//! A chart repository on loopback: packed charts with an `index.yaml`, in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use common::registry::sums::hex;
use common_chart::{File, archive};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Loopback;

/// Bytes of the head of a request.
const HEAD: usize = 16 * 1024;

type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Ends with the test.
pub struct ChartRepository {
    server: Loopback,
    files: Files,
    entries: BTreeMap<String, Vec<String>>,
}

/// The archive of a chart.
pub fn packed(name: &str, files: &[(String, String)]) -> Result<Vec<u8>> {
    let files = files.iter();
    let files: Vec<_> = files
        .map(|(path, text)| File::new(path, text.as_str()))
        .collect();
    Ok(archive::pack(name, &files)?)
}

impl ChartRepository {
    pub async fn serve() -> Result<Self> {
        let files = Files::default();
        let served = files.clone();
        let server = Loopback::serve(move |client| answer(client, served.clone())).await?;
        Ok(Self {
            server,
            files,
            entries: BTreeMap::new(),
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Adds a version of a chart. Returns the SHA-256 of its archive.
    pub fn add(&mut self, name: &str, version: &str, files: &[(String, String)]) -> Result<String> {
        let (archive, file) = (packed(name, files)?, format!("{name}-{version}.tgz"));
        let digest = hex(&archive);
        let entry = format!("  - version: {version}\n    digest: {digest}\n    urls: [{file}]\n");
        self.entries.entry(name.to_owned()).or_default().push(entry);
        let charts = self.entries.iter();
        let charts = charts.map(|(name, entries)| format!("  {name}:\n{}", entries.concat()));
        let index = format!("apiVersion: v1\nentries:\n{}", charts.collect::<String>());
        let mut held = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(file, archive);
        held.insert("index.yaml".to_owned(), index.into_bytes());
        Ok(digest)
    }
}

async fn answer(mut client: TcpStream, files: Files) -> Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8(head)?;
    let path = head
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .trim_start_matches('/');
    let found = {
        let held = files.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(path).cloned()
    };
    let (status, body) = match found {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes()).await?;
    client.write_all(&body).await?;
    Ok(client.shutdown().await?)
}
