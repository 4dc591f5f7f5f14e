//! The objects of the cluster, accessed as one caller: translates each call of the port into requests to the API
//! server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::review::{AccessVerdict, ResourceAttributes};
use common::model::{Identity, ObjectRef};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ThroughProxy;
use super::{events, log, review, watch};
use crate::kubectl::caller::Caller;
use crate::kubectl::error::redact;
use crate::kubectl::error::{KubectlError, ObjectFault};
use crate::kubectl::proxy::request::{Request, collection};
use crate::kubectl::proxy::{Answer, Opened, Way};
use crate::kubectl::{
    ApplyOptions, Cascade, ClusterApi, DeleteOptions, Deletion, Gate, Log, LogLines, LogStream,
    ObjectEvent, Page, PageRequest, PatchOptions, Precondition, Query, Watch,
};
use crate::kubectl::{ServedKind, object_ref};

const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

#[derive(Debug)]
pub struct Objects {
    pub cluster: Arc<ThroughProxy>,
    pub caller: Caller,
    pub gate: Arc<Gate>,
}

impl Objects {
    /// Every request to an object uses this function or [`Self::watched`], so all have the caller's identity.
    async fn send(&self, request: &Request, within: Duration) -> Result<Answer, KubectlError> {
        let way = Way {
            caller: &self.caller,
            gate: &self.gate,
        };
        self.cluster.proxy.send(way, request, within).await
    }

    async fn watched(&self, request: &Request, within: Duration) -> Result<Opened, KubectlError> {
        let proxy = &self.cluster.proxy;
        let opened = proxy.watch(&self.caller, request, within);
        self.gate.while_open(opened).await?
    }

    /// A request to one object. A definition may be deleted and created with another plural name, so a kind that is not
    /// found is looked up again.
    async fn ask(
        &self,
        object: &ObjectRef,
        request: Request,
        within: Duration,
    ) -> Result<Answer, KubectlError> {
        let outcome = self.send(&request, within).await;
        if outcome
            .as_ref()
            .is_err_and(|error: &KubectlError| error.fault() == Some(ObjectFault::Unserved))
        {
            self.cluster.forget(object);
        }
        outcome
    }
}

fn read<T: DeserializeOwned>(call: &'static str, answer: &Answer) -> Result<T, KubectlError> {
    serde_json::from_slice(answer).map_err(|error| KubectlError::Malformed {
        call,
        reason: error.to_string(),
    })
}

fn listing(call: &'static str, query: Query<'_>) -> Result<Request, KubectlError> {
    let request = Request::new(call, Method::GET, &collection(query.kind, query.namespace))?;
    let request = match query.selector {
        Some(selector) => request.query("labelSelector", selector),
        None => request,
    };
    Ok(match query.metadata_only {
        true => request.accepts(METADATA_ONLY),
        false => request,
    })
}

/// The items of a list do not have the fields that are the same for all of them.
fn whole(mut item: Value, kind: &ServedKind) -> Value {
    if let Some(map) = item.as_object_mut() {
        map.insert("apiVersion".to_owned(), json!(kind.api_version));
        map.insert("kind".to_owned(), json!(kind.kind));
    }
    item
}

/// The answer is a success without an object if the object is deleted, and the object if something delays its deletion.
fn deletion(answer: Value) -> Deletion {
    match answer["kind"] == "Status" {
        true => Deletion::Gone,
        false => Deletion::Asked,
    }
}

/// No object has this version: etcd's first revision is that of the empty store. The API server compares versions only
/// if an object exists, so an apply with this version creates the object or fails.
const NO_VERSION: &str = "1";

/// The body with the values for the API server to compare before it writes.
fn conditional(body: &Value, precondition: Precondition<'_>) -> Value {
    let mut body = body.clone();
    match precondition {
        Precondition::None => {}
        Precondition::Absent => body["metadata"]["resourceVersion"] = json!(NO_VERSION),
        // The UID too: an apply with only a version would create an object that is deleted.
        Precondition::Unchanged { uid, version } => {
            body["metadata"]["uid"] = json!(uid);
            body["metadata"]["resourceVersion"] = json!(version);
        }
    }
    body
}

/// The object for a dry run of a create beside the existing one, without the fields that only one object can have.
fn beside(object: &Value) -> Value {
    let mut object = object.clone();
    if object["apiVersion"] != "v1" || object["kind"] != "Service" {
        return object;
    }
    let Some(spec) = object["spec"].as_object_mut() else {
        return object;
    };
    spec.shift_remove("healthCheckNodePort");
    if spec
        .get("clusterIP")
        .is_some_and(|address| address != "None")
    {
        spec.shift_remove("clusterIP");
        spec.shift_remove("clusterIPs");
    }
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.shift_remove("nodePort");
    }
    object
}

#[async_trait]
impl ClusterApi for Objects {
    fn caller(&self) -> Option<&Identity> {
        self.caller.identity()
    }

    async fn may(
        &self,
        access: &ResourceAttributes,
        within: Duration,
    ) -> Result<AccessVerdict, KubectlError> {
        let answer = self.send(&review::of_own_access(access)?, within).await?;
        review::access_verdict(&answer)
    }

    async fn get(
        &self,
        object: &ObjectRef,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        let kind = self.cluster.route(object).await?;
        let request = Request::of_object("get", Method::GET, &kind, object)?;
        match self.ask(object, request, within).await {
            Ok(answer) => read("get", &answer).map(Some),
            Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn list(
        &self,
        query: Query<'_>,
        page: PageRequest<'_>,
        within: Duration,
    ) -> Result<Page, KubectlError> {
        let request = listing("list", query)?.query("limit", &page.limit.to_string());
        let request = match page.after {
            Some(after) => request.query("continue", after),
            None => request,
        };
        let answer = match self.send(&request, within).await {
            // The objects are large, so fewer fit into a page.
            Err(KubectlError::TooMuch { .. }) if page.limit > 1 => {
                let fewer = PageRequest {
                    limit: page.limit / 8 + 1,
                    ..page
                };
                return self.list(query, fewer, within).await;
            }
            outcome => outcome?,
        };
        let mut list: Value = read("list", &answer)?;
        drop(answer);
        let text = |value: &Value| {
            value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let items = match list["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        Ok(Page {
            items: items
                .into_iter()
                .map(|item| whole(item, query.kind))
                .collect(),
            next: text(&list["metadata"]["continue"]),
            version: text(&list["metadata"]["resourceVersion"]).unwrap_or_default(),
        })
    }

    async fn watch(
        &self,
        query: Query<'_>,
        version: &str,
        within: Duration,
    ) -> Result<Watch, KubectlError> {
        let request = listing("watch", query)?
            .query("watch", "true")
            .query("resourceVersion", version)
            .query("timeoutSeconds", &within.as_secs().max(1).to_string());
        let (response, place) = self.watched(&request, within).await?;
        Ok(watch::changes(response, place, within))
    }

    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError> {
        let id = object_ref(object);
        let kind = self.cluster.route(&id).await?;
        let mut request = Request::of_object("apply", Method::PATCH, &kind, &id)?
            .query("fieldManager", options.manager)
            .query("force", if options.force { "true" } else { "false" })
            .body(APPLY, &conditional(object, options.precondition));
        if options.dry_run {
            request = request.query("dryRun", "All");
        }
        match self.ask(&id, request, within).await {
            Ok(answer) => read("apply", &answer),
            Err(error) => Err(redact::redacted(error, object)),
        }
    }

    async fn try_create(
        &self,
        object: &Value,
        manager: &str,
        within: Duration,
    ) -> Result<(), KubectlError> {
        let id = object_ref(object);
        let kind = self.cluster.route(&id).await?;
        let segments = collection(&kind, id.namespace.as_deref());
        let request = Request::new("create", Method::POST, &segments)?
            .query("fieldManager", manager)
            .query("dryRun", "All")
            .body(JSON, &beside(object));
        match self.ask(&id, request, within).await {
            Err(error) if error.fault() != Some(ObjectFault::Exists) => {
                Err(redact::redacted(error, object))
            }
            _ => Ok(()),
        }
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: DeleteOptions<'_>,
        within: Duration,
    ) -> Result<Deletion, KubectlError> {
        let policy = match options.cascade {
            Cascade::Foreground => "Foreground",
            Cascade::Background => "Background",
        };
        let mut wish =
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
        if let Some(uid) = options.uid {
            wish["preconditions"]["uid"] = json!(uid);
        }
        if let Some(version) = options.version {
            wish["preconditions"]["resourceVersion"] = json!(version);
        }
        let kind = self.cluster.route(object).await?;
        let request =
            Request::of_object("delete", Method::DELETE, &kind, object)?.body(JSON, &wish);
        match self.ask(object, request, within).await {
            Ok(answer) => read("delete", &answer).map(deletion),
            Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(Deletion::Missing),
            Err(error) if error.fault() == Some(ObjectFault::OtherUid) => Ok(Deletion::Replaced),
            Err(error) if error.fault() == Some(ObjectFault::Changed) => Ok(Deletion::Changed),
            Err(error) => Err(error),
        }
    }

    async fn patch(
        &self,
        object: &ObjectRef,
        patch: &Value,
        options: PatchOptions<'_>,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        let kind = self.cluster.route(object).await?;
        let request = Request::of_object("patch", Method::PATCH, &kind, object)?
            .query("fieldManager", options.manager)
            .body(MERGE, &conditional(patch, options.precondition));
        match self.ask(object, request, within).await {
            Ok(answer) => read("patch", &answer).map(Some),
            Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(None),
            Err(error) => Err(redact::redacted(error, patch)),
        }
    }

    async fn log(&self, log: Log<'_>, within: Duration) -> Result<String, KubectlError> {
        let request = log::tail(log)?;
        let answer = self.send(&request, within).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    async fn log_lines(
        &self,
        log: LogStream<'_>,
        within: Duration,
    ) -> Result<LogLines, KubectlError> {
        let request = log::stream(log)?;
        let opened = self.cluster.proxy.log(&self.caller, &request, within);
        let (response, place) = self.gate.while_open(opened).await??;
        Ok(log::lines(response, place))
    }

    async fn events(
        &self,
        object: &ObjectRef,
        uid: Option<&str>,
        within: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError> {
        let request = events::request(object, uid)?;
        let answer = self.send(&request, within).await?;
        Ok(events::latest(read("events", &answer)?))
    }
}
