//! For tests: one folder, served on loopback as plain HTTP and as GitHub's API.

mod github;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use actix_web::http::KeepAlive;
use actix_web::http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use rustls::ServerConfig;
use url::Url;

/// The token for the closed repository and folder.
pub const TOKEN: &str = "0pen";

/// Ends with the test's runtime.
pub struct Loopback {
    pub url: Url,
    requests: Arc<AtomicUsize>,
    unchanged: Arc<AtomicUsize>,
    busy: Arc<AtomicBool>,
    sent: Arc<OnceLock<String>>,
    server: actix_web::dev::ServerHandle,
}

struct Served {
    root: PathBuf,
    requests: Arc<AtomicUsize>,
    unchanged: Arc<AtomicUsize>,
    busy: Arc<AtomicBool>,
    sent: Arc<OnceLock<String>>,
}

impl Served {
    fn count(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }
}

impl Loopback {
    /// `/files/…` is the folder itself, `/api/…` is GitHub with the folder as the repository `owner/repo`.
    pub fn serve(root: &Path) -> Self {
        Self::of(root, None)
    }

    /// The same with https, as `localhost`.
    pub fn secured(root: &Path, tls: ServerConfig) -> Self {
        Self::of(root, Some(tls))
    }

    fn of(root: &Path, tls: Option<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let url = match tls {
            Some(_) => format!("https://localhost:{}/", address.port()),
            None => format!("http://{address}/"),
        };
        let requests = Arc::new(AtomicUsize::new(0));
        let unchanged = Arc::new(AtomicUsize::new(0));
        let busy = Arc::new(AtomicBool::new(false));
        let sent = Arc::new(OnceLock::new());
        let served = web::Data::new(Served {
            root: root.to_owned(),
            requests: requests.clone(),
            unchanged: unchanged.clone(),
            busy: busy.clone(),
            sent: sent.clone(),
        });
        let app = move || {
            App::new()
                .app_data(served.clone())
                .route("/files/{path:.*}", web::get().to(file))
                .route("/closed/{path:.*}", web::get().guard(open()).to(file))
                .route("/within/{path:.*}", web::get().to(within))
                .route("/away/{path:.*}", web::get().to(away))
                .route("/sent/{path:.*}", web::get().to(sent_on))
                .route("/around/{path:.*}", web::get().to(around))
                .route("/gateway/{path:.*}", web::get().to(gateway))
                .route("/endless.py", web::get().to(endless))
                .route(
                    "/broken.py",
                    web::get().to(HttpResponse::InternalServerError),
                )
                .route(
                    "/api/repos/owner/{repository}",
                    web::get().to(async |served, path: web::Path<String>, request| {
                        let whole = web::Path::from((path.into_inner(), String::new()));
                        github::answer(served, whole, request).await
                    }),
                )
                .route(
                    "/api/repos/owner/{repository}/{path:.*}",
                    web::get().to(github::answer),
                )
        };
        let server = HttpServer::new(app).workers(1).disable_signals();
        // `stop` does not wait for the worker, which would still answer on a connection that is kept.
        let server = server.keep_alive(KeepAlive::Disabled);
        let server = match tls {
            Some(tls) => server.listen_rustls_0_23(listener, tls),
            None => server.listen(listener),
        };
        let server = server.unwrap().run();
        let handle = server.handle();
        tokio::spawn(server);
        Self {
            url: url.parse().unwrap(),
            requests,
            unchanged,
            busy,
            sent,
            server: handle,
        }
    }

    /// The address of a path below the root.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// How many requests for files and folders it received.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// How many of them had the answer 304.
    pub fn unchanged(&self) -> usize {
        self.unchanged.load(Ordering::SeqCst)
    }

    /// From now on it asks clients for a pause of an hour.
    pub fn is_busy(&self) {
        self.busy.store(true, Ordering::SeqCst);
    }

    /// Redirects `/sent/…` below this URL.
    pub fn sends_to(&self, url: String) {
        self.sent.set(url).unwrap();
    }

    pub async fn stop(&self) {
        self.server.stop(false).await;
    }
}

fn open() -> impl actix_web::guard::Guard {
    actix_web::guard::Header("authorization", "Bearer 0pen")
}

async fn file(
    served: web::Data<Served>,
    path: web::Path<String>,
    request: HttpRequest,
) -> HttpResponse {
    served.count();
    if served.busy.load(Ordering::SeqCst) {
        let mut answer = HttpResponse::TooManyRequests();
        return answer.insert_header(("retry-after", "3600")).finish();
    }
    match std::fs::read(served.root.join(path.as_str())) {
        Ok(bytes) => conditional(&served, &request, bytes, "application/octet-stream"),
        Err(_) => HttpResponse::NotFound().finish(),
    }
}

/// With an ETag. 304 for a client that has this version.
fn conditional(
    served: &Served,
    request: &HttpRequest,
    bytes: Vec<u8>,
    content_type: &str,
) -> HttpResponse {
    let etag = format!("\"{}\"", common::canonical::digest_bytes(&bytes));
    let held = request.headers().get(IF_NONE_MATCH);
    if held.is_some_and(|held| held == etag.as_str()) {
        served.unchanged.fetch_add(1, Ordering::SeqCst);
        return HttpResponse::NotModified().finish();
    }
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((ETAG, etag))
        .content_type(content_type);
    answer.body(bytes)
}

fn redirect(to: String) -> HttpResponse {
    HttpResponse::Found().insert_header((LOCATION, to)).finish()
}

async fn within(path: web::Path<String>) -> HttpResponse {
    redirect(format!("/files/{path}"))
}

async fn away(path: web::Path<String>) -> HttpResponse {
    redirect(format!("http://elsewhere.invalid/{path}"))
}

async fn sent_on(served: web::Data<Served>, path: web::Path<String>) -> HttpResponse {
    match served.sent.get() {
        Some(url) => redirect(format!("{url}/{path}")),
        None => HttpResponse::NotFound().finish(),
    }
}

async fn around(request: HttpRequest) -> HttpResponse {
    redirect(request.path().to_owned())
}

async fn gateway(served: web::Data<Served>) -> HttpResponse {
    served.count();
    HttpResponse::BadGateway().finish()
}

async fn endless() -> HttpResponse {
    let chunk = || Ok::<_, actix_web::Error>(web::Bytes::from_static(&[b'#'; 65536]));
    HttpResponse::Ok().streaming(futures::stream::repeat_with(chunk))
}
