//! The store's bad luck, seen from outside: what the manager's process says, and how it ends.

#![expect(clippy::unwrap_used, reason = "what drives the tests is part of them")]

#[expect(dead_code, reason = "the store's own tests use the rest")]
mod etcd_members;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

/// Starting takes a second or so.
const PATIENCE: Duration = Duration::from_secs(30);

fn manager(store: &Path, port_file: &Path) -> Command {
    manager_on(&format!("sled:{}", store.display()), port_file)
}

fn manager_on(store: &str, port_file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manager"));
    command
        .args(["--listen", "127.0.0.1:0", "--port-file"])
        .arg(port_file)
        .args(["--store", store])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// One that runs, and does not outlive its test.
struct Running(Child);

impl Running {
    fn start(store: &Path, folder: &Path) -> Self {
        let port_file = folder.join("port");
        let _ = std::fs::remove_file(&port_file);
        let mut running = Self(manager(store, &port_file).spawn().unwrap());
        running.listens(&port_file);
        running
    }

    /// One of several on etcd, which share the file with the keys.
    fn on_etcd(address: &str, folder: &Path, port_file: &Path) -> Self {
        let mut command = manager_on(&format!("etcd:{address}"), port_file);
        command.arg("--credential-key").arg(folder.join("key"));
        Self(command.spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.0.id()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal).unwrap();
    }

    fn listens(&mut self, port_file: &Path) {
        let deadline = Instant::now() + PATIENCE;
        while !port_file.exists() {
            assert_eq!(self.0.try_wait().unwrap(), None, "it ended");
            assert!(Instant::now() < deadline, "it does not listen");
            std::thread::yield_now();
        }
    }
}

/// The status and the body of an answer to `GET`.
fn get(port_file: &Path, path: &str) -> String {
    send(port_file, "GET", path, "")
}

fn send(port_file: &Path, method: &str, path: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let port = std::fs::read_to_string(port_file).unwrap();
    let address = format!("127.0.0.1:{}", port.trim());
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Waits until the log has the text. Reads not a byte more, so that the next call finds what follows.
fn logs(manager: &mut Running, text: &str) {
    use std::io::Read as _;
    let log = manager.0.stderr.as_mut().unwrap();
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !seen.ends_with(text.as_bytes()) {
        let read = log.read(&mut byte).unwrap();
        let said = String::from_utf8_lossy(&seen);
        assert_eq!(read, 1, "it ended without {text:?}: {said}");
        seen.extend(byte);
    }
}

#[test]
fn every_manager_on_etcd_answers_and_the_next_one_takes_over_when_one_is_killed_and_when_it_stops()
{
    let folder = tempfile::tempdir().unwrap();
    let ports = ["first", "second", "third"].map(|name| folder.path().join(name));
    let address = etcd_members::shared().address();
    let start = |port_file| Running::on_etcd(&address, folder.path(), port_file);
    let mut first = start(&ports[0]);
    first.listens(&ports[0]);
    let answer = get(&ports[0], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    let mut second = start(&ports[1]);
    second.listens(&ports[1]);
    // The second one passes it on.
    let answer = get(&ports[1], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    // At once, without any clean-up. A request waits for the next owner.
    drop(first);
    let answer = get(&ports[1], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    logs(&mut second, "is open; 0 operations go on");
    let mut third = start(&ports[2]);
    third.listens(&ports[2]);
    second.signal(Signal::SIGTERM);
    let answer = get(&ports[2], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    assert!(second.0.wait().unwrap().success());
}

/// The signal comes while the manager waits for the store and opens it, and a request that it has in hand waits for it.
#[test]
fn a_manager_that_is_stopped_while_it_starts_ends_well() {
    const STEP: Duration = Duration::from_millis(10);
    let folder = tempfile::tempdir().unwrap();
    let address = etcd_members::shared().address();
    for number in 0..6 {
        let port_file = folder.path().join(format!("port-{number}"));
        let mut manager = Running::on_etcd(&address, folder.path(), &port_file);
        manager.listens(&port_file);
        let port = std::fs::read_to_string(&port_file).unwrap();
        let mut asking =
            std::net::TcpStream::connect(format!("127.0.0.1:{}", port.trim())).unwrap();
        let request = b"GET /deployments HTTP/1.1\r\nHost: localhost\r\n\r\n";
        std::io::Write::write_all(&mut asking, request).unwrap();
        let at = Instant::now() + STEP * number;
        while Instant::now() < at {
            std::thread::yield_now();
        }
        manager.signal(Signal::SIGTERM);
        let mut log = String::new();
        std::io::Read::read_to_string(manager.0.stderr.as_mut().unwrap(), &mut log).unwrap();
        let ended = manager.0.wait().unwrap();
        assert!(
            ended.success(),
            "after {number} times {STEP:?}: {ended}, {log}"
        );
    }
}

#[test]
fn a_waiting_manager_stops_when_it_is_to_and_says_who_has_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let ports = ["first", "second"].map(|name| folder.path().join(name));
    let address = etcd_members::shared().address();
    let mut first = Running::on_etcd(&address, folder.path(), &ports[0]);
    first.listens(&ports[0]);
    let answer = get(&ports[0], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    let mut second = Running::on_etcd(&address, folder.path(), &ports[1]);
    logs(&mut second, "has the store; this one passes requests on");
    assert!(get(&ports[1], "/healthz").starts_with("HTTP/1.0 200"));
    // The owner's readiness, and the own metrics.
    assert!(get(&ports[1], "/readyz").contains("\"store\""));
    assert!(get(&ports[1], "/metrics").contains("dm_http_requests_total"));
    // A write through the one is read through the other.
    let credential = r#"{"token": "secret"}"#;
    let answer = send(&ports[1], "POST", "/credentials/written", credential);
    assert!(answer.starts_with("HTTP/1.0 201"), "{answer}");
    let answer = get(&ports[0], "/credentials");
    assert!(answer.contains("written"), "{answer}");
    second.signal(Signal::SIGTERM);
    assert!(second.0.wait().unwrap().success());
}

#[test]
fn a_manager_that_was_paused_while_another_took_over_ends_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let ports = ["first", "second"].map(|name| folder.path().join(name));
    let address = etcd_members::shared().address();
    let mut first = Running::on_etcd(&address, folder.path(), &ports[0]);
    // A manager that is paused in the middle of a commit has another reason to end.
    logs(&mut first, "is open; 0 operations go on");
    let mut second = Running::on_etcd(&address, folder.path(), &ports[1]);
    logs(&mut second, "has the store; this one passes requests on");
    first.signal(Signal::SIGSTOP);
    // It is passed on to the paused one, which never answers, and then served by the next one.
    let answer = get(&ports[1], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    logs(&mut second, "is open; 0 operations go on");
    first.signal(Signal::SIGCONT);
    let mut said = String::new();
    let mut stderr = first.0.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
    assert_eq!(first.0.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("no longer has the store"), "{said}");
    let answer = get(&ports[1], "/deployments");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
}

/// The signal reaches the servers of a waiting manager, which are replaced at this moment.
#[test]
fn a_manager_that_is_to_stop_while_it_takes_the_store_over_stops() {
    let folder = tempfile::tempdir().unwrap();
    let port_file = folder.path().join("port");
    for _ in 0..5 {
        let address = etcd_members::shared().address();
        let mut manager = Running::on_etcd(&address, folder.path(), &port_file);
        logs(&mut manager, "is open; 0 operations go on");
        manager.signal(Signal::SIGTERM);
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match manager.0.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < deadline, "it does not stop"),
            }
            std::thread::yield_now();
        };
        assert!(status.success(), "{status}");
    }
}

#[test]
fn a_manager_on_etcd_takes_over_the_state_of_a_folder_that_no_manager_serves_again() {
    let folder = tempfile::tempdir().unwrap();
    let (store, port_file) = (folder.path().join("store"), folder.path().join("port"));
    let key = folder.path().join("key");
    let on_disk = |port_file| {
        let mut command = manager(&store, port_file);
        command.arg("--credential-key").arg(&key);
        command
    };
    let mut first = Running(on_disk(&port_file).spawn().unwrap());
    first.listens(&port_file);
    let credential = r#"{"token": "secret"}"#;
    let answer = send(&port_file, "POST", "/credentials/moved", credential);
    assert!(answer.starts_with("HTTP/1.0 201"), "{answer}");
    first.signal(Signal::SIGTERM);
    assert!(first.0.wait().unwrap().success());
    let address = etcd_members::shared().address();
    let on_etcd = || {
        let mut command = manager_on(&format!("etcd:{address}"), &port_file);
        command.arg("--credential-key").arg(&key);
        command.arg(format!("--store-from=sled:{}", store.display()));
        Running(command.spawn().unwrap())
    };
    for said in ["the state of", "the store has state"] {
        let mut second = on_etcd();
        logs(&mut second, said);
        logs(&mut second, "is open; 0 operations go on");
        let answer = get(&port_file, "/credentials");
        assert!(answer.contains("moved"), "{answer}");
        second.signal(Signal::SIGTERM);
        assert!(second.0.wait().unwrap().success());
    }
    let refused = on_disk(&port_file).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains(&format!("was moved to etcd:{address}")),
        "{said}"
    );
}

/// It must not stand by: requests that it passed on would reach the other installation.
#[test]
fn a_prefix_of_another_installation_is_refused_while_its_manager_runs_and_after_that() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ports = ["first", "second"].map(|name| folder.path().join(name));
    let address = etcd_members::shared().address();
    let mut first = Running::on_etcd(&address, folder.path(), &ports[0]);
    logs(&mut first, "is open; 0 operations go on");
    let refused = || {
        let mut command = manager_on(&format!("etcd:{address}"), &ports[1]);
        let key = other.path().join("key");
        let ended = command.arg("--credential-key").arg(key).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("another installation's"), "{said}");
    };
    refused();
    first.signal(Signal::SIGTERM);
    assert!(first.0.wait().unwrap().success());
    refused();
    let mut again = Running::on_etcd(&address, folder.path(), &ports[1]);
    logs(&mut again, "is open; 0 operations go on");
}

#[test]
fn a_store_on_etcd_without_a_key_file_or_without_members_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let port_file = folder.path().join("port");
    let mut command = manager_on("etcd:http://127.0.0.1:1/dm", &port_file);
    let without_key = command.output().unwrap();
    let said = String::from_utf8(without_key.stderr).unwrap();
    assert!(said.contains("--credential-key"), "{said}");
    command
        .arg("--credential-key")
        .arg(folder.path().join("key"));
    let away = command.output().unwrap();
    let said = String::from_utf8(away.stderr).unwrap();
    assert_eq!(away.status.code(), Some(1), "{said}");
    assert!(said.contains("127.0.0.1:1"), "{said}");
    assert!(said.contains("unreachable"), "{said}");
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one that cannot; gives what it said.
fn refused(store: &Path, folder: &Path) -> String {
    let Output { status, stderr, .. } = manager(store, &folder.join("refused")).output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn of_two_managers_on_one_store_the_second_says_so_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let first = Running::start(&store, folder.path());
    let said = refused(&store, folder.path());
    assert!(said.contains("in use by another manager"), "{said}");
    assert!(said.contains(&store.display().to_string()), "{said}");
    drop(first);
    Running::start(&store, folder.path());
}

#[test]
fn a_store_whose_file_is_damaged_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    let log = store.join("db");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.iter_mut().for_each(|byte| *byte ^= 0xff);
    std::fs::write(&log, bytes).unwrap();
    let said = refused(&store, folder.path());
    assert!(said.contains(&log.display().to_string()), "{said}");
    assert!(said.contains("restore a backup"), "{said}");
}

#[test]
fn a_store_whose_file_is_gone_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    std::fs::remove_file(store.join("db")).unwrap();
    let said = refused(&store, folder.path());
    assert!(said.contains("restore a backup"), "{said}");
}

#[test]
fn a_manager_that_is_killed_while_it_opens_its_store_keeps_no_later_one_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    drop(Running::start(&store, folder.path()));
    for _ in 0..5 {
        let mut starting = manager(&store, &folder.path().join("starting"))
            .spawn()
            .unwrap();
        starting.kill().unwrap();
        starting.wait().unwrap();
        drop(Running::start(&store, folder.path()));
    }
}
