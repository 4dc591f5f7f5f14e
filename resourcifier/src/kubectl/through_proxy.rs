//! The adapter: each call of the port as requests to the API server, through `kubectl proxy`.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use common::model::ObjectRef;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::error::{KubectlError, ObjectError, ObjectFault};
use super::folder::{Folder, FolderError};
use super::proxy::{Answer, Proxy};
use super::request::{Request, collection};
use super::session::Settings;
use super::{
    ApplyOptions, Cascade, DeleteOptions, Deletion, Kubectl, Log, Marks, ObjectEvent, Page,
    PageRequest, Query, Versions, Watch, discovery, events, redact, versions, watch,
};
use crate::plan::{ServedKind, object_ref};

/// Discovery is a handful of requests.
const DISCOVERY: Duration = Duration::from_secs(20);
/// The bytes of a log, whatever the number of lines.
const LOG_BYTES: usize = 64 * 1024;
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const METADATA_ONLY: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

#[derive(Debug)]
pub struct ThroughProxy {
    proxy: Proxy,
    /// By version and kind: where the objects of a kind are.
    routes: RwLock<HashMap<(String, String), ServedKind>>,
}

impl ThroughProxy {
    /// Nothing is started yet: the first call does.
    pub fn new(settings: Settings) -> Result<Self, FolderError> {
        let folder = Folder::new(&std::env::temp_dir())?;
        Ok(Self {
            proxy: Proxy::new(settings, folder),
            routes: RwLock::default(),
        })
    }

    /// Ends `kubectl proxy`. No call succeeds afterwards.
    pub async fn stop(&self) {
        self.proxy.stop().await;
    }

    /// Where the object is, asked of the cluster once for each kind.
    async fn route(&self, object: &ObjectRef) -> Result<ServedKind, KubectlError> {
        let key = (object.api_version.clone(), object.kind.clone());
        let known = self
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(kind) = known {
            return Ok(kind);
        }
        self.remember(discovery::of_version(&self.proxy, &object.api_version, DISCOVERY).await?);
        let known = self
            .routes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        known.ok_or_else(|| {
            let text = format!(
                "the cluster serves no kind {} in version {}",
                object.kind, object.api_version
            );
            KubectlError::Object(ObjectError {
                fault: ObjectFault::Unserved,
                text,
                causes: Vec::new(),
            })
        })
    }

    fn remember(&self, kinds: Vec<ServedKind>) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let keyed = kinds
            .into_iter()
            .map(|kind| ((kind.api_version.clone(), kind.kind.clone()), kind));
        routes.extend(keyed);
    }

    /// A request to one object. Definitions go and come back with another plural: a kind that is not found is looked up anew.
    async fn ask(
        &self,
        object: &ObjectRef,
        request: Request,
        within: Duration,
    ) -> Result<Answer, KubectlError> {
        let outcome = self.proxy.send(&request, within).await;
        if outcome
            .as_ref()
            .is_err_and(|error: &KubectlError| error.fault() == Some(ObjectFault::Unserved))
        {
            let key = (object.api_version.clone(), object.kind.clone());
            self.routes
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&key);
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

/// A list's items leave out what is the same for all of them.
fn whole(mut item: Value, kind: &ServedKind) -> Value {
    if let Some(map) = item.as_object_mut() {
        map.insert("apiVersion".to_owned(), json!(kind.api_version));
        map.insert("kind".to_owned(), json!(kind.kind));
    }
    item
}

/// The answer is a success alone where the object is gone, and the object where something holds it.
fn deletion(answer: Value) -> Deletion {
    match answer["kind"] == "Status" {
        true => Deletion::Gone,
        false => Deletion::Asked,
    }
}

/// `null` removes, in a merge patch.
fn removals(keys: &[&str]) -> Value {
    let nulls = keys.iter().map(|key| ((*key).to_owned(), Value::Null));
    Value::Object(nulls.collect::<Map<_, _>>())
}

#[async_trait]
impl Kubectl for ThroughProxy {
    async fn versions(&self, within: Duration) -> Result<Versions, KubectlError> {
        versions::of(&self.proxy, within).await
    }

    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        let kinds = discovery::preferred(&self.proxy, DISCOVERY).await?;
        self.remember(kinds.clone());
        Ok(kinds)
    }

    async fn kinds_of(&self, api_version: &str) -> Result<Vec<ServedKind>, KubectlError> {
        discovery::of_version(&self.proxy, api_version, DISCOVERY).await
    }

    async fn get(
        &self,
        object: &ObjectRef,
        within: Duration,
    ) -> Result<Option<Value>, KubectlError> {
        let kind = self.route(object).await?;
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
        let answer = match self.proxy.send(&request, within).await {
            // Large objects: fewer of them fit.
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
        let (response, place) = self.proxy.watch(&request, within).await?;
        Ok(watch::changes(response, place, within))
    }

    async fn apply(
        &self,
        object: &Value,
        options: ApplyOptions<'_>,
        within: Duration,
    ) -> Result<Value, KubectlError> {
        let id = object_ref(object);
        let kind = self.route(&id).await?;
        let mut request = Request::of_object("apply", Method::PATCH, &kind, &id)?
            .query("fieldManager", options.manager)
            .query("force", if options.force { "true" } else { "false" })
            .body(APPLY, object);
        if options.dry_run {
            request = request.query("dryRun", "All");
        }
        match self.ask(&id, request, within).await {
            Ok(answer) => read("apply", &answer),
            Err(error) => Err(redact::redacted(error, object)),
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
            wish["preconditions"] = json!({"uid": uid});
        }
        let kind = self.route(object).await?;
        let request = Request::of_object("delete", Method::DELETE, &kind, object)?
            .body("application/json", &wish);
        match self.ask(object, request, within).await {
            Ok(answer) => read("delete", &answer).map(deletion),
            Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(Deletion::Missing),
            Err(error) if error.fault() == Some(ObjectFault::OtherUid) => Ok(Deletion::Replaced),
            Err(error) => Err(error),
        }
    }

    async fn unmark(
        &self,
        object: &ObjectRef,
        marks: &Marks<'_>,
        within: Duration,
    ) -> Result<(), KubectlError> {
        let metadata =
            json!({"labels": removals(marks.labels), "annotations": removals(marks.annotations)});
        let kind = self.route(object).await?;
        let request = Request::of_object("unmark", Method::PATCH, &kind, object)?
            .body(MERGE, &json!({"metadata": metadata}));
        match self.ask(object, request, within).await {
            Ok(_) => Ok(()),
            Err(error) if error.fault() == Some(ObjectFault::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn log(&self, log: Log<'_>, within: Duration) -> Result<String, KubectlError> {
        let segments = [
            "api",
            "v1",
            "namespaces",
            log.namespace,
            "pods",
            log.pod,
            "log",
        ];
        let mut request = Request::new("log", Method::GET, &segments)?
            .query("container", log.container)
            .query("tailLines", &log.lines.to_string())
            .query("limitBytes", &LOG_BYTES.to_string())
            .query("previous", if log.previous { "true" } else { "false" });
        request.limit = 2 * LOG_BYTES;
        let answer = self.proxy.send(&request, within).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    async fn events(
        &self,
        object: &ObjectRef,
        uid: Option<&str>,
        within: Duration,
    ) -> Result<Vec<ObjectEvent>, KubectlError> {
        let request = events::request(object, uid)?;
        let answer = self.proxy.send(&request, within).await?;
        Ok(events::latest(read("events", &answer)?))
    }
}
