//! Packages in each kind of registry.

use std::path::Path;

use common::api::error::ErrorCode;
use common::model::TypeName;
use common::registry::package::{MANIFEST_FILES, OBJECTS};
use manager_registry::{RegistryError, ResolvedTemplate};
use tempfile::TempDir;

use crate::support::alone::{Alone, options};
use crate::support::each_kind::{EachKind, REGISTRIES};

const CHART: &str =
    "name: redis\nversion: 0.1.0\ndescription: Keeps things.\nhome: https://host/\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: redis, namespace: own}\n";
const SECRETS: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: redis}\nstringData: {a: '{{ b }} {% c %}'}\n---\n\
                       apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n";

/// `redis` is itself a package, and has a folder of another version.
const TREE: &[(&str, &str)] = &[
    ("redis/Chart.yaml", CHART),
    ("redis/README.md", "not a manifest"),
    ("redis/manifests/b.yaml", SERVICE),
    ("redis/manifests/a.yml", SECRETS),
    ("redis/manifests/notes.txt", "not a manifest"),
    ("redis/v0.2.0/Chart.yaml", "version: 0.2.0"),
    ("redis/v0.2.0/manifests/b.yaml", SERVICE),
    ("db/redis/v1/Chart.yaml", "version: v1"),
    (
        "db/redis/v1/manifests/b.json",
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}"#,
    ),
    ("other/v1/other.jinja", "resources: []"),
];

fn write(root: &Path, path: &str, content: &str) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        write(folder.path(), path, content);
    }
    folder
}

async fn on_disk(folder: &TempDir) -> Alone {
    let registry = folder.path().to_str().unwrap();
    Alone::new(&options(registry)).await.unwrap()
}

async fn resolve(alone: &Alone, reference: &str) -> Result<ResolvedTemplate, RegistryError> {
    alone.resolve(&TypeName::parse(reference).unwrap()).await
}

fn imports(resolved: &ResolvedTemplate) -> Vec<&str> {
    let imports = resolved.imports.iter();
    imports.map(|import| import.name.as_str()).collect()
}

fn names(resolved: &ResolvedTemplate) -> Vec<String> {
    let files = resolved.resolved.files.iter();
    files.map(|file| file.name.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_is_a_template_in_each_kind_of_registry() {
    let folder = tree(TREE);
    let served = EachKind::serve(folder.path()).await;
    let alone = &served.alone;
    for registry in REGISTRIES {
        let second = resolve(alone, &format!("{registry}/redis:v0.2"))
            .await
            .unwrap();
        assert_eq!(
            second.resolved.version.as_deref(),
            Some("v0.2.0"),
            "{registry}"
        );
        let listed = alone.templates(registry, None).await.unwrap();
        let redis = listed
            .iter()
            .find(|template| template.name == "redis")
            .unwrap();
        let of_db = resolve(alone, &format!("{registry}/db/redis:v1"))
            .await
            .unwrap();
        let objects = of_db.imports.last().unwrap();
        assert!(objects.name.ends_with("manifests/b.json"), "{registry}");
        if registry == "oci" {
            // There, a version is a tag with nothing beside it.
            assert_eq!(redis.versions, ["v0.2.0"]);
            continue;
        }
        assert_eq!(redis.versions, ["v0.1.0", "v0.2.0"], "{registry}");
        let first = resolve(alone, &format!("{registry}/redis:v0.1"))
            .await
            .unwrap();
        assert_eq!(
            first.resolved.version.as_deref(),
            Some("v0.1.0"),
            "{registry}"
        );
        assert!(
            first.resolved.url.ends_with("redis/Chart.yaml"),
            "{:?}",
            first.resolved
        );
        let again = resolve(alone, &format!("{registry}/redis:v0.1"))
            .await
            .unwrap();
        assert_eq!(first, again, "{registry}");
    }
}

#[tokio::test]
async fn a_packages_files_are_expanded_as_they_are_and_are_on_record() {
    let folder = tree(TREE);
    let alone = on_disk(&folder).await;
    let first = resolve(&alone, "redis:v0.1.0").await.unwrap();
    let (a, b) = (
        "default/redis/manifests/a.yml",
        "default/redis/manifests/b.yaml",
    );
    let expected = ["redis:v0.1.0", "redis:v0.1.0.schema", a, b];
    assert_eq!(imports(&first), expected);
    assert_eq!(first.imports[0].path(), "default/redis/Chart.yaml");
    assert_eq!(first.imports[2].content, SECRETS);
    assert_eq!(names(&first), ["redis:v0.1.0", a, b]);
    write(
        folder.path(),
        "redis/manifests/b.yaml",
        &SERVICE.replace("own", "other"),
    );
    let changed = resolve(&alone, "redis:v0.1.0").await.unwrap();
    assert_ne!(changed.resolved.sha256, first.resolved.sha256);
}

#[tokio::test]
async fn a_package_is_described_as_one_that_takes_no_properties() {
    let folder = tree(TREE);
    let alone = on_disk(&folder).await;
    let redis = TypeName::parse("redis:v0.1").unwrap();
    let described = alone.describe(&redis).await.unwrap();
    assert_eq!(described.title.as_deref(), Some("redis"));
    assert_eq!(described.description.as_deref(), Some("Keeps things."));
    assert_eq!(described.schema.unwrap()["additionalProperties"], false);
    let example = "resources:\n- name: redis\n  type: redis:v0.1\n";
    assert_eq!(described.example.as_deref(), Some(example));
    write(folder.path(), "redis/example.yaml", "its own");
    let described = alone.describe(&redis).await.unwrap();
    assert_eq!(described.example.as_deref(), Some("its own"));
}

#[tokio::test]
async fn every_fault_of_a_package_is_named_and_hides_no_other_template() {
    use ErrorCode::{InvalidConfiguration, TemplateNotFound};
    let folder = tree(TREE);
    let many: String = (0..=OBJECTS)
        .map(|n| format!("---\n{}", SERVICE.replace("redis", &format!("s{n}"))))
        .collect();
    for (path, content) in [
        ("bare/Chart.yaml", "version: 1.0.0"),
        ("empty/Chart.yaml", "version: 1.0.0"),
        ("empty/manifests/a.yaml", "# nothing\n---\n"),
        ("none/v1/Chart.yaml", "version: 1.0.0"),
        ("nothing/v1/Chart.yaml", "version: 1.0.0"),
        ("nothing/v1/manifests/notes.txt", "x"),
        ("unversioned/Chart.yaml", "name: unversioned"),
        ("unversioned/manifests/a.yaml", SERVICE),
        ("latest/Chart.yaml", "version: latest"),
        ("latest/manifests/a.yaml", SERVICE),
        ("renamed/Chart.yaml", CHART),
        ("renamed/manifests/a.yaml", SERVICE),
        ("moved/v1/Chart.yaml", "version: 1.2.0"),
        ("moved/v1/manifests/a.yaml", SERVICE),
        ("same/Chart.yaml", "version: 1.0.0"),
        ("same/manifests/a.yaml", SERVICE),
        ("same/v1/Chart.yaml", "version: 1.0.0"),
        ("text/v1/Chart.yaml", "version: 1.0.0"),
        ("text/v1/manifests/a.yaml", "just text"),
        ("twice/v1/Chart.yaml", "version: 1.0.0"),
        ("twice/v1/manifests/a.yaml", SERVICE),
        ("twice/v1/manifests/b.yaml", SERVICE),
        ("many/v1/Chart.yaml", "version: 1.0.0"),
        ("many/v1/manifests/a.yaml", &many),
        ("files/v1/Chart.yaml", "version: 1.0.0"),
    ] {
        write(folder.path(), path, content);
    }
    for number in 0..=MANIFEST_FILES {
        let path = format!("files/v1/manifests/{number}.yaml");
        write(folder.path(), &path, SERVICE);
    }
    write(folder.path(), "link/v1/Chart.yaml", "version: 1.0.0");
    std::fs::create_dir(folder.path().join("link/v1/manifests")).unwrap();
    let link = folder.path().join("link/v1/manifests/a.yaml");
    std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    let alone = on_disk(&folder).await;
    for (reference, code, message) in [
        ("bare:v1", TemplateNotFound, "no manifests"),
        ("empty:v1", InvalidConfiguration, "no object"),
        ("none:v1", TemplateNotFound, "no manifests"),
        ("nothing:v1", TemplateNotFound, "no manifests"),
        (
            "unversioned:v1",
            InvalidConfiguration,
            "default/unversioned/Chart.yaml",
        ),
        ("latest:v1", InvalidConfiguration, "\"latest\""),
        ("renamed:v0.1", InvalidConfiguration, "folder is 'renamed'"),
        ("moved:v1", InvalidConfiguration, "v1.2.0"),
        ("same:v1", TemplateNotFound, "'v1' and 'v1.0.0'"),
        (
            "text:v1",
            InvalidConfiguration,
            "a.yaml:1 is not a Kubernetes object",
        ),
        ("twice:v1", InvalidConfiguration, "Service own/redis is in"),
        ("many:v1", InvalidConfiguration, "1000 objects"),
        ("files:v1", InvalidConfiguration, "100 manifests"),
        ("link:v1", InvalidConfiguration, "link"),
        ("redis:v1", TemplateNotFound, "v0.1.0, v0.2.0"),
    ] {
        let error = resolve(&alone, reference).await.unwrap_err();
        assert_eq!(error.code(), code, "{reference}: {error}");
        assert!(error.to_string().contains(message), "{reference}: {error}");
    }
    let listed = alone.templates("default", None).await.unwrap();
    let names: Vec<_> = listed
        .iter()
        .map(|template| template.name.as_str())
        .collect();
    assert!(
        names.contains(&"redis") && names.contains(&"other"),
        "{names:?}"
    );
    assert!(
        !names.contains(&"latest") && !names.contains(&"bare"),
        "{names:?}"
    );
}
