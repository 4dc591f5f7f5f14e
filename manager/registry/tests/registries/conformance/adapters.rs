//! Each adapter keeps the promises of the port.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::model::{RegistryDefinition, RegistryType};
use manager_registry::adapter::directory::Directory;
use manager_registry::adapter::github::{Api, Repository};
use manager_registry::adapter::open::OpenContext;
use manager_registry::adapter::url::UrlFolder;
use manager_registry::adapter::web_folder::WebFolder;
use manager_registry::adapter::{git, oci};
use manager_registry::cache::DiskCache;
use manager_registry::transport::{MaxAge, Reach, Web};

use crate::conformance::{Loopback, gives_files, lists_folders, promised_tree};
use crate::support::alone::list_files;
use crate::support::backend::Backend;
use crate::support::hub::Hub;

fn github(server: &Loopback, repository: &str) -> Repository {
    let api = Api::new(
        Web::new(Reach::Any).unwrap(),
        server.url.join("api").unwrap().as_str(),
        Duration::ZERO,
    )
    .unwrap();
    Repository::new(
        api.into(),
        "github.com/owner/repo".to_owned(),
        "owner",
        repository,
    )
}

pub(super) fn http(server: &Loopback, folder: &str) -> UrlFolder {
    UrlFolder::new(
        Web::new(Reach::Any).unwrap(),
        server.url.join(folder).unwrap(),
        MaxAge::ZERO,
    )
}

fn listed(server: &Loopback) -> WebFolder {
    let base = server.url.join("files/").unwrap();
    let definition = RegistryDefinition::new(RegistryType::Http, base.as_str());
    let web = Web::new(Reach::Any).unwrap();
    WebFolder::new("listed", definition, base, web, Duration::ZERO)
}

fn context(cache: &Path) -> OpenContext {
    OpenContext {
        web: Web::new(Reach::Any).unwrap(),
        outside: Web::new(Reach::Any).unwrap(),
        refresh: Duration::from_secs(3600),
        cache: cache.to_owned(),
        files: Arc::new(DiskCache::new(cache, 100_000_000)),
        room: 100_000_000,
        git: git::Trust::default(),
    }
}

fn repository(backend: &Backend, cache: &Path) -> git::Repository {
    let definition = RegistryDefinition::new(RegistryType::Git, backend.url());
    let url = backend.url().parse().unwrap();
    git::Repository::new("repository", definition, url, None, &context(cache))
}

#[tokio::test]
async fn a_folder_keeps_the_promises() {
    let folder = promised_tree();
    let directory = Directory::open("default", folder.path()).unwrap();
    gives_files(&directory).await;
    lists_folders(&directory).await;
}

/// With all paths in one answer, with more than that, and without git trees.
#[tokio::test]
async fn githubs_api_keeps_the_promises() {
    let folder = promised_tree();
    let server = Loopback::serve(folder.path());
    for repository in ["repo", "large", "plain"] {
        let github = github(&server, repository);
        gives_files(&github).await;
        lists_folders(&github).await;
    }
}

#[tokio::test]
async fn the_folder_of_a_full_url_keeps_the_promises() {
    let folder = promised_tree();
    let server = Loopback::serve(folder.path());
    gives_files(&http(&server, "files/")).await;
}

#[tokio::test]
async fn a_web_servers_listed_folder_keeps_the_promises() {
    let folder = promised_tree();
    let server = Loopback::serve(folder.path());
    list_files(folder.path());
    let listed = listed(&server);
    gives_files(&listed).await;
    lists_folders(&listed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_git_repository_keeps_the_promises() {
    let folder = promised_tree();
    let backend = Backend::serve(folder.path(), None);
    let cache = tempfile::tempdir().unwrap();
    let repository = repository(&backend, cache.path());
    gives_files(&repository).await;
    lists_folders(&repository).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_oci_registry_keeps_the_promises() {
    let (folder, hub) = (promised_tree(), Hub::open());
    hub.push("t", folder.path(), true).await;
    let definition = RegistryDefinition::new(RegistryType::Oci, hub.url("t"));
    let place = oci::OciLocation::parse(&definition.url).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let context = context(cache.path());
    let artifacts = oci::Artifacts::new("oci", definition, place, None, &context);
    gives_files(&artifacts).await;
    lists_folders(&artifacts).await;
}
