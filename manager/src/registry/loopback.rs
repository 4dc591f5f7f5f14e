//! For tests: one folder, served on loopback as plain HTTP and as GitHub's contents API documents it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::http::header::{ACCEPT, LOCATION};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::{Value, json};
use url::Url;

/// What opens the closed repository and folder, as a bearer token.
pub const TOKEN: &str = "0pen";

/// Ends with the test's runtime.
pub struct Loopback {
    pub url: Url,
    requests: Arc<AtomicUsize>,
}

struct Served {
    root: PathBuf,
    requests: Arc<AtomicUsize>,
}

impl Loopback {
    /// `/files/…` is the folder itself, `/api/…` is GitHub with the folder as the repository `owner/repo`.
    pub fn serve(root: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let served = web::Data::new(Served {
            root: root.to_owned(),
            requests: requests.clone(),
        });
        let app = move || {
            App::new()
                .app_data(served.clone())
                .route("/files/{path:.*}", web::get().to(file))
                .route("/closed/{path:.*}", web::get().guard(open()).to(file))
                .route(
                    "/api/repos/owner/closed/contents",
                    web::get().guard(open()).to(root_contents),
                )
                .route(
                    "/api/repos/owner/closed/contents/{path:.*}",
                    web::get().guard(open()).to(contents),
                )
                .route("/within/{path:.*}", web::get().to(within))
                .route("/away/{path:.*}", web::get().to(away))
                .route("/around/{path:.*}", web::get().to(around))
                .route("/endless.py", web::get().to(endless))
                .route(
                    "/broken.py",
                    web::get().to(HttpResponse::InternalServerError),
                )
                .route(
                    "/api/repos/owner/repo/contents",
                    web::get().to(root_contents),
                )
                .route(
                    "/api/repos/owner/repo/contents/{path:.*}",
                    web::get().to(contents),
                )
                .route("/api/repos/owner/limited/{path:.*}", web::get().to(limited))
        };
        let server = HttpServer::new(app)
            .workers(1)
            .disable_signals()
            .listen(listener)
            .unwrap()
            .run();
        tokio::spawn(server);
        Self { url, requests }
    }

    /// The address of something below the root.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// How many requests came for files and folders.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn open() -> impl actix_web::guard::Guard {
    actix_web::guard::Header("authorization", "Bearer 0pen")
}

async fn file(served: web::Data<Served>, path: web::Path<String>) -> HttpResponse {
    served.requests.fetch_add(1, Ordering::SeqCst);
    match std::fs::read(served.root.join(path.as_str())) {
        Ok(bytes) => HttpResponse::Ok().body(bytes),
        Err(_) => HttpResponse::NotFound().finish(),
    }
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

async fn around(request: HttpRequest) -> HttpResponse {
    redirect(request.path().to_owned())
}

async fn endless() -> HttpResponse {
    let chunk = || Ok::<_, actix_web::Error>(web::Bytes::from_static(&[b'#'; 65536]));
    HttpResponse::Ok().streaming(futures::stream::repeat_with(chunk))
}

async fn limited() -> HttpResponse {
    let headers = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1893456000"),
    ];
    let mut answer = HttpResponse::Forbidden();
    headers.into_iter().for_each(|header| {
        answer.insert_header(header);
    });
    answer.json(json!({"message": "API rate limit exceeded"}))
}

async fn root_contents(served: web::Data<Served>, request: HttpRequest) -> HttpResponse {
    contents(served, web::Path::from(String::new()), request).await
}

async fn contents(
    served: web::Data<Served>,
    path: web::Path<String>,
    request: HttpRequest,
) -> HttpResponse {
    served.requests.fetch_add(1, Ordering::SeqCst);
    let place = served.root.join(path.as_str());
    let accept = request
        .headers()
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok());
    if place.is_dir() {
        return HttpResponse::Ok().json(listed(&place, &path));
    }
    match (std::fs::read(&place), accept) {
        (Err(_), _) => {
            HttpResponse::NotFound().json(json!({"message": "Not Found", "status": "404"}))
        }
        (Ok(bytes), Some("application/vnd.github.raw+json")) => HttpResponse::Ok()
            .content_type("application/vnd.github.raw+json; charset=utf-8")
            .body(bytes),
        (Ok(bytes), _) => HttpResponse::Ok()
            .json(json!({"type": "file", "size": bytes.len(), "name": "", "sha": ""})),
    }
}

fn listed(folder: &Path, path: &str) -> Vec<Value> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let entry = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        let kind = if entry.path().is_dir() { "dir" } else { "file" };
        json!({"name": name, "path": format!("{path}/{name}"), "type": kind, "sha": sha(&entry.path()), "size": 0})
    };
    entries.map(entry).collect()
}

/// Stands for git's: changes with the contents.
fn sha(path: &Path) -> String {
    let contents = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(_) => serde_json::to_vec(&listed(path, "")).unwrap(),
    };
    common::canonical::digest_bytes(&contents).to_string()
}
