//! How services and their clients know each other: TLS, certificates that change while both run, and who is let in.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use actix_web::{HttpRequest, HttpResponse, web};
use common::client::http::Endpoint;
use common::client::{ClientAccess, ClientError, ServiceFlags};
use common::json::Limits;
use common::server::observe::health::{Check, readiness};
use common::server::{CallerFlags, CallerPolicy, Listen, Peer, ServeError, Tls, serve};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber, date_time_ymd,
};
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(20);
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// A folder with what the files of a test hold.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// An authority, and what it signs.
    fn authority(&self, name: &str) -> Issuer<'static, KeyPair> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        self.write(&format!("{name}.pem"), &own.pem());
        Issuer::new(params, key)
    }

    fn sign(&self, authority: &Issuer<'_, KeyPair>, file: &str, common_name: &str) {
        self.sign_with(authority, file, common_name, |_| {});
    }

    fn sign_with(
        &self,
        authority: &Issuer<'_, KeyPair>,
        file: &str,
        common_name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        params
            .distinguished_name
            .push(DnType::OrganizationName, "services");
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, authority).unwrap();
        self.write(&format!("{file}.pem"), &certificate.pem());
        self.write(&format!("{file}.key"), &key.serialize_pem());
    }

    /// The list of what an authority has taken back.
    fn revoke(&self, authority: &Issuer<'_, KeyPair>, serials: &[u64]) -> PathBuf {
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 1, 1),
            // Long over: how old a list is does not matter.
            next_update: date_time_ymd(2026, 1, 2),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(authority).unwrap();
        self.write("revoked.pem", &list.pem().unwrap())
    }

    fn tls(&self, client_ca: Option<&str>) -> Tls {
        Tls {
            tls_cert: Some(self.path("server.pem")),
            tls_key: Some(self.path("server.key")),
            client_ca: client_ca.map(|name| self.path(name)),
            client_crl: None,
            require_client_cert: false,
        }
    }

    /// A client that knows the authority `ca`, and shows a certificate or a token.
    fn client(&self, url: &str, shows: Option<&str>, token: Option<&Path>) -> Endpoint {
        let flags = ServiceFlags {
            service_ca: Some(self.path("ca.pem")),
            service_cert: shows.map(|name| self.path(&format!("{name}.pem"))),
            service_key: shows.map(|name| self.path(&format!("{name}.key"))),
            service_token_file: token.map(Path::to_owned),
        };
        Endpoint::new("the service", url, Limits::ANSWER, &flags.access().unwrap()).unwrap()
    }
}

async fn peer(request: HttpRequest) -> HttpResponse {
    let peer = Peer::from_request(&request);
    let certificate = peer.certificate.unwrap_or_default();
    HttpResponse::Ok().json(serde_json::json!({
        "address": peer.address,
        "user": certificate.common_name,
        "groups": certificate.organizations,
    }))
}

async fn ready(request: HttpRequest) -> HttpResponse {
    readiness(&request, vec![Check::down("store", "at a secret place")])
}

/// Serves on a free port until the test ends; its address.
async fn start(files: &Files, tls: Tls, access: CallerPolicy) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let port_file = files.path(&format!("port-{number}"));
    let scheme = if tls.tls_cert.is_some() {
        "https"
    } else {
        "http"
    };
    let listen = Listen {
        port_file: Some(port_file.clone()),
        tls,
        ..Listen::default()
    };
    tokio::spawn(async move {
        serve(&listen, ANY, access, |routes| {
            routes.route("/peer", web::get().to(peer));
            routes.route("/readyz", web::get().to(ready));
        })
        .await
    });
    let started = Instant::now();
    loop {
        match std::fs::read_to_string(&port_file) {
            Ok(port) => break format!("{scheme}://127.0.0.1:{}", port.trim()),
            Err(error) => assert!(started.elapsed() < PATIENCE, "no port: {error}"),
        }
        tokio::task::yield_now().await;
    }
}

async fn ask(client: &Endpoint) -> Result<Value, ClientError> {
    let request = client.request(Method::GET, &["peer"]);
    client.fetch(request, Some(PATIENCE)).await
}

fn status(outcome: Result<Value, ClientError>) -> u16 {
    match outcome {
        Ok(_) => 200,
        Err(ClientError::Answered(body)) => body.code.status(),
        // Refused in the handshake.
        Err(_) => 0,
    }
}

fn only_the_manager(token_file: Option<PathBuf>) -> CallerPolicy {
    CallerPolicy::Services(CallerFlags {
        service_token_file: token_file,
        allowed_clients: vec!["manager".to_owned()],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verified_certificate_says_who_the_peer_is() {
    let files = Files::new();
    let ca = files.authority("ca");
    files.sign(&ca, "server", "server");
    files.sign(&ca, "client", "ada");
    let url = start(&files, files.tls(Some("ca.pem")), CallerPolicy::Checked).await;
    let known = ask(&files.client(&url, Some("client"), None))
        .await
        .unwrap();
    assert_eq!(known["user"], "ada");
    assert_eq!(known["groups"], serde_json::json!(["services"]));
    assert_eq!(known["address"], "127.0.0.1");
    let unknown = ask(&files.client(&url, None, None)).await.unwrap();
    assert_eq!(unknown["user"], Value::Null);

    let other = files.authority("other");
    files.sign(&other, "forged", "ada");
    assert_eq!(
        status(ask(&files.client(&url, Some("forged"), None)).await),
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_authority_is_not_trusted_is_not_talked_to() {
    let files = Files::new();
    let other = files.authority("other");
    files.authority("ca");
    files.sign(&other, "server", "server");
    let url = start(&files, files.tls(None), CallerPolicy::Checked).await;
    let outcome = ask(&files.client(&url, None, None)).await;
    assert!(
        matches!(&outcome, Err(ClientError::Untrusted { reason, .. }) if reason.contains("UnknownIssuer")),
        "{outcome:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_certificate_is_over_early_or_anothers_is_not_talked_to_and_it_is_said_why()
{
    let files = Files::new();
    let ca = files.authority("ca");
    type Change = fn(&mut CertificateParams);
    let cases: [(Change, &str); 3] = [
        (
            |params| params.not_after = date_time_ymd(2020, 1, 1),
            "it has expired",
        ),
        (
            |params| params.not_before = date_time_ymd(3000, 1, 1),
            "it is not valid yet",
        ),
        (
            |params| {
                params.subject_alt_names = vec![rcgen::SanType::DnsName(
                    "elsewhere.example.com".try_into().unwrap(),
                )];
            },
            "it is for other names",
        ),
    ];
    for (change, expected) in cases {
        files.sign_with(&ca, "server", "server", change);
        let url = start(&files, files.tls(None), CallerPolicy::Checked).await;
        let outcome = ask(&files.client(&url, None, None)).await;
        assert!(
            matches!(&outcome, Err(ClientError::Untrusted { reason, .. }) if reason.starts_with(expected)),
            "{expected}: {outcome:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_certificate_is_over_early_or_not_for_clients_is_refused() {
    let files = Files::new();
    let ca = files.authority("ca");
    files.sign(&ca, "server", "server");
    let url = start(&files, files.tls(Some("ca.pem")), CallerPolicy::Checked).await;
    type Change = fn(&mut CertificateParams);
    let cases: [Change; 3] = [
        |params| params.not_after = date_time_ymd(2020, 1, 1),
        |params| params.not_before = date_time_ymd(3000, 1, 1),
        |params| params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth],
    ];
    for change in cases {
        files.sign_with(&ca, "client", "ada", change);
        let client = files.client(&url, Some("client"), None);
        assert_eq!(status(ask(&client).await), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_certificate_is_refused_from_when_its_list_is_there() {
    let files = Files::new();
    let ca = files.authority("ca");
    files.sign(&ca, "server", "server");
    for (file, serial) in [("ada", 7_u64), ("bob", 8)] {
        files.sign_with(&ca, file, file, |params| {
            params.serial_number = Some(SerialNumber::from(serial));
        });
    }
    let tls = Tls {
        client_crl: Some(files.revoke(&ca, &[])),
        ..files.tls(Some("ca.pem"))
    };
    let url = start(&files, tls, CallerPolicy::Checked).await;
    // As a new connection each.
    let user = |file| {
        let client = files.client(&url, Some(file), None);
        async move { status(ask(&client).await) }
    };
    assert_eq!((user("ada").await, user("bob").await), (200, 200));
    files.revoke(&ca, &[7]);
    let since = Instant::now();
    while user("ada").await != 0 {
        assert!(since.elapsed() < PATIENCE);
    }
    assert_eq!(user("bob").await, 200);

    // A list that cannot be used changes nothing.
    files.write("revoked.pem", "");
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(1500) {
        assert_eq!((user("ada").await, user("bob").await), (0, 200));
    }
    // Without a list of their authority, certificates are refused: one may be revoked.
    let other = files.authority("other");
    files.revoke(&other, &[]);
    let since = Instant::now();
    while user("bob").await != 0 {
        assert!(since.elapsed() < PATIENCE);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_change_on_both_sides_while_both_run_and_broken_ones_change_nothing() {
    let files = Files::new();
    let ca = files.authority("ca");
    files.sign(&ca, "server", "server");
    files.sign(&ca, "client", "old");
    let url = start(&files, files.tls(Some("ca.pem")), CallerPolicy::Checked).await;
    // As a new connection each, with the client's files as they are.
    let user = || async {
        let client = files.client(&url, Some("client"), None);
        ask(&client).await.map(|peer| peer["user"].clone())
    };
    let kept = files.client(&url, Some("client"), None);
    assert_eq!(user().await.unwrap(), "old");

    // A key that does not fit, and half a file: the old pair goes on.
    let good = std::fs::read_to_string(files.path("server.key")).unwrap();
    for broken in [
        KeyPair::generate().unwrap().serialize_pem(),
        good[..40].to_owned(),
    ] {
        files.write("server.key", &broken);
        let since = Instant::now();
        while since.elapsed() < Duration::from_millis(1500) {
            assert_eq!(user().await.unwrap(), "old");
        }
    }

    // All of it anew, by another authority.
    let new = files.authority("ca");
    files.sign(&new, "server", "server");
    files.sign(&new, "client", "new");
    let since = Instant::now();
    while !matches!(user().await, Ok(name) if name == "new") {
        assert!(since.elapsed() < PATIENCE, "{:?}", user().await);
    }
    while !matches!(ask(&kept).await, Ok(peer) if peer["user"] == "new") {
        // Its connection is an old one until that is closed.
        assert!(since.elapsed() < 2 * PATIENCE);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_manager_gets_in_by_its_token_or_its_certificate() {
    let files = Files::new();
    let ca = files.authority("ca");
    for (file, name) in [
        ("server", "server"),
        ("manager", "manager"),
        ("other", "other"),
    ] {
        files.sign(&ca, file, name);
    }
    let tokens = files.write(
        "tokens",
        "first-0123456789abcdef\nsecond-0123456789abcdef\n",
    );
    let second = files.write("second", "second-0123456789abcdef\n");
    let wrong = files.write("wrong", "wrong-0123456789abcdef\n");
    let access = only_the_manager(Some(tokens.clone()));
    let url = start(&files, files.tls(Some("ca.pem")), access).await;
    for (shows, token, expected) in [
        (Some("manager"), None, 200),
        (Some("other"), None, 403),
        (None, None, 401),
        (None, Some(&tokens), 200),
        (None, Some(&second), 200),
        (None, Some(&wrong), 401),
        (Some("other"), Some(&second), 200),
        (Some("other"), Some(&wrong), 401),
    ] {
        let client = files.client(&url, shows, token.map(PathBuf::as_path));
        let outcome = status(ask(&client).await);
        assert_eq!(outcome, expected, "{shows:?} {token:?}");
    }

    // A token that was taken out of the file ends, and the client that has it goes on with the new one.
    let client = files.client(&url, None, Some(&second));
    files.write("tokens", "third-0123456789abcdef\n");
    let since = Instant::now();
    while status(ask(&client).await) != 401 {
        assert!(since.elapsed() < PATIENCE);
    }
    files.write("second", "third-0123456789abcdef\n");
    while status(ask(&client).await) != 200 {
        assert!(since.elapsed() < 2 * PATIENCE);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_hear_that_a_service_lives_and_is_ready_and_no_more() {
    let files = Files::new();
    files.authority("ca");
    let tokens = files.write("tokens", "first-0123456789abcdef\n");
    let url = start(
        &files,
        Tls::default(),
        only_the_manager(Some(tokens.clone())),
    )
    .await;
    let stranger = Endpoint::new(
        "the service",
        &url,
        Limits::ANSWER,
        &ClientAccess::default(),
    )
    .unwrap();
    let health = stranger
        .send(stranger.request(Method::GET, &["healthz"]), None)
        .await;
    assert_eq!(health.unwrap().text().await.unwrap(), "ok\n");
    let found = stranger.readiness(PATIENCE).await.unwrap();
    assert_eq!((found.ready, found.checks[0].message.as_str()), (false, ""));
    for closed in ["metrics", "peer", "nowhere"] {
        let answer = stranger
            .send(stranger.request(Method::GET, &[closed]), None)
            .await;
        let Err(ClientError::Answered(body)) = answer else {
            unreachable!("{closed} was answered: {answer:?}")
        };
        assert_eq!(body.code.status(), 401, "{closed}");
        assert!(!body.message.contains("0123456789"), "{}", body.message);
    }
    let manager = files.client(&url, None, Some(&tokens));
    let found = manager.readiness(PATIENCE).await.unwrap();
    assert_eq!(found.checks[0].message, "at a secret place");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_authentication_no_other_address_than_loopback_is_listened_on() {
    let listen = Listen {
        listen: Some("0.0.0.0:0".parse().unwrap()),
        ..Listen::default()
    };
    for access in [
        CallerPolicy::Open("--auth-tokens FILE"),
        only_the_manager(None),
    ] {
        let refused = serve(&listen, ANY, access, |_| {}).await;
        let Err(ServeError::Unguarded(error)) = refused else {
            unreachable!("it listened: {refused:?}")
        };
        let message = error.to_string();
        assert!(message.starts_with("will not listen on 0.0.0.0:0 without authentication"));
        assert!(message.contains("configure --"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_no_pages_and_are_not_kept() {
    let files = Files::new();
    let url = start(&files, Tls::default(), CallerPolicy::Open("authentication")).await;
    let client = Endpoint::new(
        "the service",
        &url,
        Limits::ANSWER,
        &ClientAccess::default(),
    )
    .unwrap();
    let http = common::client::http::builder().build().unwrap();
    for path in ["healthz", "peer", "%3Cscript%3Ealert(1)%3C%2Fscript%3E"] {
        let answer = http
            .get(format!("{}{path}", client.url()))
            .send()
            .await
            .unwrap();
        let headers = answer.headers().clone();
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert!(!headers.contains_key("server"), "{path}");
        let kind = headers["content-type"].to_str().unwrap();
        assert!(!kind.contains("html"), "{path}: {kind}");
    }
}

/// What a service answers to a request for a path that names this host.
async fn named(url: &str, path: &str, host: &str) -> u16 {
    let client = common::client::http::builder().no_proxy().build().unwrap();
    let request = client.get(format!("{url}{path}")).header("host", host);
    let answer = request.timeout(PATIENCE).send().await.unwrap();
    answer.status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_service_that_knows_its_callers_is_served_under_every_name() {
    let files = Files::new();
    let token = files.write("tokens", &"t".repeat(40));
    let plain = Tls::default;
    let open = start(&files, plain(), CallerPolicy::Open("anything")).await;
    let unguarded = start(&files, plain(), only_the_manager(None)).await;
    for url in [open, unguarded] {
        for (host, status) in [
            ("localhost", 200),
            ("[::1]:8080", 200),
            ("rebound.example.com", 421),
            ("10.0.0.1", 421),
        ] {
            assert_eq!(named(&url, "/peer", host).await, status, "{host}");
            assert_eq!(named(&url, "/healthz", host).await, 200, "{host}");
        }
    }
    let host = "dm.example.com";
    let checked = start(&files, plain(), CallerPolicy::Checked).await;
    assert_eq!(named(&checked, "/peer", host).await, 200);
    let guarded = start(&files, plain(), only_the_manager(Some(token))).await;
    assert_eq!(named(&guarded, "/peer", host).await, 401);
}
