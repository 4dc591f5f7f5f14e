//! What every adapter promises, and what the whole does with a reference: against real servers on loopback.

use std::path::Path;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::model::{RegistryDefinition, RegistryType, TypeName};
use tempfile::TempDir;

use super::alone::{Alone, alone, list_files, options};
use super::backend::Backend;
use super::directory::Directory;
use super::github::{Api, Repository};
use super::http::UrlFolder;
use super::listed::Listed;
use super::loopback::Loopback;
use super::web::{Reach, Web};
use super::{Entry, EntryKind, FILE_BYTES, FilePath, Files, Options, Registry, RegistryError, git};

/// Two collections, the unnamed and `db`, with one of each fault.
const TREE: &[(&str, &str)] = &[
    ("README.md", "a registry"),
    ("a/v1/a.py", "first"),
    ("a/v1.0.1/a.py", "fixed"),
    ("a/v1.0.1/example.yaml", "resources: []\n"),
    (
        "a/v1.0.1/a.py.schema",
        "info: {title: A, description: The a.}\nimports:\n- path: helper.py\n- path: ./lib/more.py\n- path: a.py\n",
    ),
    ("a/v1.0.1/helper.py", "helper"),
    ("a/v1.0.1/lib/more.py", "more"),
    ("a/v1.1/a.jinja", "minor"),
    ("db/a/v3/a.jinja", "of the collection db"),
    ("db/redis/v1/redis.jinja", "redis"),
    ("faults/two/v1/two.py", ""),
    ("faults/two/v1/two.jinja", ""),
    ("faults/none/v1/other.py", ""),
    ("faults/same/v1/same.py", ""),
    ("faults/same/v1.0/same.py", ""),
    ("faults/missing/v1/missing.py", ""),
    (
        "faults/missing/v1/missing.py.schema",
        "imports: [{path: gone.py}]",
    ),
    ("faults/climbs/v1/climbs.py", ""),
    (
        "faults/climbs/v1/climbs.py.schema",
        "imports: [{path: ../../../a/v1/a.py}]",
    ),
    ("faults/broken/v1/broken.py", ""),
    ("faults/broken/v1/broken.py.schema", "a: [\n"),
    ("faults/shape/v1/shape.py", ""),
    ("faults/shape/v1/shape.py.schema", "imports: [helper.py]"),
    ("deep/er/than/v1/than.py", "not discovered"),
];

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in TREE {
        write(folder.path(), path, content);
    }
    folder
}

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn path(text: &str) -> FilePath {
    FilePath::parse(text).unwrap()
}

fn type_name(text: &str) -> TypeName {
    TypeName::parse(text).unwrap()
}

fn github(server: &Loopback) -> Repository {
    let api = Api::new(
        Web::new(Reach::Any).unwrap(),
        server.url.join("api").unwrap().as_str(),
    )
    .unwrap();
    Repository::new(
        api.into(),
        "github.com/owner/repo".to_owned(),
        "owner",
        "repo",
    )
}

fn http(server: &Loopback, folder: &str) -> UrlFolder {
    UrlFolder::new(
        Web::new(Reach::Any).unwrap(),
        server.url.join(folder).unwrap(),
    )
}

fn listed(server: &Loopback) -> Listed {
    let base = server.url.join("files/").unwrap();
    let definition = RegistryDefinition::new(RegistryType::Http, base.as_str());
    let web = Web::new(Reach::Any).unwrap();
    Listed::new("listed", definition, base, web, Duration::ZERO)
}

fn repository(backend: &Backend, cache: &Path) -> git::Repository {
    let definition = RegistryDefinition::new(RegistryType::Git, backend.url());
    let (url, web) = (
        backend.url().parse().unwrap(),
        Web::new(Reach::Any).unwrap(),
    );
    let lives = Duration::from_secs(3600);
    git::Repository::new("repository", definition, url, (web, None), cache, lives)
}

async fn gives_files(files: &dyn Files) {
    let read = async |text: &str| files.read(&path(text)).await;
    assert_eq!(
        read("README.md").await.unwrap().as_deref(),
        Some(&b"a registry"[..])
    );
    assert_eq!(
        read("a/v1.0.1/lib/more.py").await.unwrap().as_deref(),
        Some(&b"more"[..])
    );
    for absent in ["nothing", "a/v9/a.py", "README.md/x", "a/v1"] {
        assert_eq!(read(absent).await.unwrap(), None, "{absent}");
    }
    assert_eq!(
        read("largest").await.unwrap().map(|bytes| bytes.len()),
        Some(FILE_BYTES)
    );
    let error = read("too-large").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{error}");
    assert!(error.to_string().contains("too-large"), "{error}");
    assert_ne!(files.path_of(&path("a/b")), files.path_of(&path("a/c")));
}

async fn lists_folders(registry: &dyn Registry) {
    let entries = registry.entries(&path("a/v1.0.1")).await.unwrap().unwrap();
    let told = |entry: &Entry| (entry.name.clone(), entry.kind);
    let expected = [
        ("a.py", EntryKind::File),
        ("a.py.schema", EntryKind::File),
        ("example.yaml", EntryKind::File),
        ("helper.py", EntryKind::File),
        ("lib", EntryKind::Folder),
    ];
    let told: Vec<_> = entries.iter().map(told).collect();
    assert_eq!(told, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert!(
        registry
            .entries(&FilePath::root())
            .await
            .unwrap()
            .unwrap()
            .len()
            >= 5
    );
    for absent in ["nothing", "a/v9", "README.md"] {
        assert_eq!(
            registry.entries(&path(absent)).await.unwrap(),
            None,
            "{absent}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_adapter_keeps_the_promises_of_the_port() {
    let folder = tree();
    std::fs::write(folder.path().join("largest"), vec![b' '; FILE_BYTES]).unwrap();
    std::fs::write(folder.path().join("too-large"), vec![b' '; FILE_BYTES + 1]).unwrap();
    let server = Loopback::serve(folder.path());
    let directory = Directory::open("default", folder.path()).unwrap();
    let github = github(&server);
    gives_files(&directory).await;
    gives_files(&github).await;
    gives_files(&http(&server, "files/")).await;
    lists_folders(&directory).await;
    lists_folders(&github).await;
    list_files(folder.path());
    let listed = listed(&server);
    gives_files(&listed).await;
    lists_folders(&listed).await;
    let backend = Backend::serve(folder.path(), None);
    let cache = tempfile::tempdir().unwrap();
    let repository = repository(&backend, cache.path());
    gives_files(&repository).await;
    lists_folders(&repository).await;
}

#[tokio::test]
async fn redirects_stay_on_their_host_and_end() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let readme = path("README.md");
    assert!(
        http(&server, "within/")
            .read(&readme)
            .await
            .unwrap()
            .is_some()
    );
    let away = http(&server, "away/").read(&readme).await.unwrap_err();
    assert!(away.to_string().contains("elsewhere.invalid"), "{away}");
    assert_eq!(away.code(), ErrorCode::InvalidConfiguration);
    let around = http(&server, "around/").read(&readme).await.unwrap_err();
    assert!(around.to_string().contains("redirects"), "{around}");
}

#[tokio::test]
async fn a_body_without_end_is_cut_and_a_broken_server_is_unavailable() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let root = http(&server, "");
    let endless = root.read(&path("endless.py")).await.unwrap_err();
    assert!(endless.to_string().contains("larger than"), "{endless}");
    let broken = root.read(&path("broken.py")).await.unwrap_err();
    assert_eq!(broken.code(), ErrorCode::RegistryUnavailable, "{broken}");
}

/// Registries whose default is the tree: on disk, and by GitHub's API.
async fn registries(folder: &Path, server: &Loopback) -> [Alone; 2] {
    let options = |registry: &str| Options {
        github_api_url: server.url.join("api").unwrap().into(),
        ..options(registry)
    };
    let (disk, remote) = (options(folder.to_str().unwrap()), options("owner/repo"));
    [alone(&disk).await.unwrap(), alone(&remote).await.unwrap()]
}

#[tokio::test]
async fn a_reference_resolves_to_its_version_with_schema_and_helpers() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let mut digests = Vec::new();
    for registries in registries(folder.path(), &server).await {
        let resolved = registries.resolve(&type_name("a:v1")).await.unwrap();
        assert_eq!(resolved.resolved.version.as_deref(), Some("v1.0.1"));
        assert!(
            resolved.resolved.url.ends_with("a/v1.0.1/a.py"),
            "{}",
            resolved.resolved.url
        );
        let imports: Vec<_> = resolved
            .imports
            .iter()
            .map(|i| (i.name.as_str(), i.path(), i.content.as_str()))
            .collect();
        assert_eq!(imports[0], ("a:v1", "default/a/v1.0.1/a.py", "fixed"));
        assert_eq!(
            (imports[1].0, imports[1].1),
            ("a:v1.schema", "default/a/v1.0.1/a.py.schema")
        );
        let helper = "default/a/v1.0.1/helper.py";
        assert_eq!(imports[2], (helper, helper, "helper"));
        let more = "default/a/v1.0.1/lib/more.py";
        assert_eq!(imports[3], (more, more, "more"));
        assert_eq!(imports.len(), 4, "the template is not its own helper");
        digests.push(resolved.resolved.sha256);
    }
    assert_eq!(
        digests[0], digests[1],
        "the digest does not depend on where the files are"
    );
    assert!(digests[0].starts_with("sha256:"));
}

#[tokio::test]
async fn collections_and_full_references_lead_to_their_own_templates() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let url = server.url.join("files/a/v1.0.1/a.py").unwrap();
    for registries in registries(folder.path(), &server).await {
        for (reference, content, path) in [
            ("a:v1.1", "minor", "default/a/v1.1/a.jinja"),
            ("db/a:v3", "of the collection db", "default/db/a/v3/a.jinja"),
            ("default/a:v1.1", "minor", "default/a/v1.1/a.jinja"),
            (
                "default/db/a:v3",
                "of the collection db",
                "default/db/a/v3/a.jinja",
            ),
            (
                "github.com/owner/repo/a:v1.1",
                "minor",
                "github.com/owner/repo/a/v1.1/a.jinja",
            ),
            (
                "github.com/owner/repo/db/redis:v1",
                "redis",
                "github.com/owner/repo/db/redis/v1/redis.jinja",
            ),
            (url.as_str(), "fixed", url.as_str()),
        ] {
            let resolved = registries.resolve(&type_name(reference)).await.unwrap();
            let template = &resolved.imports[0];
            assert_eq!(
                (template.content.as_str(), template.path()),
                (content, path),
                "{reference}"
            );
            let scope = resolved.scope.map(|scope| scope.registry);
            let remote = reference.starts_with("github.com/");
            assert_eq!(
                scope.as_deref() == Some("github.com/owner/repo"),
                remote,
                "{reference}"
            );
        }
    }
}

#[tokio::test]
async fn a_full_url_brings_its_schema_and_the_helpers_beside_it() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let url = server.url.join("files/a/v1.0.1/a.py").unwrap();
    let resolved = registries.resolve(&type_name(url.as_str())).await.unwrap();
    let names: Vec<_> = resolved
        .imports
        .iter()
        .map(|import| import.name.clone())
        .collect();
    let beside = |name: &str| url.join(name).unwrap().to_string();
    assert_eq!(
        names,
        [
            url.to_string(),
            format!("{url}.schema"),
            beside("helper.py"),
            beside("lib/more.py")
        ]
    );
    assert_eq!(resolved.resolved.version, None);
    assert_eq!(
        registries
            .describe(&type_name(url.as_str()))
            .await
            .unwrap()
            .title
            .as_deref(),
        Some("A")
    );
    assert_eq!(
        registries
            .registry_of(&type_name(url.as_str()))
            .await
            .unwrap()
            .definition
            .registry_type,
        RegistryType::Http
    );
}

#[tokio::test]
async fn every_fault_of_a_reference_or_a_registry_is_named() {
    use ErrorCode::{InvalidSchema, TemplateNotFound, UnknownType};
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let gone = server.url.join("files/gone.py").unwrap();
    for registries in registries(folder.path(), &server).await {
        for (reference, code, named) in [
            (
                "a:v7",
                TemplateNotFound,
                &["'a'", "v7.0.0", "v1, v1.0.1, v1.1"][..],
            ),
            ("nothing:v1", TemplateNotFound, &["'nothing'", "a, db"]),
            (
                "db/nothing:v1",
                TemplateNotFound,
                &["db/nothing", "a, redis"],
            ),
            (
                "other/a:v1",
                TemplateNotFound,
                &["collection 'other'", "db"],
            ),
            (
                "github.com/owner/none/a:v1",
                TemplateNotFound,
                &["github.com/owner/none", "not public"],
            ),
            ("faults/two:v1", TemplateNotFound, &["two.py", "two.jinja"]),
            (
                "faults/none:v1",
                TemplateNotFound,
                &["faults/none/v1", "none.py"],
            ),
            ("faults/same:v1", TemplateNotFound, &["'v1'", "'v1.0'"]),
            (
                "faults/missing:v1",
                InvalidSchema,
                &["missing.py.schema", "gone.py"],
            ),
            ("faults/climbs:v1", InvalidSchema, &["climbs.py.schema"]),
            (
                "faults/broken:v1",
                InvalidSchema,
                &["broken.py.schema", "line"],
            ),
            (
                "faults/shape:v1",
                InvalidSchema,
                &["shape.py.schema", "{path: helper.py}"],
            ),
            ("github.com/a/b:v1", UnknownType, &["<template>:<version>"]),
            (gone.as_str(), TemplateNotFound, &["gone.py"]),
        ] {
            let error = registries.resolve(&type_name(reference)).await.unwrap_err();
            assert_eq!(error.code(), code, "{reference}: {error}");
            for named in named {
                assert!(
                    error.to_string().contains(named),
                    "{reference}: {named} is not in: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn templates_are_discovered_at_the_root_of_collections_only() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let all = registries.templates("default", None).await.unwrap();
        let names: Vec<_> = all.iter().map(|template| template.name.as_str()).collect();
        assert!(
            names.starts_with(&["a", "db/a", "db/redis", "faults/broken"]),
            "{names:?}"
        );
        assert!(!names.iter().any(|name| name.contains("than")), "{names:?}");
        assert_eq!(all[0].versions, ["v1", "v1.0.1", "v1.1"]);
        let some = registries
            .templates("default", Some("^db/r"))
            .await
            .unwrap();
        assert_eq!(some.len(), 1);
        let error = registries
            .templates("default", Some("("))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest);
        let error = registries.templates("other", None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
        assert!(
            !registries
                .templates("github.com/owner/repo", None)
                .await
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn a_description_tells_what_a_template_is_and_takes() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let told = registries.describe(&type_name("a:v1")).await.unwrap();
        assert_eq!(
            (told.title.as_deref(), told.description.as_deref()),
            (Some("A"), Some("The a."))
        );
        assert_eq!(told.example.as_deref(), Some("resources: []\n"));
        assert!(
            told.schema
                .is_some_and(|schema| schema["imports"].is_array())
        );
        let plain = registries.describe(&type_name("a:v1.1")).await.unwrap();
        assert_eq!(
            (plain.title, plain.schema, plain.example),
            (None, None, None)
        );
    }
}

#[tokio::test]
async fn files_of_a_registry_can_be_downloaded_and_nothing_beside_them() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let bytes = registries.download("default", "a/v1/a.py").await.unwrap();
        assert_eq!(bytes, b"first");
        for (file, code) in [
            ("a/v1/none.py", ErrorCode::NotFound),
            ("a/v1", ErrorCode::NotFound),
            ("../secret", ErrorCode::InvalidRequest),
            ("/etc/passwd", ErrorCode::InvalidRequest),
            (".git/config", ErrorCode::InvalidRequest),
        ] {
            let error = registries.download("default", file).await.unwrap_err();
            assert_eq!(error.code(), code, "{file}: {error}");
        }
    }
}

#[tokio::test]
async fn a_known_version_on_github_is_fetched_once_until_it_changes() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [_, registries] = registries(folder.path(), &server).await;
    let first = registries.resolve(&type_name("a:v1")).await.unwrap();
    let before = server.requests();
    assert_eq!(registries.resolve(&type_name("a:v1")).await.unwrap(), first);
    assert_eq!(
        server.requests(),
        before + 1,
        "only the versions are asked for"
    );
    write(folder.path(), "a/v1.0.1/helper.py", "changed");
    let changed = registries.resolve(&type_name("a:v1")).await.unwrap();
    assert_eq!(changed.imports[2].content, "changed");
    assert_ne!(changed.resolved.sha256, first.resolved.sha256);
}

#[tokio::test]
async fn a_used_up_rate_limit_says_when_it_ends() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let error = registries
        .resolve(&type_name("github.com/owner/limited/a:v1"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, RegistryError::RateLimited { .. }),
        "{error:?}"
    );
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable);
    assert!(error.to_string().contains("2030-01-01"), "{error}");
}

#[tokio::test]
async fn a_registry_that_is_down_is_unavailable_and_others_go_on() {
    let folder = tree();
    let options = Options {
        registry: Some(folder.path().to_str().unwrap().to_owned()),
        // Port 9 is nobody's here: the connection is refused.
        github_api_url: "http://127.0.0.1:9".to_owned(),
        ..Options::default()
    };
    let registries = alone(&options).await.unwrap();
    let error = registries
        .resolve(&type_name("github.com/owner/repo/a:v1"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    assert!(registries.resolve(&type_name("a:v1")).await.is_ok());
    let private = registries
        .resolve(&type_name("http://127.0.0.1:9/a.py"))
        .await
        .unwrap_err();
    assert!(
        private.to_string().contains("--allow-private-registries"),
        "{private}"
    );
    assert_eq!(private.code(), ErrorCode::InvalidConfiguration);
}

#[tokio::test]
async fn a_default_collection_is_what_short_references_mean() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let options = Options {
        registry: Some("owner/repo/db".to_owned()),
        github_api_url: server.url.join("api").unwrap().into(),
        ..Options::default()
    };
    let registries = alone(&options).await.unwrap();
    let resolved = registries.resolve(&type_name("a:v3")).await.unwrap();
    assert_eq!(resolved.imports[0].content, "of the collection db");
    let templates = registries.templates("default", None).await.unwrap();
    let names: Vec<_> = templates
        .iter()
        .map(|template| template.name.as_str())
        .collect();
    assert_eq!(names, ["a", "redis"]);
}

#[tokio::test]
async fn a_registry_that_goes_away_makes_the_manager_unready() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, remote] = registries(folder.path(), &server).await;
    assert!(registries.health().await.ready);
    folder.close().unwrap();
    let check = registries.health().await;
    assert!(!check.ready, "{check:?}");
    assert!(remote.health().await.ready, "what is remote is not asked");
}
