//! A git repository that `git daemon` serves on loopback.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

pub struct Repository {
    folder: PathBuf,
    url: String,
}

impl Repository {
    /// All that is in a folder, committed to its branch `main` and served for as long as this process lives.
    pub fn serve(folder: &Path) -> Result<Self> {
        let root = folder.parent().context("a folder in no other")?;
        let name = folder.file_name().context("a folder without a name")?;
        let url = format!(
            "git://127.0.0.1:{}/{}",
            listen(root.to_owned())?,
            name.to_string_lossy()
        );
        let repository = Self {
            folder: folder.to_owned(),
            url,
        };
        repository.git(&["init", "--quiet", "-b", "main"])?;
        repository.commit()?;
        Ok(repository)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Commits what was added and changed in the folder.
    pub fn commit(&self) -> Result<()> {
        const AUTHOR: [&str; 4] = [
            "-c",
            "user.name=e2e",
            "-c",
            "user.email=e2e@example.invalid",
        ];
        self.git(&["add", "-A"])?;
        self.git(&[&AUTHOR[..], &["commit", "--quiet", "-m", "all"]].concat())
    }

    pub fn git(&self, args: &[&str]) -> Result<()> {
        git(&self.folder, args)
    }
}

/// Runs git in a folder. Housekeeping at a commit would be in the way of the one that is asked for.
pub fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let mut git = Command::new("git");
    let git = git.arg("-C").arg(folder).args(["-c", "gc.auto=0"]);
    let output = git.args(args).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {args:?}: {said}");
    Ok(())
}

/// `git daemon`, one process a connection, for the repositories in a folder; gives its port.
fn listen(root: PathBuf) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || -> Result<()> {
        for connection in listener.incoming() {
            let connection = connection?;
            let mut child = Command::new("git")
                .args(["daemon", "--inetd", "--export-all"])
                .arg(format!("--base-path={}", root.display()))
                .stdin(OwnedFd::from(connection.try_clone()?))
                .stdout(OwnedFd::from(connection))
                .stderr(Stdio::null())
                .spawn()?;
            std::thread::spawn(move || child.wait());
        }
        Ok(())
    });
    Ok(port)
}
