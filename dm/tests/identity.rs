//! The identity of `dm`: credentials of a kubeconfig are sent only to a manager that asks for them, over real TLS.
#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix_web::http::header::AUTHORIZATION;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::server::{CallerPolicy, Listen, Peer, Tls, serve};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(20);
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// An authority, and what it has signed in a folder.
struct Files {
    folder: TempDir,
    authority: Issuer<'static, KeyPair>,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), own.pem()).unwrap();
        let files = Self {
            folder,
            authority: Issuer::new(params, key),
        };
        files.sign("server");
        files
    }

    /// `NAME.pem` and `NAME.key`.
    fn sign(&self, name: &str) {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.authority).unwrap();
        self.write(&format!("{name}.pem"), &signed.pem());
        self.write(&format!("{name}.key"), &key.serialize_pem());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn base64(&self, name: &str) -> String {
        STANDARD.encode(std::fs::read(self.path(name)).unwrap())
    }

    /// The user as a kubeconfig has them.
    fn kubeconfig(&self, user: &Value) {
        let config = json!({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "jane"}}],
            "clusters": [{"name": "k", "cluster": {"server": "https://cluster.example.com"}}],
            "users": [{"name": "jane", "user": user}],
        });
        self.write("kubeconfig", &config.to_string());
    }

    /// A plugin that prints this, with the number of its run for `RUN`.
    fn plugin(&self, prints: &Value) -> Value {
        let count = self.path("runs").display().to_string();
        let prints = json!({"kind": "ExecCredential", "status": prints}).to_string();
        let script = format!(
            "#!/bin/sh\necho x >> '{count}'\nrun=$(wc -l < '{count}')\ncat <<E | sed \"s/RUN/$run/\"\n{prints}\nE\n"
        );
        self.write("plugin", &script);
        let path = self.path("plugin");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin"}})
    }

    fn tls(&self, client_ca: bool, required: bool) -> Tls {
        Tls {
            tls_cert: Some(self.path("server.pem")),
            tls_key: Some(self.path("server.key")),
            client_ca: client_ca.then(|| self.path("ca.pem")),
            require_client_cert: required,
            ..Tls::default()
        }
    }

    async fn whoami(&self, manager: &Manager) -> (bool, String) {
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_dm"))
            .args(["whoami", "--service", &manager.url, "--ca-file"])
            .arg(self.path("ca.pem"))
            .env("KUBECONFIG", self.path("kubeconfig"))
            .env_remove("DM_TOKEN")
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }
}

/// The callers that a manager accepts, and the credentials that it received.
struct Rules {
    by_certificate: bool,
    /// Tokens that begin so are known.
    by_token: bool,
    /// Callers without credentials are accepted.
    is_open: bool,
    shown: Mutex<Vec<String>>,
}

struct Manager {
    url: String,
    rules: Arc<Rules>,
}

impl Manager {
    fn shown(&self) -> Vec<String> {
        self.rules.shown.lock().unwrap().clone()
    }
}

async fn whoami(request: HttpRequest, rules: web::Data<Arc<Rules>>) -> HttpResponse {
    let certificate = Peer::from_request(&request).certificate;
    let certificate = certificate.and_then(|shown| shown.common_name.clone());
    let token = request.headers().get(AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let mut shown = rules.shown.lock().unwrap();
    shown.extend(certificate.iter().map(|name| format!("certificate {name}")));
    shown.extend(token.map(|token| format!("token {token}")));
    let known = token
        .filter(|_| rules.by_token)
        .map(str::to_owned)
        .or_else(|| certificate.filter(|_| rules.by_certificate))
        .or_else(|| rules.is_open.then(|| "anonymous".to_owned()));
    match known {
        Some(user) => HttpResponse::Ok().json(json!({"user": user, "groups": []})),
        None => HttpResponse::Unauthorized()
            .json(json!({"code": "UNAUTHENTICATED", "message": "who asks?"})),
    }
}

async fn start(files: &Files, tls: Tls, (by_certificate, by_token): (bool, bool)) -> Manager {
    let rules = Arc::new(Rules {
        by_certificate,
        by_token,
        is_open: !by_certificate && !by_token,
        shown: Mutex::default(),
    });
    let scheme = if tls.tls_cert.is_some() {
        "https"
    } else {
        "http"
    };
    let port_file = files.path(&format!("port-{}", common::request_id::fresh()));
    let listen = Listen {
        port_file: Some(port_file.clone()),
        tls,
        ..Listen::default()
    };
    let data = web::Data::new(rules.clone());
    tokio::spawn(async move {
        serve(&listen, ANY, CallerPolicy::Checked, move |routes| {
            routes.app_data(data.clone());
            routes.route("/whoami", web::get().to(whoami));
        })
        .await
    });
    let started = Instant::now();
    let port = loop {
        match std::fs::read_to_string(&port_file) {
            Ok(port) => break port,
            Err(error) => assert!(started.elapsed() < PATIENCE, "no port: {error}"),
        }
        tokio::task::yield_now().await;
    };
    Manager {
        url: format!("{scheme}://127.0.0.1:{}", port.trim()),
        rules,
    }
}

const CERTIFICATES: (bool, bool) = (true, false);
const TOKENS: (bool, bool) = (false, true);
const NOBODY_ASKED: (bool, bool) = (false, false);

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfigs_certificate_is_shown_to_a_manager_that_asks_for_one() {
    let files = Files::new();
    files.sign("ada");
    let in_files = json!({"client-certificate": "ada.pem", "client-key": "ada.key"});
    let in_data = json!({"client-certificate-data": files.base64("ada.pem"), "client-key-data": files.base64("ada.key")});
    let mixed =
        json!({"client-certificate": "ada.pem", "client-key-data": files.base64("ada.key")});
    let pem = |name: &str| std::fs::read_to_string(files.path(name)).unwrap();
    let of_plugin =
        files.plugin(&json!({"clientCertificateData": pem("ada.pem"), "clientKeyData": pem("ada.key"), "expirationTimestamp": "2000-01-01T00:00:00Z"}));
    for required in [false, true] {
        let manager = start(&files, files.tls(true, required), CERTIFICATES).await;
        for user in [&in_files, &in_data, &mixed, &of_plugin] {
            files.kubeconfig(user);
            let (ok, said) = files.whoami(&manager).await;
            assert!(ok && said == "ada\n", "{required} {user}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_kubeconfig_has_is_shown_to_nobody_who_does_not_ask() {
    let files = Files::new();
    files.sign("ada");
    let both =
        json!({"token": "secret-1", "client-certificate": "ada.pem", "client-key": "ada.key"});
    files.kubeconfig(&both);
    let manager = start(&files, files.tls(true, false), NOBODY_ASKED).await;
    let (ok, said) = files.whoami(&manager).await;
    assert!(ok && said == "anonymous\n", "{said}");
    assert!(manager.shown().is_empty(), "{:?}", manager.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_token_and_certificate_that_is_shown_which_the_manager_knows_and_never_both() {
    let files = Files::new();
    files.sign("ada");
    let both =
        json!({"token": "secret-1", "client-certificate": "ada.pem", "client-key": "ada.key"});
    files.kubeconfig(&both);
    for (rules, expected) in [(TOKENS, "secret-1\n"), (CERTIFICATES, "ada\n")] {
        let manager = start(&files, files.tls(true, false), rules).await;
        let (ok, said) = files.whoami(&manager).await;
        assert!(ok && said == expected, "{said}");
    }
    // The token alone is what a manager hears that asks for no certificate.
    let manager = start(&files, files.tls(false, false), TOKENS).await;
    assert_eq!(
        files.whoami(&manager).await,
        (true, "secret-1\n".to_owned())
    );
    assert!(
        manager
            .shown()
            .iter()
            .all(|shown| shown == "token secret-1")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_shown_or_is_refused_is_said_with_what_to_do() {
    let files = Files::new();
    files.sign("ada");
    files.kubeconfig(&json!({"client-certificate": "ada.pem", "client-key": "ada.key"}));
    for (tls, expected) in [
        (Tls::default(), "cannot receive without https"),
        (files.tls(false, false), "does not ask for (--client-ca"),
    ] {
        let manager = start(&files, tls, TOKENS).await;
        let (ok, said) = files.whoami(&manager).await;
        let reported = said.contains(expected) && said.contains("DM_TOKEN");
        assert!(!ok && reported, "{expected}: {said}");
    }
    let other = Files::new();
    other.sign("eve");
    for end in ["pem", "key"] {
        std::fs::copy(
            other.path(&format!("eve.{end}")),
            files.path(&format!("eve.{end}")),
        )
        .unwrap();
    }
    files.kubeconfig(&json!({"client-certificate": "eve.pem", "client-key": "eve.key"}));
    let manager = start(&files, files.tls(true, false), CERTIFICATES).await;
    let (ok, said) = files.whoami(&manager).await;
    assert!(!ok, "{said}");
    assert!(manager.shown().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugins_token_is_asked_for_again_when_it_has_ended() {
    let files = Files::new();
    let manager = start(&files, files.tls(false, false), TOKENS).await;
    for (expires, expected) in [
        ("2999-01-01T00:00:00Z", "of-run-1\n"),
        ("2000-01-01T00:00:00Z", "of-run-2\n"),
    ] {
        let _ = std::fs::remove_file(files.path("runs"));
        files.kubeconfig(
            &files.plugin(&json!({"token": "of-run-RUN", "expirationTimestamp": expires})),
        );
        let (ok, said) = files.whoami(&manager).await;
        assert!(ok && said == expected, "{expires}: {said}");
    }
}
