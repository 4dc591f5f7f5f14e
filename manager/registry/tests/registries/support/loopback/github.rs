//! The part of GitHub's REST API that registries need, by its documentation: repository contents, git trees and blobs,
//! with ETags. It serves a folder as `owner/repo`, as `owner/closed`, which requires a token, as `owner/plain`, whose
//! API has contents only, and as `owner/large`, which has more files than one answer holds.

use std::path::{Path, PathBuf};

use actix_web::http::header::ACCEPT;
use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};

use crate::support::loopback::{Served, conditional};

const RAW: &str = "application/vnd.github.raw+json";
const TRUNCATED_AT: usize = 3;

/// Everything below `/api/repos/owner/`.
pub async fn answer(
    served: web::Data<Served>,
    path: web::Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let (repository, below) = path.into_inner();
    let token = request.headers().get("authorization");
    let open = token.is_some_and(|token| token == format!("Bearer {}", super::TOKEN).as_str());
    match repository.as_str() {
        "limited" => return limited(),
        "repo" | "plain" | "large" => {}
        "closed" if open => {}
        _ => return missing(),
    }
    served.count();
    let parts: Vec<_> = below.split('/').filter(|part| !part.is_empty()).collect();
    let root = &served.root;
    match &parts[..] {
        [] => HttpResponse::Ok().json(json!({"full_name": "owner/repo"})),
        ["contents", path @ ..] => contents(&served, &root.join(path.join("/")), &request),
        ["git", ..] if repository == "plain" => missing(),
        ["git", "trees", name] => {
            let recursive = request.query_string().contains("recursive=1");
            let large = repository == "large" && recursive;
            trees(&served, name, recursive, large, &request)
        }
        ["git", "blobs", sha] => match find(root, sha).map(std::fs::read) {
            Some(Ok(bytes)) => conditional(&served, &request, bytes, RAW),
            _ => missing(),
        },
        _ => missing(),
    }
}

fn missing() -> HttpResponse {
    HttpResponse::NotFound().json(json!({"message": "Not Found", "status": "404"}))
}

fn limited() -> HttpResponse {
    let mut answer = HttpResponse::Forbidden();
    answer.insert_header(("x-ratelimit-remaining", "0"));
    answer.insert_header(("x-ratelimit-reset", "1893456000"));
    answer.json(json!({"message": "API rate limit exceeded"}))
}

fn contents(served: &Served, place: &Path, request: &HttpRequest) -> HttpResponse {
    const JSON: &str = "application/json; charset=utf-8";
    if place.is_dir() {
        let listed = serde_json::to_vec(&listed(place)).unwrap();
        return conditional(served, request, listed, JSON);
    }
    let raw = request.headers().get(ACCEPT).is_some_and(|a| a == RAW);
    match std::fs::read(place) {
        Err(_) => missing(),
        Ok(bytes) if raw => conditional(served, request, bytes, RAW),
        Ok(bytes) => {
            let contents = json!({"type": "file", "size": bytes.len(), "name": "", "sha": ""});
            HttpResponse::Ok().json(contents)
        }
    }
}

fn listed(folder: &Path) -> Vec<Value> {
    let entry = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = if path.is_dir() { "dir" } else { "file" };
        json!({"name": name, "path": name, "type": kind, "sha": sha(&path), "size": 0})
    };
    inside(folder).into_iter().map(entry).collect()
}

fn trees(
    served: &Served,
    name: &str,
    recursive: bool,
    large: bool,
    request: &HttpRequest,
) -> HttpResponse {
    let folder = match name {
        "HEAD" | "main" => Some(served.root.clone()),
        sha => find(&served.root, sha),
    };
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        return missing();
    };
    let mut nodes = Vec::new();
    add(&folder, &folder, recursive, &mut nodes);
    if large {
        nodes.truncate(TRUNCATED_AT);
    }
    let tree = json!({"sha": sha(&folder), "url": "", "tree": nodes, "truncated": large});
    let bytes = serde_json::to_vec(&tree).unwrap();
    conditional(served, request, bytes, "application/json; charset=utf-8")
}

fn add(root: &Path, folder: &Path, recursive: bool, nodes: &mut Vec<Value>) {
    for path in inside(folder) {
        let (mode, kind) = match path.is_dir() {
            true => ("040000", "tree"),
            false => ("100644", "blob"),
        };
        let shown = path.strip_prefix(root).unwrap().to_str().unwrap();
        nodes.push(json!({"path": shown, "mode": mode, "type": kind, "sha": sha(&path)}));
        if recursive && path.is_dir() {
            add(root, &path, recursive, nodes);
        }
    }
}

fn find(folder: &Path, wanted: &str) -> Option<PathBuf> {
    if sha(folder) == wanted {
        return Some(folder.to_owned());
    }
    let mut below = inside(folder).into_iter();
    below.find_map(|path| match path.is_dir() {
        true => find(&path, wanted),
        false => (sha(&path) == wanted).then_some(path),
    })
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    paths
}

/// Replaces git's digest: changes with the contents.
fn sha(path: &Path) -> String {
    let contents = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(_) => serde_json::to_vec(&listed(path)).unwrap(),
    };
    let digest = common::canonical::digest_bytes(&contents).to_string();
    digest.trim_start_matches("sha256:")[..40].to_owned()
}
