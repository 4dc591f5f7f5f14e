//! What registries need of GitHub's REST API, as its documentation says: repository contents, for a folder that is every
//! repository.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::Loopback;

/// What asks for a file's bytes and not for what is known of it.
const RAW: &str = "application/vnd.github.raw+json";
const JSON: &str = "application/json; charset=utf-8";

pub struct Github {
    pub api_url: String,
    _server: Loopback,
}

impl Github {
    pub async fn serve(root: &Path) -> Result<Self> {
        let root = root.to_owned();
        let server = Loopback::serve(move |client| answer(client, root.clone())).await?;
        Ok(Self {
            api_url: format!("http://{}", server.address()),
            _server: server,
        })
    }
}

/// One request a connection.
async fn answer(client: TcpStream, root: PathBuf) -> Result<()> {
    let mut client = BufReader::new(client);
    let (mut head, mut line) = (String::new(), String::new());
    while client.read_line(&mut line).await? > 2 {
        head.push_str(&line);
        line.clear();
    }
    let target = head.split(' ').nth(1).context("no target")?;
    let (status, kind, body) = match contents(&root, target, head.contains(RAW)) {
        Some((kind, body)) => ("200 OK", kind, body),
        None => {
            let body = br#"{"message": "Not Found"}"#.to_vec();
            ("404 Not Found", JSON, body)
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes()).await?;
    client.write_all(&body).await?;
    client.shutdown().await?;
    Ok(())
}

/// `/repos/OWNER/REPOSITORY/contents/PATH`; trees are not had here, as on old GitHub Enterprises.
fn contents(root: &Path, target: &str, is_raw: bool) -> Option<(&'static str, Vec<u8>)> {
    let path = target.split('?').next()?.strip_prefix("/repos/")?;
    let mut parts = path.splitn(4, '/').skip(2);
    if parts.next()? != "contents" {
        return None;
    }
    let place = root.join(parts.next().unwrap_or_default());
    if place.is_file() && is_raw {
        return Some((RAW, std::fs::read(place).ok()?));
    }
    let entry = |path: &Path| -> Option<Value> {
        let kind = if path.is_dir() { "dir" } else { "file" };
        let name = path.file_name()?.to_str()?;
        Some(json!({"name": name, "path": name, "type": kind, "sha": "", "size": 0}))
    };
    let entries = place.read_dir().ok()?.flatten();
    let listed: Vec<_> = entries.filter_map(|found| entry(&found.path())).collect();
    Some((JSON, serde_json::to_vec(&listed).ok()?))
}
