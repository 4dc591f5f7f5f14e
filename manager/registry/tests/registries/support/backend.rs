//! For tests: a git repository with the files of a folder, served over HTTP by `git http-backend`.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};

/// Ends with the test's runtime.
pub struct Backend {
    base: String,
    requests: Arc<AtomicUsize>,
    repository: PathBuf,
    server: actix_web::dev::ServerHandle,
    _root: tempfile::TempDir,
}

struct Served {
    root: PathBuf,
    requests: Arc<AtomicUsize>,
    authorization: Option<&'static str>,
}

fn git(repository: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

/// How it is served.
pub enum Kind {
    /// Everyone may read, or only requests with this `Authorization`.
    Plain(Option<&'static str>),
    Tls(Box<rustls::ServerConfig>),
}

impl Backend {
    pub fn serve(files: &Path, authorization: Option<&'static str>) -> Self {
        Self::of(Kind::Plain(authorization), files)
    }

    pub fn of(kind: Kind, files: &Path) -> Self {
        let root = tempfile::tempdir().unwrap();
        let repository = root.path().join("r.git");
        copy(files, &repository);
        git(&repository, &["init", "--quiet", "-b", "main"]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let served = web::Data::new(Served {
            root: root.path().to_owned(),
            requests: requests.clone(),
            authorization: match &kind {
                Kind::Plain(authorization) => *authorization,
                Kind::Tls(_) => None,
            },
        });
        let app = move || {
            let app = App::new().app_data(served.clone());
            app.default_service(web::to(answer))
        };
        let server = HttpServer::new(app).workers(2).disable_signals();
        let (server, base) = match kind {
            Kind::Plain(_) => (server.listen(listener), "http://127.0.0.1"),
            Kind::Tls(tls) => (
                server.listen_rustls_0_23(listener, *tls),
                "https://localhost",
            ),
        };
        let server = server.unwrap().run();
        let handle = server.handle();
        tokio::spawn(server);
        let backend = Self {
            base: format!("{base}:{port}"),
            requests,
            repository,
            server: handle,
            _root: root,
        };
        backend.commit();
        backend
    }

    pub fn url(&self) -> String {
        format!("{}/r.git", self.base)
    }

    /// The working tree of the repository.
    pub fn files(&self) -> &Path {
        &self.repository
    }

    pub fn commit(&self) {
        git(&self.repository, &["add", "-A"]);
        git(
            &self.repository,
            &["commit", "--quiet", "--allow-empty", "-m", "change"],
        );
    }

    pub fn run(&self, arguments: &[&str]) {
        git(&self.repository, arguments);
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub async fn stop(&self) {
        self.server.stop(false).await;
    }
}

async fn answer(request: HttpRequest, body: web::Bytes, served: web::Data<Served>) -> HttpResponse {
    served.requests.fetch_add(1, Ordering::SeqCst);
    let header = |name: &str| {
        let value = request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    if served
        .authorization
        .is_some_and(|wanted| header("authorization") != wanted)
    {
        let mut answer = HttpResponse::Unauthorized();
        return answer.insert_header(("www-authenticate", "Basic")).finish();
    }
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", &served.root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", request.path())
        .env("QUERY_STRING", request.query_string())
        .env("REQUEST_METHOD", request.method().as_str())
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = backend.stdin.take().unwrap();
    stdin.write_all(&body).unwrap();
    drop(stdin);
    translated(&backend.wait_with_output().unwrap().stdout)
}

/// The answer of a CGI program (RFC 3875) as an HTTP response.
fn translated(output: &[u8]) -> HttpResponse {
    let end = output
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    let head = std::str::from_utf8(&output[..end]).unwrap();
    let mut answer = HttpResponse::Ok();
    for (name, value) in head.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "Status" => {
                let code: u16 = value[..3].parse().unwrap();
                answer.status(actix_web::http::StatusCode::from_u16(code).unwrap());
            }
            name => {
                answer.insert_header((name, value));
            }
        }
    }
    answer.body(output[end + 4..].to_vec())
}
