//! Operations, their inputs and results, and which are unfinished.
//!
//! Ended operations are kept within limits: the last [`KEPT_PER_DEPLOYMENT`] of each deployment name, for [`KEPT_DAYS`]
//! days.

pub mod answers;
pub mod fences;
pub mod journal;
pub mod requests;

use common::api::deployer::{DiffReport, DoneHook};
use common::api::manager::Expansion;
use common::api::page::{Page, PageQuery};
use common::api::plan::PlanAnswer;
use common::model::{
    ClusterName, Deployment, DeploymentName, Identity, InputConfig, ManifestName, Namespace,
    Operation, OperationId, OperationStatus, SecretValue,
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use self::fences::{Attempts, Take};
use super::kv::{Order, Scan};
use super::record::pieces;
use super::{Changes, Store, StoreError, keys, read};
use crate::domain::manifest::resolution::Recorded;
use crate::domain::operation::intent::{Intent, Options};

/// The number of operations that are kept for a deployment name.
pub const KEPT_PER_DEPLOYMENT: usize = 100;
/// The number of days for which an ended operation is kept.
pub const KEPT_DAYS: i64 = 30;
/// The number of old operations that the end of one checks. More than one, so that their number shrinks.
const EXPIRED_AT_ONCE: usize = 8;

const INPUT: &str = "input";
pub(super) const EXPANSION: &str = "expansion";
const DIFF: &str = "diff";
const HOOKS: &str = "hooks";
const PLANS: &str = "plans";

/// An operation, with what is needed to resume it after a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationRecord {
    pub operation: Operation,
    pub intent: Intent,
    /// The name of the manifest that it makes or applies. Callers see it once the manifest is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    #[serde(default)]
    pub options: Options,
    /// Set when it has failed and rolls back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    /// The fence that it runs under. Absent until it is accepted, and in operations of the first managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<Take>,
    /// Jobs that may still write, those of this take at the end. Absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<Vec<Attempts>>,
    /// The timeout of one run. A restart begins a new one.
    pub timeout_ms: u64,
    /// The id of the request. Calls to other services carry it.
    pub request_id: String,
    /// The span of the request, if there are traces. A manager that goes on with the operation goes on with its trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The answer for a repeated request. Set when it is done, if the request has an idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Deployment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The authenticated caller. The operation acts with this identity as long as it is authorized. Never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// The deployment's namespace. It decides who may see the operation after the deployment is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The deployment's cluster.
    #[serde(default)]
    pub cluster: ClusterName,
}

/// The way back from a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The manifest to restore, or none if the deployment is to be removed.
    pub to: Option<ManifestName>,
    /// The name of the manifest that the rollback makes.
    pub manifest: ManifestName,
}

/// A request to stop the operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopWish {
    pub user: String,
}

impl OperationRecord {
    /// The first managers recorded the manifest's name only in the operation.
    pub fn manifest(&self) -> Option<&ManifestName> {
        self.manifest.as_ref().or(self.operation.manifest.as_ref())
    }
}

pub async fn get(store: &Store, id: &OperationId) -> Result<Option<OperationRecord>, StoreError> {
    store.get(keys::operation(id)).await
}

/// The latest first.
pub async fn list(
    store: &Store,
    deployment: Option<&DeploymentName>,
    page: &PageQuery,
) -> Result<Page<OperationRecord>, StoreError> {
    let Some(deployment) = deployment else {
        return store
            .records(keys::operations(), page, Order::Descending)
            .await;
    };
    let ids: Page<OperationId> = store
        .records(keys::operations_of(deployment), page, Order::Descending)
        .await?;
    let mut items = Vec::with_capacity(ids.items.len());
    for id in &ids.items {
        // It may expire between the two reads.
        items.extend(get(store, id).await?);
    }
    Ok(Page {
        items,
        next_page_token: ids.next_page_token,
    })
}

/// The operations to resume, oldest first.
pub async fn unfinished(store: &Store) -> Result<Vec<OperationRecord>, StoreError> {
    let mut found = Vec::new();
    for (key, bytes) in store.all(keys::all_unfinished()).await? {
        let id: OperationId = read(&key, &bytes)?;
        let record = get(store, &id).await?;
        found.push(record.ok_or_else(|| StoreError::Missing(format!("operation {id}")))?);
    }
    Ok(found)
}

/// Writes a new operation and its input.
pub fn add(
    changes: &mut Changes,
    record: &OperationRecord,
    input: &InputConfig,
) -> Result<(), StoreError> {
    let operation = &record.operation;
    put(changes, record)?;
    changes.put(
        keys::operation_of(&operation.deployment, &operation.id),
        &operation.id,
    )?;
    changes.put(keys::unfinished(&operation.id), &operation.id)?;
    pieces::put(changes, &keys::payload(&operation.id, INPUT), input)
}

pub fn put(changes: &mut Changes, record: &OperationRecord) -> Result<(), StoreError> {
    changes.put(keys::operation(&record.operation.id), record)
}

pub async fn input(store: &Store, id: &OperationId) -> Result<InputConfig, StoreError> {
    let found = pieces::get(store, keys::payload(id, INPUT)).await?;
    found.ok_or_else(|| StoreError::Missing(format!("the input of operation {id}")))
}

/// Replaces the input that it began with.
pub async fn replace_input(
    store: &Store,
    changes: &mut Changes,
    id: &OperationId,
    input: &InputConfig,
) -> Result<(), StoreError> {
    pieces::replace(store, changes, &keys::payload(id, INPUT), input).await
}

/// The result of the expand step, for later steps.
pub async fn expansion(store: &Store, id: &OperationId) -> Result<Expansion, StoreError> {
    let found = pieces::get(store, keys::payload(id, EXPANSION)).await?;
    found.ok_or_else(|| StoreError::Missing(format!("the expansion of operation {id}")))
}

/// An expansion is written again only if the step was repeated before it was recorded, so there is none yet.
pub fn put_expansion(
    changes: &mut Changes,
    id: &OperationId,
    expansion: &Expansion,
    templates: &[Recorded],
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Written<'a> {
        #[serde(flatten)]
        expansion: &'a Expansion,
        templates: &'a [Recorded],
    }
    let written = Written {
        expansion,
        templates,
    };
    pieces::put(changes, &keys::payload(id, EXPANSION), &written)
}

/// What the plans of the Inter-operator in the expansion have to say. Most expansions have none.
pub fn put_plans(
    changes: &mut Changes,
    id: &OperationId,
    plans: &[PlanAnswer],
) -> Result<(), StoreError> {
    match plans.is_empty() {
        true => Ok(()),
        false => pieces::put(changes, &keys::payload(id, PLANS), &plans),
    }
}

pub async fn plans(store: &Store, id: &OperationId) -> Result<Vec<PlanAnswer>, StoreError> {
    let found = pieces::get(store, keys::payload(id, PLANS)).await?;
    Ok(found.unwrap_or_default())
}

/// The secrets of the expansion. Empty if there is none.
pub async fn secrets(store: &Store, id: &OperationId) -> Result<Vec<SecretValue>, StoreError> {
    #[derive(Default, Deserialize)]
    struct Payload {
        #[serde(default)]
        secrets: Vec<SecretValue>,
    }
    let found: Option<Payload> = pieces::get(store, keys::payload(id, EXPANSION)).await?;
    Ok(found.unwrap_or_default().secrets)
}

/// The files of the expansion's references. Empty if an older manager expanded it.
pub async fn templates(store: &Store, id: &OperationId) -> Result<Vec<Recorded>, StoreError> {
    #[derive(Deserialize)]
    struct Read {
        #[serde(default)]
        templates: Vec<Recorded>,
    }
    let found = pieces::get::<Read>(store, keys::payload(id, EXPANSION)).await?;
    let found =
        found.ok_or_else(|| StoreError::Missing(format!("the expansion of operation {id}")))?;
    Ok(found.templates)
}

/// The result of the diff step, for the step that stores it.
pub async fn diff(store: &Store, id: &OperationId) -> Result<DiffReport, StoreError> {
    let found = pieces::get(store, keys::payload(id, DIFF)).await?;
    found.ok_or_else(|| StoreError::Missing(format!("the differences of operation {id}")))
}

/// As with an expansion, there is none yet.
pub fn put_diff(
    changes: &mut Changes,
    id: &OperationId,
    diff: &DiffReport,
) -> Result<(), StoreError> {
    pieces::put(changes, &keys::payload(id, DIFF), diff)
}

/// The hooks that it has run to their end.
pub async fn done_hooks(store: &Store, id: &OperationId) -> Result<Vec<DoneHook>, StoreError> {
    let found = pieces::get(store, keys::payload(id, HOOKS)).await?;
    Ok(found.unwrap_or_default())
}

pub async fn put_done_hooks(
    store: &Store,
    changes: &mut Changes,
    id: &OperationId,
    done: &[DoneHook],
) -> Result<(), StoreError> {
    pieces::replace(store, changes, &keys::payload(id, HOOKS), &done).await
}

/// Requests a stop. `false`: it is done, or never existed.
pub async fn wish_stop(
    store: &Store,
    id: &OperationId,
    wish: &StopWish,
) -> Result<bool, StoreError> {
    let unfinished = keys::unfinished(id);
    let Some(entry) = store.kv.get(&unfinished).await? else {
        return Ok(false);
    };
    let mut changes = Changes::default();
    changes.expect(unfinished, Some(entry));
    changes.put(keys::stop(id), wish)?;
    match store.commit(changes).await {
        Ok(()) => Ok(true),
        Err(error) if error.is_conflict() => Ok(false),
        Err(error) => Err(error),
    }
}

pub async fn stop_wish(store: &Store, id: &OperationId) -> Result<Option<StopWish>, StoreError> {
    store.get(keys::stop(id)).await
}

/// Marks it as done: its working records are deleted, and its record has the outcome.
pub fn finish(changes: &mut Changes, record: &OperationRecord) -> Result<(), StoreError> {
    put(changes, record)?;
    let id = &record.operation.id;
    changes.delete(keys::unfinished(id));
    changes.delete(keys::stop(id));
    changes.delete_prefix(keys::payloads(id));
    // With its last events, which these changes contain.
    changes.delete_prefix(keys::journal(id));
    Ok(())
}

/// Deletes some of the operations that have expired.
pub async fn expire(
    store: &Store,
    changes: &mut Changes,
    deployment: &DeploymentName,
    now: Timestamp,
) -> Result<(), StoreError> {
    let of = store.kv.scan(Scan {
        prefix: keys::operations_of(deployment),
        limit: KEPT_PER_DEPLOYMENT + EXPIRED_AT_ONCE,
        ..Scan::default()
    });
    let oldest = store.kv.scan(Scan {
        prefix: keys::operations(),
        limit: EXPIRED_AT_ONCE,
        ..Scan::default()
    });
    let (of, oldest) = tokio::try_join!(of, oldest)?;
    let surplus = of.len().saturating_sub(KEPT_PER_DEPLOYMENT);
    for (key, bytes) in of.iter().take(surplus) {
        if let Some(record) = get(store, &read(key, bytes)?).await? {
            forget(changes, &record.operation);
        }
    }
    let horizon = now
        .saturating_sub(SignedDuration::from_hours(24 * KEPT_DAYS))
        .unwrap_or(Timestamp::MIN);
    for (key, bytes) in oldest {
        let record: OperationRecord = read(&key, &bytes)?;
        if record.operation.end_time.is_some_and(|end| end < horizon) {
            forget(changes, &record.operation);
        }
    }
    Ok(())
}

fn forget(changes: &mut Changes, operation: &Operation) {
    if operation.status == OperationStatus::Done {
        changes.delete(keys::operation(&operation.id));
        changes.delete(keys::operation_of(&operation.deployment, &operation.id));
        changes.delete_prefix(keys::journal(&operation.id));
    }
}
