//! What a manager says when the etcd that it is given cannot be used.

use super::super::super::KvError;
use super::super::testing::{Members, NO_DISK, free_ports, open, place, try_open};
use super::access::{certificates, known, opened, secured};
use super::*;

async fn said(address: &EtcdAddress) -> String {
    try_open(address).await.unwrap_err().to_string()
}

#[tokio::test]
async fn without_a_quorum_nothing_is_written_and_the_store_counts_as_unreachable() {
    let mut members = Members::start(3);
    let address: EtcdAddress = members.address().parse().unwrap();
    let kv = open(&address).await;
    kv.commit(numbered(1, "kept")).await.unwrap();
    members.kill(0);
    members.kill(2);
    // The member that is left answers for itself, until the lease may have ended.
    let mut answers = 0;
    let error = loop {
        match kv.scan(everything()).await {
            Ok(found) => assert_eq!(found.len(), 1),
            Err(error) => break error,
        }
        answers += 1;
        tokio::task::yield_now().await;
    };
    assert!(answers > 0, "no member answers for itself");
    assert!(matches!(error, KvError::Unreachable { .. }), "{error}");
    let error = said(&address).await;
    assert!(error.contains("the store is unreachable"), "{error}");
    assert!(error.contains("http://127.0.0.1"), "{error}");
    assert!(error.contains("none of the 3 members"), "{error}");
    assert!(error.contains("etcdctl endpoint status"), "{error}");
    drop(kv);
    members.restart(0);
    let kv = open(&address).await;
    assert_eq!(text(&kv, "entry/00000").await.as_deref(), Some("kept"));
}

/// The stand-in is all of an older etcd that a manager looks at.
#[tokio::test]
async fn an_older_etcd_is_named_with_the_version_that_is_needed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let older = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await.unwrap();
        let body = r#"{"etcdserver":"3.5.21","etcdcluster":"3.5.0"}"#;
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream
    });
    let error = said(&format!("http://{address}/dm").parse().unwrap()).await;
    assert!(error.contains("etcd 3.5.0"), "{error}");
    assert!(error.contains("use 3.6 or later"), "{error}");
    older.abort();
}

#[tokio::test]
async fn an_expired_certificate_is_named_whosever_it_is() {
    for name in ["member", "manager"] {
        let folder = tempfile::tempdir().unwrap();
        certificates(folder.path(), &[name]);
        let members = secured(folder.path());
        let address: EtcdAddress = members.address().parse().unwrap();
        let error = opened(&address, &known(folder.path())).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains("certificate"), "{name}: {error}");
        assert!(error.contains("expired"), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_store_with_the_keys_of_a_newer_manager_is_left_as_it_is() {
    let address = place();
    let kv = open(&address).await;
    let record = Change::Put(Put {
        key: kv.0.names.store(),
        value: Text(format!(r#"{{"layout":2,"cluster":"{}"}}"#, kv.0.client.cluster()).into()),
        lease: None,
    });
    kv.0.transact(&[], &[record]).await.unwrap();
    kv.release().await;
    let error = said(&address).await;
    assert!(
        error.contains("a newer manager wrote it: run that one"),
        "{error}"
    );
}

/// Gives this answer to everybody. Its address, and its task.
async fn stand_in(answer: &'static str) -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answers = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, answers)
}

const MISSING: &str =
    "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 9\r\n\r\nnot found";
const EMPTY: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";

#[tokio::test]
async fn an_address_of_something_else_is_left_for_a_member_and_named_if_there_is_none() {
    let members = Members::start(1);
    for (answer, advice) in [
        (MISSING, "is not an etcd (404"),
        (EMPTY, "check the addresses in --store"),
    ] {
        let (stranger, answers) = stand_in(answer).await;
        let error = said(&format!("http://{stranger}/dm").parse().unwrap()).await;
        assert!(error.contains(advice), "{error}");
        assert!(error.contains(&stranger.to_string()), "{error}");
        let both = format!("http://{stranger},{}", members.address());
        let kv = open(&both.parse().unwrap()).await;
        kv.commit(numbered(1, "kept")).await.unwrap();
        kv.release().await;
        answers.abort();
    }
}

#[tokio::test]
async fn an_owner_whose_etcd_was_made_anew_says_so_and_ends() {
    let ports = free_ports(1);
    let mut first = Members::start_behind(&ports, &[ports[0].peer.number()], "http", NO_DISK);
    let kv = open(&first.address().parse().unwrap()).await;
    let before = kv.0.client.cluster().to_owned();
    first.kill(0);
    let _second = Members::start_behind(
        &ports,
        &[ports[0].peer.number()],
        "http",
        &[NO_DISK, &["--initial-cluster-token", "another"]].concat(),
    );
    let error = kv.lost().await.to_string();
    assert!(
        error.contains(&format!("it is in cluster {before}")),
        "{error}"
    );
    assert!(error.contains("answers at its addresses"), "{error}");
}
