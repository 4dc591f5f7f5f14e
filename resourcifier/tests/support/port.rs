//! The port, answered from memory.

use std::ops::Deref;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::{AccessVerdict, ResourceAttributes, TokenReview, TokenVerdict};
use common::model::{Identity, ObjectRef};
use futures::StreamExt;
use resourcifier::kubectl::{
    self, ApplyOptions, Caller, Change, ClusterApi, DeleteOptions, Deletion, Gate, KubectlError,
    Log, LogLines, LogStream, ObjectEvent, ObjectFault, Page, PageRequest, PatchOptions, Query,
    ServedKind, Versions, Watch, object_ref,
};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use super::{Cluster, State, refusal};

fn served(api_version: &str, kind: &str, resource: &str) -> ServedKind {
    ServedKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource: resource.to_owned(),
        namespaced: true,
        applicable: true,
    }
}

fn kinds() -> Vec<ServedKind> {
    vec![
        served("v1", "ConfigMap", "configmaps"),
        served("v1", "Service", "services"),
        served("v1", "Pod", "pods"),
        served("batch/v1", "Job", "jobs"),
    ]
}

impl Cluster {
    fn reach(&self) -> Result<MutexGuard<'_, State>, KubectlError> {
        let mut state = self.state.lock().unwrap();
        if state.away > 0 {
            state.away -= 1;
            return Err(KubectlError::Unreachable("connection refused".to_owned()));
        }
        Ok(state)
    }

    fn reach_for(&self, object: &ObjectRef) -> Result<MutexGuard<'_, State>, KubectlError> {
        let is_served =
            |kind: &ServedKind| kind.kind == object.kind && kind.api_version == object.api_version;
        if !kinds().iter().any(is_served) {
            return Err(refusal(
                ObjectFault::Unserved,
                "no such kind is served",
                Vec::new(),
            ));
        }
        self.reach()
    }
}

fn is_selected(object: &Value, query: Query<'_>) -> bool {
    let is_labelled = |requirement: &str| {
        let (key, value) = requirement.split_once('=').unwrap_or((requirement, ""));
        object["metadata"]["labels"][key] == value
    };
    object["kind"] == query.kind.kind
        && query
            .namespace
            .is_none_or(|namespace| object["metadata"]["namespace"] == namespace)
        && query
            .selector
            .is_none_or(|selector| selector.split(',').all(is_labelled))
}

fn shown(mut object: Value, query: Query<'_>) -> Value {
    if let Some(map) = object.as_object_mut().filter(|_| query.metadata_only) {
        map.retain(|key, _| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    }
    object
}

#[async_trait]
impl kubectl::Cluster for Cluster {
    async fn versions(&self, _: Duration) -> Result<Versions, KubectlError> {
        let server = self
            .reach()
            .map(|_| "v1.36.0".to_owned())
            .map_err(|error| error.to_string());
        Ok(Versions {
            client: "v1.36.0".to_owned(),
            server,
            skew: None,
        })
    }

    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        Ok(kinds())
    }

    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError> {
        Ok(kinds()
            .into_iter()
            .filter(|kind| kind.api_version == api_version)
            .collect())
    }

    async fn review_token(
        &self,
        _: &TokenReview,
        _: Duration,
    ) -> Result<TokenVerdict, KubectlError> {
        drop(self.reach()?);
        Ok(TokenVerdict {
            authenticated: false,
            identity: None,
            error: Some("nobody is known here".to_owned()),
        })
    }

    async fn review_access(
        &self,
        _: &Identity,
        access: &ResourceAttributes,
        _: Duration,
    ) -> Result<AccessVerdict, KubectlError> {
        Ok(self.reach()?.review(access))
    }

    fn acting_for(self: Arc<Self>, caller: Caller, gate: Arc<Gate>) -> Arc<dyn ClusterApi> {
        Arc::new(Acting {
            cluster: self,
            caller,
            gate,
        })
    }
}

/// The cluster as a caller reaches it.
struct Acting {
    cluster: Arc<Cluster>,
    caller: Caller,
    gate: Arc<Gate>,
}

impl Acting {
    /// Waits at the gate with a write, and once it is through at the test's own hold.
    async fn passed(&self, object: &ObjectRef, dry_run: bool) -> Result<(), KubectlError> {
        if dry_run {
            return Ok(());
        }
        self.gate.enter(object.name.clone()).await?.answered();
        let hold = self.with(|state| state.holds.get(&object.name).cloned());
        if let Some(hold) = hold {
            self.with(|state| state.sent.push(object.name.clone()));
            hold.acquire().await.unwrap().forget();
        }
        Ok(())
    }
}

impl Deref for Acting {
    type Target = Cluster;
    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

#[async_trait]
impl ClusterApi for Acting {
    fn caller(&self) -> Option<&Identity> {
        self.caller.identity()
    }

    async fn may(
        &self,
        access: &ResourceAttributes,
        _: Duration,
    ) -> Result<AccessVerdict, KubectlError> {
        let mut state = self.reach()?;
        state.reviews += 1;
        Ok(state.review(access))
    }

    async fn get(&self, object: &ObjectRef, _: Duration) -> Result<Option<Value>, KubectlError> {
        self.interrupt(&format!("get {}", object.name));
        let mut state = self.reach_for(object)?;
        state.reads.push(format!("get {}", object.name));
        Ok(state.look(&object.name))
    }

    async fn list(
        &self,
        query: Query<'_>,
        page: PageRequest<'_>,
        _: Duration,
    ) -> Result<Page, KubectlError> {
        let mut state = self.reach()?;
        state.reads.push(format!("list {}", query.kind.kind));
        let names: Vec<String> = state
            .objects
            .iter()
            .filter(|(name, object)| {
                page.after.is_none_or(|after| name.as_str() > after) && is_selected(object, query)
            })
            .map(|(name, _)| name.clone())
            .collect();
        let (shown_names, rest) = names.split_at(page.limit.min(names.len()));
        let next = shown_names.last().filter(|_| !rest.is_empty()).cloned();
        let items = shown_names
            .iter()
            .filter_map(|name| state.look(name))
            .map(|object| shown(object, query))
            .collect();
        Ok(Page {
            items,
            next,
            version: state.version.to_string(),
        })
    }

    async fn watch(
        &self,
        query: Query<'_>,
        version: &str,
        within: Duration,
    ) -> Result<Watch, KubectlError> {
        let mut state = self.reach()?;
        if !state.watchable {
            return Err(refusal(
                ObjectFault::Refused,
                "watching is forbidden",
                Vec::new(),
            ));
        }
        state.reads.push(format!("watch {}", query.kind.kind));
        let since: usize = version.parse().unwrap_or(0);
        let is_newer = |object: &&Value| {
            let version = object["metadata"]["resourceVersion"].as_str();
            version
                .and_then(|version| version.parse().ok())
                .is_some_and(|version: usize| version > since)
        };
        let missed: Vec<_> = state
            .objects
            .values()
            .filter(is_newer)
            .filter(|object| is_selected(object, query))
            .map(|object| Ok(Change::Is(object.clone())))
            .collect();
        let (kind, end) = (
            query.kind.kind.clone(),
            tokio::time::Instant::now() + within,
        );
        let later =
            futures::stream::unfold(self.changes.subscribe(), move |mut changes| async move {
                match tokio::time::timeout_at(end, changes.recv()).await {
                    Ok(Ok(change)) => Some((Some(change), changes)),
                    Ok(Err(RecvError::Lagged(_))) => Some((None, changes)),
                    Ok(Err(RecvError::Closed)) | Err(_) => None,
                }
            });
        let later = later.filter_map(move |change| {
            let of_kind = change.filter(|change| change.object()["kind"] == kind);
            async move { of_kind.map(Ok) }
        });
        Ok(futures::stream::iter(missed).chain(later).boxed())
    }

    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError> {
        let id = object_ref(object);
        self.passed(&id, options.dry_run).await?;
        if self.with(|state| state.hanging.contains(&id.name)) {
            tokio::time::sleep(within).await;
            let (call, seconds) = ("apply", within.as_secs());
            return Err(KubectlError::TimedOut { call, seconds });
        }
        let mode = if options.dry_run { "try" } else { "apply" };
        self.interrupt(&format!("{mode} {}", id.name));
        let live = {
            let mut state = self.reach_for(&id)?;
            state.calls.push(format!("{mode} {}", id.name));
            state.apply(object, options)?
        };
        if !options.dry_run {
            self.tell(Change::Is(live.clone()));
        }
        Ok(live)
    }

    async fn try_create(&self, object: &Value, _: &str, _: Duration) -> Result<(), KubectlError> {
        let id = object_ref(object);
        self.interrupt(&format!("create {}", id.name));
        let state = self.reach_for(&id)?;
        state.create(&id.name)
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: DeleteOptions<'_>,
        _: Duration,
    ) -> Result<Deletion, KubectlError> {
        self.interrupt(&format!("delete {}", object.name));
        self.passed(object, false).await?;
        let (live, deletion) = {
            let mut state = self.reach_for(object)?;
            state.calls.push(format!("delete {}", object.name));
            (
                state.objects.get(&object.name).cloned(),
                state.delete(object, options),
            )
        };
        if let Some(live) = live.filter(|_| deletion == Deletion::Gone) {
            self.tell(Change::Gone(live));
        }
        Ok(deletion)
    }

    async fn patch(
        &self,
        object: &ObjectRef,
        patch: &Value,
        options: PatchOptions<'_>,
        _: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        self.interrupt(&format!("patch {}", object.name));
        self.passed(object, false).await?;
        let mut state = self.reach_for(object)?;
        state.calls.push(format!("patch {}", object.name));
        state.patch(&object.name, patch, options)
    }

    async fn log(&self, log: Log<'_>, _: Duration) -> Result<String, KubectlError> {
        let state = self.reach()?;
        let Some(text) = state.logs.get(&format!("{}/{}", log.pod, log.container)) else {
            let text = format!("pods {:?} not found", log.pod);
            return Err(refusal(ObjectFault::Refused, &text, Vec::new()));
        };
        let lines: Vec<&str> = text.lines().collect();
        Ok(lines[lines.len().saturating_sub(log.lines)..].join("\n"))
    }

    async fn log_lines(
        &self,
        stream: LogStream<'_>,
        within: Duration,
    ) -> Result<LogLines, KubectlError> {
        let text = self.log(stream.log, within).await?;
        let lines: Vec<_> = text.lines().map(|line| Ok(line.to_owned())).collect();
        Ok(futures::stream::iter(lines).boxed())
    }

    async fn events(
        &self,
        object: &ObjectRef,
        _: Option<&str>,
        _: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError> {
        Ok(self
            .reach()?
            .events
            .get(&object.name)
            .cloned()
            .unwrap_or_default())
    }
}
