//! Git repositories in a folder, to read from and to push to, by git's own server.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Result;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinHandle;

pub struct GitDaemon {
    port: u16,
    task: JoinHandle<()>,
}

impl GitDaemon {
    /// Serves whatever repositories are below the folder, now or later, to everybody on loopback.
    pub async fn serve(root: &Path) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let task = tokio::spawn(accept(listener, root.to_owned()));
        Ok(Self { port, task })
    }

    pub fn url(&self, repository: &str) -> String {
        format!("git://127.0.0.1:{}/{repository}", self.port)
    }
}

impl Drop for GitDaemon {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, root: PathBuf) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(answer(client, root.clone()));
    }
}

/// As inetd would: the connection is what a server of its own reads and writes. One that fails ends the connection.
async fn answer(client: TcpStream, root: PathBuf) -> Result<()> {
    let client = client.into_std()?;
    client.set_nonblocking(false)?;
    let (input, output) = (std::os::fd::OwnedFd::from(client.try_clone()?), client);
    Command::new("git")
        .args(["daemon", "--inetd", "--export-all", "--enable=receive-pack"])
        .arg(format!("--base-path={}", root.display()))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(output)))
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?
        .wait()
        .await?;
    Ok(())
}
