//! One folder of templates behind each kind of registry.

use std::path::Path;

use manager_registry::Options;
use serde_json::json;

use super::alone::{Alone, list_files, options};
use super::backend::Backend;
use super::hub::Hub;
use super::loopback::Loopback;

/// How references begin that lead to [`EachKind`].
pub const REGISTRIES: [&str; 5] = ["default", "web", "git", "oci", "github.com/owner/repo"];

/// Serves as long as it lives.
pub struct EachKind {
    pub alone: Alone,
    _servers: (Loopback, Backend, Hub),
}

impl EachKind {
    pub async fn serve(folder: &Path) -> Self {
        list_files(folder);
        let (server, hub) = (Loopback::serve(folder), Hub::open());
        let backend = Backend::serve(folder, None);
        hub.push("t", folder, true).await;
        let options = Options {
            github_api_url: server.address("api"),
            ..options(folder.to_str().unwrap())
        };
        let alone = Alone::new(&options).await.unwrap();
        for (name, definition) in [
            (
                "web",
                json!({"type": "http", "url": server.address("files")}),
            ),
            ("git", json!({"type": "git", "url": backend.url()})),
            ("oci", json!({"type": "oci", "url": hub.url("t")})),
        ] {
            alone.register(name, definition).await;
        }
        Self {
            alone,
            _servers: (server, backend, hub),
        }
    }
}
