//! Git repositories in a folder, to read from and to push to, by git's own server.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Result;
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::Loopback;

pub struct GitDaemon(Loopback);

impl GitDaemon {
    /// Serves whatever repositories are below the folder, now or later, to everybody on loopback.
    pub async fn serve(root: &Path) -> Result<Self> {
        let root = root.to_owned();
        let server = Loopback::serve(move |client| answer(client, root.clone())).await?;
        Ok(Self(server))
    }

    pub fn url(&self, repository: &str) -> String {
        format!("git://{}/{repository}", self.0.address())
    }
}

/// As inetd would: the connection is what a server of its own reads and writes.
async fn answer(client: TcpStream, root: PathBuf) -> Result<()> {
    let client = client.into_std()?;
    client.set_nonblocking(false)?;
    let (input, output) = (OwnedFd::from(client.try_clone()?), client);
    Command::new("git")
        .args(["daemon", "--inetd", "--export-all", "--enable=receive-pack"])
        .arg(format!("--base-path={}", root.display()))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(OwnedFd::from(output)))
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?
        .wait()
        .await?;
    Ok(())
}
