//! The rules of docs/reference/registries.md, each with examples.

use std::path::Path;

use common::api::error::ErrorCode;
use common::model::{Scope, TypeName};
use common::registry::{FILE_BYTES, TEMPLATE_IMPORTS};
use manager_registry::{Registries, RegistryError};
use tempfile::TempDir;

use crate::support::alone::{Alone, alone, options};

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let place = folder.path().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }
    folder
}

async fn registries(folder: &Path) -> Alone {
    alone(&options(folder.to_str().unwrap())).await.unwrap()
}

async fn template(registries: &Registries, reference: &str) -> Result<String, RegistryError> {
    let reference = TypeName::parse(reference).unwrap();
    let resolved = registries.resolve(&reference).await?;
    Ok(resolved.imports[0].path().to_owned())
}

async fn listed(registries: &Registries) -> Vec<String> {
    let templates = registries.templates("default", None).await.unwrap();
    let line = |template: &common::api::manager::TemplateSummary| {
        format!("{} {}", template.name, template.versions.join(" "))
    };
    templates.iter().map(line).collect()
}

/// "Basic structure": one template with three versions.
const BASIC: &[(&str, &str)] = &[
    ("templateA/v1/example.yaml", ""),
    ("templateA/v1/templateA.py", ""),
    ("templateA/v1/templateA.py.schema", ""),
    ("templateA/v1.0.1/example.yaml", ""),
    ("templateA/v1.0.1/templateA.py", ""),
    ("templateA/v1.0.1/templateA.py.schema", ""),
    ("templateA/v1.1/example.yaml", ""),
    ("templateA/v1.1/templateA.py", ""),
    (
        "templateA/v1.1/templateA.py.schema",
        "imports: [{path: helper.py}]",
    ),
    ("templateA/v1.1/helper.py", ""),
];

/// "Grouping templates": a flat list, and one by category.
const FLAT: &[(&str, &str)] = &[
    ("templates/templateA/v1/templateA.py", ""),
    ("templates/templateB/v2/templateB.py", ""),
];
const CATEGORISED: &[(&str, &str)] = &[
    ("templates/big-data/templateA/v1/templateA.py", ""),
    ("templates/big-data/templateB/v2/templateB.py", ""),
    ("templates/signals/templateC/v1/templateC.py", ""),
    ("templates/signals/templateD/v1.1/templateD.py", ""),
];
const MAPPED: (&str, &str) = (
    "registry.yaml",
    "collections: {big-data: templates/big-data, signals: templates/signals}",
);

#[tokio::test]
async fn the_basic_structure_is_a_template_with_three_versions() {
    let folder = tree(BASIC);
    let registries = registries(folder.path()).await;
    assert_eq!(listed(&registries).await, ["templateA v1 v1.0.1 v1.1"]);
    for (reference, file) in [
        ("templateA:v1", "default/templateA/v1.0.1/templateA.py"),
        ("templateA:v1.0", "default/templateA/v1.0.1/templateA.py"),
        ("templateA:v1.0.0", "default/templateA/v1.0.1/templateA.py"),
        ("templateA:v1.1", "default/templateA/v1.1/templateA.py"),
        ("templateA:v1.1.0", "default/templateA/v1.1/templateA.py"),
    ] {
        assert_eq!(
            template(&registries, reference).await.unwrap(),
            file,
            "{reference}"
        );
    }
    let error = template(&registries, "templateA:v1.2").await.unwrap_err();
    assert!(error.to_string().contains("v1, v1.0.1, v1.1"), "{error}");
}

#[tokio::test]
async fn a_flat_list_is_the_collection_of_its_folder() {
    let folder = tree(FLAT);
    let registries = registries(folder.path()).await;
    assert_eq!(
        listed(&registries).await,
        ["templates/templateA v1", "templates/templateB v2"]
    );
    let found = template(&registries, "templates/templateA:v1").await;
    assert_eq!(
        found.unwrap(),
        "default/templates/templateA/v1/templateA.py"
    );
}

#[tokio::test]
async fn collections_at_other_points_are_reached_by_the_metadata_file_only() {
    let folder = tree(CATEGORISED);
    let registries = registries(folder.path()).await;
    assert_eq!(listed(&registries).await, [""; 0]);
    let error = template(&registries, "big-data/templateA:v1")
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::TemplateNotFound, "{error}");

    std::fs::write(folder.path().join(MAPPED.0), MAPPED.1).unwrap();
    let expected = [
        "big-data/templateA v1",
        "big-data/templateB v2",
        "signals/templateC v1",
        "signals/templateD v1.1",
    ];
    assert_eq!(listed(&registries).await, expected);
    let found = template(&registries, "signals/templateD:v1.1").await;
    assert_eq!(
        found.unwrap(),
        "default/templates/signals/templateD/v1.1/templateD.py"
    );
}

#[tokio::test]
async fn a_name_that_the_metadata_file_does_not_have_is_a_top_level_folder() {
    let folder = tree(&[
        ("registry.yaml", "collections: {moved: new/place}"),
        ("moved/old/v1/old.py", ""),
        ("new/place/templateA/v1/templateA.py", ""),
        ("stayed/templateA/v1/templateA.py", ""),
    ]);
    let registries = registries(folder.path()).await;
    for (reference, file) in [
        (
            "moved/templateA:v1",
            "default/new/place/templateA/v1/templateA.py",
        ),
        (
            "stayed/templateA:v1",
            "default/stayed/templateA/v1/templateA.py",
        ),
    ] {
        assert_eq!(
            template(&registries, reference).await.unwrap(),
            file,
            "{reference}"
        );
    }
    assert_eq!(
        listed(&registries).await,
        ["moved/templateA v1", "stayed/templateA v1"],
        "a name is one collection: the folder that it had is none any more"
    );
}

#[tokio::test]
async fn a_metadata_file_that_cannot_be_read_is_an_error_and_spares_the_unnamed_collection() {
    let folder = tree(&[
        ("registry.yaml", "collections: {db: ../outside, web: 7}"),
        ("a/v1/a.py", ""),
        ("db/a/v1/a.py", ""),
    ]);
    let registries = registries(folder.path()).await;
    assert!(template(&registries, "a:v1").await.is_ok());
    let error = template(&registries, "db/a:v1").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfiguration);
    for message in ["default/registry.yaml", "'db'", "'..'", "'web'"] {
        assert!(
            error.to_string().contains(message),
            "{message} is not in: {error}"
        );
    }
    assert!(registries.templates("default", None).await.is_err());
}

#[tokio::test]
async fn a_collection_that_leads_to_no_folder_is_named() {
    let folder = tree(&[
        ("registry.yaml", "collections: {db: gone}"),
        ("a/v1/a.py", ""),
    ]);
    let registries = registries(folder.path()).await;
    let error = registries.templates("default", None).await.unwrap_err();
    assert!(
        error.to_string().contains("collection 'db' in 'gone'"),
        "{error}"
    );
    let error = template(&registries, "db/a:v1").await.unwrap_err();
    assert!(
        error.to_string().contains("collection 'db' in 'gone'"),
        "{error}"
    );
}

#[tokio::test]
async fn several_faults_of_a_schemas_imports_are_told_together() {
    let folder = tree(&[
        ("a/v1/a.py", ""),
        (
            "a/v1/a.py.schema",
            "imports: [{path: one.py}, {path: two.py}]",
        ),
        ("b/v1/b.py", ""),
        (
            "b/v1/b.py.schema",
            "imports: [{path: ../c.py}, {path: /etc/passwd}]",
        ),
    ]);
    let registries = registries(folder.path()).await;
    for (reference, parts) in [
        ("a:v1", ["a/v1/one.py", "a/v1/two.py"]),
        ("b:v1", ["\"../c.py\"", "\"/etc/passwd\""]),
    ] {
        let error = template(&registries, reference).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidSchema);
        for part in parts {
            assert!(
                error.to_string().contains(part),
                "{part} is not in: {error}"
            );
        }
    }
}

#[tokio::test]
async fn a_template_has_a_limit_of_files_and_of_bytes() {
    let import = |number: usize| format!("- path: f{number}.txt\n");
    let listed = |count: usize| {
        let imports = (0..count).map(import).collect::<String>();
        format!("imports:\n{imports}")
    };
    let folder = tree(&[
        ("a/v1/a.py", ""),
        ("a/v1/a.py.schema", &listed(TEMPLATE_IMPORTS + 1)),
        ("b/v1/b.py", ""),
        ("b/v1/b.py.schema", &listed(9)),
    ]);
    for number in 0..9 {
        let place = folder.path().join(format!("b/v1/f{number}.txt"));
        std::fs::write(place, vec![b' '; FILE_BYTES]).unwrap();
    }
    let registries = registries(folder.path()).await;
    for (reference, code, message) in [
        (
            "a:v1",
            ErrorCode::InvalidSchema,
            "imports more than 100 files",
        ),
        (
            "b:v1",
            ErrorCode::InvalidConfiguration,
            "in all of its files",
        ),
    ] {
        let error = template(&registries, reference).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn what_is_short_in_a_template_is_of_its_own_collection() {
    let folder = tree(&[("a/v1/a.py", ""), ("db/a/v1/a.py", "")]);
    let registries = registries(folder.path()).await;
    let db = Scope {
        registry: "default".to_owned(),
        collection: Some("db".to_owned()),
    };
    for (reference, scope) in [("a:v1", None), ("db/a:v1", Some(db))] {
        let reference = TypeName::parse(reference).unwrap();
        assert_eq!(registries.resolve(&reference).await.unwrap().scope, scope);
    }
}
