//! The resolution of references: recorded, reported when it changes, and locked on request.

use common::api::manager::{Diff, DiffQuery};
use common::model::{Manifest, Operation};

use crate::http::tests::*;

fn uses(reference: &str) -> Value {
    json!([{"name": "it", "type": reference}])
}

fn locked() -> WriteQuery {
    serde_json::from_value(json!({"locked": true})).unwrap()
}

async fn deployed(served: &Served, reference: &str) -> Manifest {
    let request = creation("web", uses(reference));
    let created = served.client.create(&request, &WriteQuery::default()).await;
    let name = created.unwrap().latest_manifest.unwrap();
    served.client.manifest(&web(), &name).await.unwrap()
}

async fn diff(served: &Served, query: &DiffQuery) -> Diff {
    let request = change(uses("pair:v1"));
    served.client.diff(&web(), &request, query).await.unwrap()
}

/// The operation of an update, at its end.
async fn updated(served: &Served, reference: &str, query: &WriteQuery) -> Operation {
    let request = change(uses(reference));
    let after = served.client.update(&web(), &request, query).await.unwrap();
    let operation = after.operation.unwrap();
    served.client.operation(&operation).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_tells_every_file_of_a_template_with_its_digest() {
    let served = Served::new().await;
    let manifest = deployed(&served, "pair:v1").await;
    let [resolved] = manifest.resolved_types.as_slice() else {
        panic!("{:?}", manifest.resolved_types);
    };
    assert_eq!(resolved.version.as_deref(), Some("v1"));
    let [file] = resolved.files.as_slice() else {
        panic!("{resolved:?}");
    };
    assert_eq!((file.name.as_str(), &file.url), ("pair:v1", &resolved.url));
    assert!(file.sha256.starts_with("sha256:"), "{file:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_says_when_a_reference_resolves_to_something_else() {
    let served = Served::new().await;
    deployed(&served, "pair:v1").await;
    let same = updated(&served, "pair:v1", &WriteQuery::default()).await;
    assert!(same.warnings.is_empty(), "{:?}", same.warnings);
    served
        .bed
        .add_version("pair", "v1.0.1", &content(service("fixed")));
    let diff = diff(&served, &DiffQuery::default()).await;
    assert_eq!(diff.warnings, ["pair:v1 is now v1.0.1 (was v1)"]);
    let moved = updated(&served, "pair:v1", &WriteQuery::default()).await;
    assert_eq!(moved.warnings, ["pair:v1 is now v1.0.1 (was v1)"]);
    assert_eq!(served.bed.deployer.objects(), ["fixed"]);
    served
        .bed
        .add_version("pair", "v1.0.1", &content(service("other")));
    let changed = updated(&served, "pair:v1", &WriteQuery::default()).await;
    let [warning] = changed.warnings.as_slice() else {
        panic!("{:?}", changed.warnings);
    };
    assert!(
        warning.contains("pair.jinja of v1.0.1 changed"),
        "{warning}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_update_takes_the_very_files_on_record() {
    let served = Served::new().await;
    let first = deployed(&served, "pair:v1").await;
    served
        .bed
        .add_version("pair", "v1.0.1", &content(service("fixed")));
    served
        .bed
        .add_version("pair", "v1", &content(service("forged")));
    for _ in 0..2 {
        let operation = updated(&served, "pair:v1", &locked()).await;
        assert!(operation.warnings.is_empty(), "{:?}", operation.warnings);
    }
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
    let latest = served.client.deployment(&web()).await.unwrap();
    let latest = latest.latest_manifest.unwrap();
    let latest = served.client.manifest(&web(), &latest).await.unwrap();
    assert_eq!(latest.resolved_types, first.resolved_types);
    let query = DiffQuery {
        locked: true,
        ..DiffQuery::default()
    };
    let diff = diff(&served, &query).await;
    assert!(!diff.summary.is_change());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_update_that_needs_what_is_not_on_record_is_refused() {
    let served = Served::new().await;
    let first = deployed(&served, "pair:v1").await;
    served
        .bed
        .add_template("single", &content(service("single")));
    let request = change(uses("single:v1"));
    let error = answered(served.client.update(&web(), &request, &locked()).await);
    assert_eq!(error.code, ErrorCode::PreconditionFailed);
    assert!(
        error.message.contains(first.name.as_str()) && error.message.contains("\"single:v1\""),
        "{}",
        error.message
    );
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_can_be_locked_to_what_was_rolled_back_to() {
    let served = Served::new().await;
    let first = deployed(&served, "pair:v1").await;
    served
        .bed
        .add_version("pair", "v1.0.1", &content(service("fixed")));
    updated(&served, "pair:v1", &WriteQuery::default()).await;
    let to = common::api::manager::RollbackDeployment {
        manifest: first.name,
    };
    let write = WriteQuery::default();
    served.client.rollback(&web(), &to, &write).await.unwrap();
    updated(&served, "pair:v1", &locked()).await;
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_that_is_locked_is_committed_with_its_files() {
    let served = Served::new().await;
    deployed(&served, "pair:v1").await;
    served
        .bed
        .add_version("pair", "v1.0.1", &content(service("fixed")));
    let preview = WriteQuery {
        preview: true,
        ..locked()
    };
    let request = change(uses("pair:v1"));
    let previewed = served.client.update(&web(), &request, &preview).await;
    let commit = UpdateDeployment {
        manifest: previewed.unwrap().preview,
        ..UpdateDeployment::default()
    };
    let write = WriteQuery::default();
    served.client.update(&web(), &commit, &write).await.unwrap();
    updated(&served, "pair:v1", &locked()).await;
    assert_eq!(served.bed.deployer.objects(), ["left", "right"]);
}
