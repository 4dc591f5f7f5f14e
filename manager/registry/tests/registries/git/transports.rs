//! Each of git's transports, with a real server on loopback: git's own, ssh, https with a private authority.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::api::error::ErrorCode;
use common::model::TypeName;
use manager_registry::{Options, RegistryError};
use serde_json::json;
use tempfile::TempDir;

use crate::support::alone::{Alone, list_files, options};
use crate::support::authority::Authority;
use crate::support::backend::{Backend, Kind};
use crate::support::loopback::Loopback;

/// A program that serves one connection on its standard input and output, started for each connection.
fn serve(command: impl Fn() -> Command + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in listener.incoming().map(Result::unwrap) {
            let other = OwnedFd::from(connection.try_clone().unwrap());
            let mut command = command();
            command.stdin(other).stdout(OwnedFd::from(connection));
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            drop(command);
            std::thread::spawn(move || child.wait());
        }
    });
    port
}

fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let version = folder.path().join("a/v1");
    std::fs::create_dir_all(&version).unwrap();
    std::fs::write(version.join("a.jinja"), "first").unwrap();
    folder
}

/// A branch and a tag with different contents.
fn repository() -> Backend {
    let backend = Backend::serve(files().path(), None);
    backend.run(&["tag", "-a", "-m", "one", "v1"]);
    std::fs::write(backend.files().join("a/v1/a.jinja"), "second").unwrap();
    backend.commit();
    backend
}

async fn content(alone: &Alone, reference: &str) -> Result<String, RegistryError> {
    let reference = TypeName::parse(reference).unwrap();
    let resolved = alone.resolve(&reference).await?;
    Ok(resolved.imports[0].content.clone())
}

async fn gives_its_branch_and_its_tag(alone: &Alone, url: &str) {
    for (name, reference, expected) in [
        ("head", None, "second"),
        ("branch", Some("main"), "second"),
        ("tag", Some("v1"), "first"),
    ] {
        let mut definition = json!({"type": "git", "url": url});
        if let Some(reference) = reference {
            definition["ref"] = json!(reference);
        }
        alone.register(name, definition).await;
        let found = content(alone, &format!("{name}/a:v1")).await;
        assert_eq!(found.unwrap(), expected, "{url} {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gits_own_protocol() {
    let backend = repository();
    let root = backend.files().parent().unwrap().to_owned();
    let port = serve(move || {
        let mut command = Command::new("git");
        command.args(["daemon", "--inetd", "--export-all"]);
        command.arg(format!("--base-path={}", root.display()));
        command
    });
    let alone = Alone::new(&options("/")).await.unwrap();
    let url = format!("git://localhost:{port}/r.git");
    gives_its_branch_and_its_tag(&alone, &url).await;
}

/// The keys of the server and the client, and the files with the known keys of each.
struct Keys {
    folder: TempDir,
}

impl Keys {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["host", "client"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            let made = command.arg(folder.path().join(name)).status().unwrap();
            assert!(made.success());
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server that accepts only the user of the test, with the client's key.
    fn server(&self) -> PathBuf {
        let (host, client) = (self.path("host"), self.path("client.pub"));
        let (host, client) = (host.display(), client.display());
        let text = format!(
            "HostKey {host}\nAuthorizedKeysFile {client}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\nPidFile none\n"
        );
        std::fs::write(self.path("sshd_config"), text).unwrap();
        self.path("sshd_config")
    }

    fn known_hosts(&self, port: u16) -> PathBuf {
        let key = std::fs::read_to_string(self.path("host.pub")).unwrap();
        std::fs::write(
            self.path("known_hosts"),
            format!("[localhost]:{port} {key}"),
        )
        .unwrap();
        self.path("known_hosts")
    }
}

fn user() -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).unwrap();
    user.unwrap().name
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh_with_the_operators_key_and_known_hosts() {
    let (backend, keys) = (repository(), Keys::new());
    if nix::unistd::getuid().is_root() {
        // Its service would create it.
        std::fs::create_dir_all("/run/sshd").unwrap();
    }
    let config = keys.server();
    let port = serve(move || {
        let mut command = Command::new("/usr/sbin/sshd");
        command.arg("-i").arg("-f").arg(&config);
        command
    });
    let path = backend.files().display().to_string();
    let url = format!("ssh://{}@localhost:{port}{path}", user());
    let set = Options {
        registry_ssh_key: Some(keys.path("client")),
        registry_ssh_known_hosts: Some(keys.known_hosts(port)),
        ..options("/")
    };
    let alone = Alone::new(&set).await.unwrap();
    gives_its_branch_and_its_tag(&alone, &url).await;

    let definition = json!({"type": "git", "url": url});
    let stranger = Options {
        registry_ssh_known_hosts: Some(keys.path("client.pub")),
        ..set.clone()
    };
    let unknown = Options {
        registry_ssh_key: Some(keys.path("host")),
        ..set
    };
    for (options, message) in [
        (stranger, "--registry-ssh-known-hosts"),
        (unknown, "Permission denied"),
    ] {
        let alone = Alone::new(&options).await.unwrap();
        alone.register("closed", definition.clone()).await;
        let error = content(&alone, "closed/a:v1").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn https_with_an_authority_of_the_operators() {
    let authority = Authority::new();
    let secured = Backend::of(Kind::Tls(Box::new(authority.server())), files().path());
    let folder = files();
    list_files(folder.path());
    let web = Loopback::secured(folder.path(), authority.server());
    let trusting = Options {
        registry_ca: Some(authority.file()),
        github_api_url: web.address("api"),
        ..options("/")
    };
    let distrusting = Options {
        registry_ca: None,
        ..trusting.clone()
    };
    for (options, trusts) in [(trusting, true), (distrusting, false)] {
        let alone = Alone::new(&options).await.unwrap();
        let git = json!({"type": "git", "url": secured.url()});
        alone.register("git", git).await;
        let listed = json!({"type": "http", "url": web.address("files")});
        alone.register("web", listed).await;
        let url = web.address("files/a/v1/a.jinja");
        for reference in ["git/a:v1", "web/a:v1", "github.com/owner/repo/a:v1", &url] {
            match content(&alone, reference).await {
                Ok(content) if trusts => assert_eq!(content, "first", "{reference}"),
                Err(error) if !trusts => {
                    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
                    let message = error.to_string();
                    assert!(message.contains("ertificate"), "{reference}: {message}");
                }
                outcome => panic!("{reference}: {outcome:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_or_removed_in_the_cache_is_fetched_again() {
    let backend = repository();
    let alone = Alone::new(&options("/")).await.unwrap();
    let definition = json!({"type": "git", "url": backend.url()});
    alone.register("own", definition).await;
    let listed = async |alone: &Alone| alone.templates("own", None).await.unwrap().len();
    assert_eq!(listed(&alone).await, 1);
    damage(&alone.cache().path().join("git"));
    assert_eq!(content(&alone, "own/a:v1").await.unwrap(), "second");
    let next = Alone::on(&options("/"), alone.cache()).await.unwrap();
    let definition = json!({"type": "git", "url": backend.url()});
    next.register("own", definition).await;
    std::fs::remove_dir_all(alone.cache().path().join("git")).unwrap();
    std::fs::remove_dir_all(alone.cache().path().join("files")).unwrap();
    assert_eq!(content(&next, "own/a:v1").await.unwrap(), "second");
}

/// Overwrites every object and pack.
fn damage(folder: &Path) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damage(&path);
        } else if path.components().any(|part| part.as_os_str() == "objects") {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, "damaged").unwrap();
        }
    }
}
