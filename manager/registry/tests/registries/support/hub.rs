//! For tests: a real OCI registry on loopback (Debian's `docker-registry`), and a front that requires tokens.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use common::registry::FilePath;
use common::registry::oci::layout::{self, ROOT_TAG, Spot};
use common::registry::oci::{Client, Direct, Manifest};
use serde_json::json;
use tempfile::TempDir;

/// `deployer:0pen`, and its entry in htpasswd.
pub const LOGIN: &str = "Basic ZGVwbG95ZXI6MHBlbg==";
const HTPASSWD: &str = "deployer:$2b$04$RAh4yM2PwyLmIgSYmq4jWu2CtII.bV7Z5Yu0j.6sE2yIUiL9R2Bba\n";

/// Ends with the test.
pub struct Hub {
    pub host: String,
    process: Child,
    _folder: TempDir,
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Hub {
    pub fn open() -> Self {
        Self::start("")
    }

    /// Accepts only `deployer` with the password `0pen`.
    pub fn closed() -> Self {
        Self::start("auth: {htpasswd: {realm: hub, path: FOLDER/htpasswd}}\n")
    }

    fn start(auth: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        std::fs::write(folder.path().join("htpasswd"), HTPASSWD).unwrap();
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {path}/store}}}}\n\
             http: {{addr: '127.0.0.1:0'}}\n{}",
            auth.replace("FOLDER", path)
        );
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config).unwrap();
        let started = Command::new("docker-registry")
            .args(["serve", file.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut process = started.expect("docker-registry is installed by `make setup`");
        let host = address(&mut process);
        Self {
            host,
            process,
            _folder: folder,
        }
    }

    pub fn url(&self, prefix: &str) -> String {
        format!("oci://{}/{prefix}", self.host)
    }

    pub fn client(&self) -> Client<Direct> {
        let mut login = reqwest::header::HeaderValue::from_static(LOGIN);
        login.set_sensitive(true);
        let base = format!("http://{}/", self.host).parse().unwrap();
        Client::new(Direct::new(Some(login)).unwrap(), base)
    }

    /// All files of a folder, as templates below the prefix, with or without the index.
    pub async fn push(&self, prefix: &str, root: &Path, with_index: bool) {
        let mut artifacts: BTreeMap<(FilePath, String), Contents> = BTreeMap::new();
        for (path, content) in files(root, &FilePath::root()) {
            let (place, within) = match layout::spot(&path) {
                Spot::Above => ((FilePath::root(), ROOT_TAG.to_owned()), path),
                Spot::Within {
                    template,
                    version,
                    path,
                } => ((template, version), path),
            };
            artifacts.entry(place).or_default().push((within, content));
        }
        let client = self.client();
        for ((template, tag), files) in &artifacts {
            let is_root = *template == FilePath::root();
            if is_root && !with_index {
                continue;
            }
            let repository = layout::repository(prefix, template).unwrap();
            let contents = files.iter().map(|(path, content)| (path, &content[..]));
            let manifest = Manifest::of_files(contents);
            for (_, content) in files {
                client.push_blob(&repository, content).await.unwrap();
            }
            self.tag(&repository, tag, &manifest).await;
            if let Some(tag) = layout::index_tag(template).filter(|_| with_index) {
                self.tag(prefix, &tag, &Manifest::of_index()).await;
            }
        }
    }

    pub async fn tag(&self, repository: &str, tag: &str, manifest: &Manifest) {
        let client = self.client();
        let empty = Manifest::empty_content();
        client.push_blob(repository, empty).await.unwrap();
        let pushed = client.push_manifest(repository, tag, manifest).await;
        pushed.unwrap();
    }
}

/// It prints its port.
fn address(process: &mut Child) -> String {
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let line = lines.find(|line| line.contains("listening on ")).unwrap();
    // The rest of its log is not needed, but must be read.
    std::thread::spawn(move || lines.for_each(drop));
    let (_, rest) = line.split_once("listening on ").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

type Contents = Vec<(FilePath, Vec<u8>)>;

fn files(root: &Path, folder: &FilePath) -> Contents {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(folder.as_str())).unwrap() {
        let entry = entry.unwrap();
        let path = folder
            .join_listed(entry.file_name().to_str().unwrap())
            .unwrap();
        match entry.path().is_dir() {
            true => found.extend(files(root, &path)),
            false => found.push((path, std::fs::read(entry.path()).unwrap())),
        }
    }
    found.sort();
    found
}

/// A server before a hub: it requires a token of its own token server, and redirects requests for blobs to another host.
pub struct Front {
    pub host: String,
    /// The requests to the other host: path and `Authorization`.
    pub elsewhere: Seen,
}

type Seen = Arc<Mutex<Vec<(String, Option<String>)>>>;

struct Fronted {
    hub: String,
    host: String,
    elsewhere: String,
    tampers: bool,
    seen: Seen,
}

impl Front {
    pub fn before(hub: &Hub, tampers: bool) -> Self {
        let listen = |host: &str| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            (listener, format!("{host}:{port}"))
        };
        let (listener, host) = listen("127.0.0.1");
        let (other, elsewhere) = listen("localhost");
        let seen = Seen::default();
        let fronted = web::Data::new(Fronted {
            hub: hub.host.clone(),
            host: host.clone(),
            elsewhere,
            tampers,
            seen: seen.clone(),
        });
        let app = move || {
            App::new()
                .app_data(fronted.clone())
                .default_service(web::to(answer))
        };
        for listener in [listener, other] {
            let server = HttpServer::new(app.clone()).workers(1).disable_signals();
            tokio::spawn(server.listen(listener).unwrap().run());
        }
        Self {
            host,
            elsewhere: seen,
        }
    }
}

async fn answer(request: HttpRequest, to: web::Data<Fronted>) -> HttpResponse {
    let asks = request.headers().get("authorization");
    let asks = asks.map(|value| value.to_str().unwrap().to_owned());
    let path = request.uri().to_string();
    if request.connection_info().host() == to.elsewhere {
        to.seen.lock().unwrap().push((path.clone(), asks));
        return passed_on(&to, &path).await;
    }
    if path.starts_with("/token") {
        return match asks.as_deref() {
            Some(LOGIN) => HttpResponse::Ok().json(json!({"token": "t0ken"})),
            _ => HttpResponse::Unauthorized().finish(),
        };
    }
    if asks.as_deref() != Some("Bearer t0ken") {
        let challenge = format!(r#"Bearer realm="http://{}/token",service="hub""#, to.host);
        let mut refusal = HttpResponse::Unauthorized();
        return refusal
            .insert_header(("www-authenticate", challenge))
            .finish();
    }
    if path.contains("/blobs/") {
        let at = format!("http://{}{path}", to.elsewhere);
        return HttpResponse::TemporaryRedirect()
            .insert_header(("location", at))
            .finish();
    }
    passed_on(&to, &path).await
}

#[expect(clippy::disallowed_methods, reason = "a test asks its own server")]
async fn passed_on(to: &Fronted, path: &str) -> HttpResponse {
    let url = format!("http://{}{path}", to.hub);
    let request = reqwest::Client::new().get(url);
    let response = request
        .header("accept", "application/vnd.oci.image.manifest.v1+json")
        .send()
        .await
        .unwrap();
    let status = response.status().as_u16();
    let mut body = response.bytes().await.unwrap().to_vec();
    if to.tampers && path.contains("/blobs/") {
        body.push(b' ');
    }
    let status = actix_web::http::StatusCode::from_u16(status).unwrap();
    HttpResponse::build(status).body(body)
}
