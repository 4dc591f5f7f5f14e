//! Members of etcd for tests: real ones, each a process that ends with its test.
//!
//! The tests of the store and those of the manager's process use it.

#[path = "../../../e2e/src/held_port.rs"]
mod held_port;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use self::held_port::HeldPort;

/// A process that is killed loses nothing that it has written, so tests do not wait for the disk.
pub const NO_DISK: &[&str] = &["--unsafe-no-fsync"];

/// A cluster of its own.
pub struct Members {
    all: Vec<Member>,
    scheme: &'static str,
    prefixes: AtomicUsize,
}

/// Of one member.
#[derive(Debug, Clone)]
pub struct Ports {
    /// For clients.
    pub client: HeldPort,
    /// For the other members.
    pub peer: HeldPort,
}

struct Member {
    arguments: Vec<String>,
    process: Child,
    ports: Ports,
    _data: TempDir,
}

/// One member that all tests of this process share, each below a prefix of its own. It ends with the process.
pub fn shared() -> &'static Members {
    static SHARED: OnceLock<Members> = OnceLock::new();
    SHARED.get_or_init(|| Members::start(1))
}

/// Builds the program once for its sources; a later call finds it.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<std::path::PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/cluster/build.sh");
        let built = Command::new(script).output().unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        Path::new(String::from_utf8(built.stdout).unwrap().trim()).join("dm-cluster")
    })
}

/// For so many members.
pub fn free_ports(count: usize) -> Vec<Ports> {
    let port = || HeldPort::take().unwrap();
    let ports = |_| Ports {
        client: port(),
        peer: port(),
    };
    (0..count).map(ports).collect()
}

impl Members {
    pub fn start(count: usize) -> Self {
        Self::start_with(count, "http", &[])
    }

    /// Members that listen for clients by this scheme, with further flags.
    pub fn start_with(count: usize, scheme: &'static str, flags: &[&str]) -> Self {
        let ports = free_ports(count);
        let peers: Vec<_> = ports.iter().map(|ports| ports.peer.number()).collect();
        Self::start_behind(&ports, &peers, scheme, &[NO_DISK, flags].concat())
    }

    /// The same at these ports. The members reach each other at `peers`, which lead to their ports.
    pub fn start_behind(
        ports: &[Ports],
        peers: &[u16],
        scheme: &'static str,
        flags: &[&str],
    ) -> Self {
        let urls: Vec<_> = peers
            .iter()
            .map(|peer| format!("http://127.0.0.1:{peer}"))
            .collect();
        let cluster = urls.iter().enumerate();
        let cluster: Vec<_> = cluster.map(|(n, url)| format!("m{n}={url}")).collect();
        let member = |(n, ports): (usize, &Ports)| {
            let data = tempfile::tempdir().unwrap();
            let (client_url, peer_url) = (
                format!("{scheme}://127.0.0.1:{}", ports.client.number()),
                format!("http://127.0.0.1:{}", ports.peer.number()),
            );
            let arguments = [
                ("--name", format!("m{n}")),
                ("--data-dir", data.path().display().to_string()),
                ("--listen-client-urls", client_url.clone()),
                ("--advertise-client-urls", client_url),
                ("--listen-peer-urls", peer_url),
                ("--initial-advertise-peer-urls", urls[n].clone()),
                ("--initial-cluster", cluster.join(",")),
                ("--log-level", "error".to_owned()),
            ];
            let arguments = arguments
                .into_iter()
                .flat_map(|(flag, value)| [flag.to_owned(), value]);
            let flags = flags.iter().map(|flag| (*flag).to_owned());
            let arguments: Vec<_> = arguments.chain(flags).collect();
            Member {
                process: spawn(&arguments),
                arguments,
                ports: ports.clone(),
                _data: data,
            }
        };
        Self {
            all: ports.iter().enumerate().map(member).collect(),
            scheme,
            prefixes: AtomicUsize::new(0),
        }
    }

    /// Addresses with a prefix that nobody uses yet.
    pub fn address(&self) -> String {
        let number = self.prefixes.fetch_add(1, Ordering::Relaxed);
        let members = self.all.iter();
        let members: Vec<_> = members
            .map(|member| {
                format!(
                    "{}://127.0.0.1:{}",
                    self.scheme,
                    member.ports.client.number()
                )
            })
            .collect();
        format!("{}/test/{number}", members.join(","))
    }

    pub fn kill(&mut self, number: usize) {
        let member = &mut self.all[number];
        member.process.kill().unwrap();
        member.process.wait().unwrap();
    }

    pub fn restart(&mut self, number: usize) {
        let member = &mut self.all[number];
        member.process = spawn(&member.arguments);
    }

    pub fn signal(&self, number: usize, signal: Signal) {
        let id = self.all[number].process.id();
        kill(Pid::from_raw(i32::try_from(id).unwrap()), signal).unwrap();
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        for member in &mut self.all {
            let _ = member.process.kill();
            let _ = member.process.wait();
        }
    }
}

fn spawn(arguments: &[String]) -> Child {
    Command::new(program())
        .args(["etcd", "--die-with-parent"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
