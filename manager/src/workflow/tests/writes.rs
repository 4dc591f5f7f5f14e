//! Every kind of write, and what must be there before it.

use common::api::manager::RollbackDeployment;
use common::api::page::PageQuery;

use super::*;
use crate::service::writes::asked::Asked;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Write {
    Create,
    /// With an idempotency key.
    CreateKeyed,
    CreateRefused,
    CreateBroken,
    CreateUnknown,
    /// Fails, and is removed again.
    CreateBack,
    CreatePreview,
    Update,
    UpdateBroken,
    /// Fails, and goes back.
    UpdateBack,
    UpdatePreview,
    /// In the place of an earlier preview.
    UpdatePreviewAgain,
    Commit,
    /// Of a deployment that is only previewed.
    CommitFirst,
    /// What the preview saw has changed.
    CommitChanged,
    Rollback,
    Correct,
    Delete,
    /// Of the deployment only: its objects stay.
    DeleteAbandon,
    /// Of a deployment that is only previewed.
    DeletePreviewed,
}

pub const WRITES: [Write; 20] = [
    Write::Create,
    Write::CreateKeyed,
    Write::CreateRefused,
    Write::CreateBroken,
    Write::CreateUnknown,
    Write::CreateBack,
    Write::CreatePreview,
    Write::Update,
    Write::UpdateBroken,
    Write::UpdateBack,
    Write::UpdatePreview,
    Write::UpdatePreviewAgain,
    Write::Commit,
    Write::CommitFirst,
    Write::CommitChanged,
    Write::Rollback,
    Write::Correct,
    Write::Delete,
    Write::DeleteAbandon,
    Write::DeletePreviewed,
];

pub fn web() -> DeploymentName {
    DeploymentName::parse("web").unwrap()
}

pub fn content(names: &[&str]) -> String {
    let resources: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "type": "Service"}))
        .collect();
    json!({"resources": resources}).to_string()
}

pub fn create(content: String) -> CreateDeployment {
    serde_json::from_value(json!({"name": "web", "content": content})).unwrap()
}

fn update(content: String) -> UpdateDeployment {
    serde_json::from_value(json!({"content": content})).unwrap()
}

fn query(query: serde_json::Value) -> WriteQuery {
    serde_json::from_value(query).unwrap()
}

impl Write {
    pub async fn start(self, app: &App) -> Result<OperationHandle, Error> {
        let writes = &app.services.writes;
        let (plain, preview) = (WriteQuery::default(), query(json!({"preview": true})));
        let back = query(json!({"rollbackOnFailure": true}));
        let broken = || crate::expander::fake::BROKEN.to_owned();
        let (first, second) = (content(&["a", "b"]), content(&["b", "c"]));
        match self {
            Write::Create => writes.create(create(first), &plain).await,
            Write::CreateKeyed => {
                let asked = Asked {
                    idempotency_key: Some("key".to_owned()),
                    ..Asked::default()
                };
                writes.create(create(first), asked).await
            }
            Write::CreateRefused => {
                writes
                    .create(create(content(&["a", REFUSED])), &plain)
                    .await
            }
            Write::CreateUnknown => {
                writes
                    .create(create(content(&["a", UNKNOWN])), &plain)
                    .await
            }
            Write::CreateBroken => writes.create(create(broken()), &plain).await,
            Write::CreateBack => writes.create(create(content(&["a", REFUSED])), &back).await,
            Write::CreatePreview => writes.create(create(first), &preview).await,
            Write::Update => writes.update(web(), update(second), &plain).await,
            Write::UpdateBroken => writes.update(web(), update(broken()), &plain).await,
            Write::UpdateBack => {
                let bad = content(&["c", REFUSED]);
                writes.update(web(), update(bad), &back).await
            }
            Write::UpdatePreview | Write::UpdatePreviewAgain => {
                writes.update(web(), update(second), &preview).await
            }
            Write::Commit | Write::CommitFirst | Write::CommitChanged => {
                let request = UpdateDeployment {
                    manifest: app.services.deployments.get(&web()).await?.preview,
                    ..UpdateDeployment::default()
                };
                writes.update(web(), request, &plain).await
            }
            Write::Rollback => {
                let manifests = &app.services.manifests;
                let found = manifests.list(&web(), &PageQuery::default()).await?;
                let manifest = found.items[0].name.clone();
                let request = RollbackDeployment { manifest };
                writes.rollback(web(), request, &plain).await
            }
            Write::Correct => {
                let found = app.services.deployments.get(&web()).await?;
                writes.correct(&found, None).await
            }
            Write::Delete | Write::DeletePreviewed => writes.delete(web(), &plain).await,
            Write::DeleteAbandon => {
                let abandon = query(json!({"deletePolicy": "ABANDON"}));
                writes.delete(web(), &abandon).await
            }
        }
    }

    /// Starts it and waits for its end.
    pub async fn finish(self, app: &App) -> Arc<crate::workflow::engine::watch::Outcome> {
        self.start(app).await.unwrap().outcome().await.unwrap()
    }

    /// What must have been written before.
    fn before(self) -> &'static [Write] {
        match self {
            Write::Create
            | Write::CreateKeyed
            | Write::CreateRefused
            | Write::CreateBroken
            | Write::CreateUnknown
            | Write::CreateBack
            | Write::CreatePreview => &[],
            Write::Update
            | Write::UpdateBroken
            | Write::UpdateBack
            | Write::UpdatePreview
            | Write::Correct
            | Write::Delete
            | Write::DeleteAbandon => &[Write::Create],
            Write::Commit | Write::CommitChanged | Write::UpdatePreviewAgain => {
                &[Write::Create, Write::UpdatePreview]
            }
            Write::CommitFirst | Write::DeletePreviewed => &[Write::CreatePreview],
            Write::Rollback => &[Write::Create, Write::Update],
        }
    }
}

pub async fn bed_for(write: Write) -> TestBed {
    prepared(TestBed::new(), write).await
}

/// A bed with what comes before a write.
pub async fn prepared(bed: TestBed, write: Write) -> TestBed {
    let app = bed.manager().await;
    for earlier in write.before() {
        let outcome = earlier.finish(&app).await;
        assert_eq!(outcome.operation.error, None, "{earlier:?}");
    }
    app.engine.suspend().await;
    match write {
        Write::CommitChanged => bed.deployer.edit("b", json!({"changed": true})),
        Write::Correct => bed.deployer.lose("a"),
        _ => {}
    }
    bed
}
