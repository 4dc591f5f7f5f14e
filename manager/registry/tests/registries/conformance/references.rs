//! The targets of references.

use common::model::RegistryType;
use serde_json::json;

use crate::conformance::{Loopback, Options, alone, registries, tree, type_name, write};

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
async fn a_packed_chart_at_a_url_comes_as_base_64() {
    let folder = tree();
    let bytes = [0x1f, 0x8b, 0xff];
    std::fs::write(folder.path().join("web-1.0.0.tgz"), bytes).unwrap();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let url = server.url.join("files/web-1.0.0.tgz").unwrap();
    let resolved = registries.resolve(&type_name(url.as_str())).await.unwrap();
    let contents = resolved
        .imports
        .iter()
        .map(|import| import.content.as_str());
    assert_eq!(contents.collect::<Vec<_>>(), ["H4v/"]);
}

#[tokio::test]
async fn a_description_tells_what_a_template_is_and_takes() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let described = registries.describe(&type_name("a:v1")).await.unwrap();
        assert_eq!(
            (described.title.as_deref(), described.description.as_deref()),
            (Some("A"), Some("The a."))
        );
        assert_eq!(described.example.as_deref(), Some("resources: []\n"));
        assert!(
            described
                .schema
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
async fn a_template_object_takes_its_parameters() {
    let folder = tree();
    let template =
        "{apiVersion: v1, kind: Template, objects: [], parameters: [{name: SLOT, required: true}]}";
    write(folder.path(), "o/v1/o.yaml", template);
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let described = registries.describe(&type_name("o:v1")).await.unwrap();
        assert_eq!(described.schema.unwrap()["required"], json!(["SLOT"]));
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
