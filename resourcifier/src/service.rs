//! The use cases: what a request means, in terms of plan and apply.

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::{
    ApplyRequest, CheckResponse, DeleteRequest, DiffReport, ObjectState, ObjectStatus, Policies,
    Report, StatusRequest,
};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, Namespace, ObjectRef, Resource};
use common::server::health::Check;
use serde_json::{Value, json};

use crate::apply::readiness::{self, Readiness};
use crate::apply::{self, BATCH, Context, Deadline, Discovery, Events, Known, Stopped};
use crate::kubectl::{Kubectl, Query};
use crate::plan::{self, Catalog, Desired, Plan, ServedKind, Wanted};

/// For what only looks.
const LOOK: Duration = Duration::from_secs(20);
/// For what probes ask every few seconds.
const PROBE: Duration = Duration::from_secs(5);

pub struct Deployer {
    kubectl: Arc<dyn Kubectl>,
    discovery: Discovery,
}

/// A write that was found possible.
pub struct Prepared<W> {
    work: W,
    catalog: Arc<Catalog>,
    deadline: Deadline,
}

pub struct Apply {
    request: ApplyRequest,
    plan: Plan,
}

impl Prepared<Apply> {
    /// What a caller is told who only wants to know whether it is possible.
    pub fn checked(&self) -> CheckResponse {
        let nodes = self.work.plan.nodes.iter();
        CheckResponse {
            objects: nodes.map(|node| node.object.clone()).collect(),
            edges: self.work.plan.edges(),
        }
    }
}

pub struct Delete {
    request: DeleteRequest,
    unconfirmed: Vec<(Resource, ObjectRef)>,
}

impl Deployer {
    pub fn new(kubectl: Arc<dyn Kubectl>) -> Self {
        Self {
            discovery: Discovery::new(kubectl.clone()),
            kubectl,
        }
    }

    /// Plans it; fails for all that can be told without looking at objects.
    pub async fn prepare_apply(&self, request: ApplyRequest) -> Result<Prepared<Apply>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let catalog = self
            .discovery
            .catalog(&plan::wanted(&request.resources))
            .await?;
        let plan = plan::plan(desired(&request), &catalog)?;
        Ok(Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        })
    }

    pub async fn apply(
        &self,
        prepared: Prepared<Apply>,
        events: &Events,
    ) -> Result<Report, Stopped> {
        let Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        tracing::info!(deployment = %request.deployment, resources = plan.nodes.len(), "applying deployment {}", request.deployment);
        let known = Known {
            recorded: &request.recorded,
            expected: &request.expected,
            delete: request.policies.delete,
        };
        apply::apply(context, plan, known).await
    }

    /// What an apply would do; nothing is changed.
    pub async fn diff(
        &self,
        prepared: Prepared<Apply>,
        events: &Events,
    ) -> Result<DiffReport, Stopped> {
        let Prepared {
            work: Apply { request, plan },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        apply::diff(context, &plan, &request.recorded, request.policies.delete).await
    }

    /// Works out which objects the unconfirmed resources would be. One that can be none has left nothing behind.
    pub async fn prepare_delete(
        &self,
        request: DeleteRequest,
    ) -> Result<Prepared<Delete>, ErrorBody> {
        let deadline = Deadline::after(request.timeout_ms);
        let catalog = self.catalog_for(&request).await?;
        let unconfirmed = unconfirmed(&request, &catalog);
        Ok(Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            catalog,
            deadline,
        })
    }

    async fn catalog_for(&self, request: &DeleteRequest) -> Result<Arc<Catalog>, ErrorBody> {
        let recorded: Vec<ObjectRef> = request
            .recorded
            .iter()
            .map(|old| old.object.clone())
            .collect();
        let catalog = match request.unconfirmed.is_empty() {
            true => self.discovery.catalog_of(&recorded).await?,
            false => {
                self.discovery
                    .catalog(&plan::wanted(&request.unconfirmed))
                    .await?
            }
        };
        Ok(catalog)
    }

    pub async fn delete(
        &self,
        prepared: Prepared<Delete>,
        events: &Events,
    ) -> Result<Report, Stopped> {
        let Prepared {
            work: Delete {
                request,
                unconfirmed,
            },
            catalog,
            deadline,
        } = prepared;
        let context = Context {
            kubectl: &*self.kubectl,
            catalog: &catalog,
            deployment: &request.deployment,
            events,
            deadline,
        };
        tracing::info!(deployment = %request.deployment, objects = request.recorded.len(), "deleting from deployment {}", request.deployment);
        apply::delete(
            context,
            request.recorded,
            unconfirmed,
            request.delete_policy,
        )
        .await
    }

    /// The live state of recorded objects, in their order.
    pub async fn status(&self, request: StatusRequest) -> Result<Vec<ObjectStatus>, ErrorBody> {
        let refs: Vec<ObjectRef> = request
            .objects
            .iter()
            .map(|applied| applied.object.clone())
            .collect();
        let catalog = self.discovery.catalog_of(&refs).await?;
        let mut statuses = Vec::with_capacity(refs.len());
        for batch in request.objects.chunks(BATCH) {
            statuses.extend(self.statuses(batch, &catalog).await?);
        }
        Ok(statuses)
    }

    async fn statuses(
        &self,
        batch: &[AppliedObject],
        catalog: &Catalog,
    ) -> Result<Vec<ObjectStatus>, ErrorBody> {
        let served = |applied: &&AppliedObject| catalog.current(&applied.object).is_some();
        let current = |applied: &AppliedObject| {
            let mut object = applied.object.clone();
            object.api_version = catalog
                .current(&object)
                .map_or(object.api_version, |kind| kind.api_version.clone());
            object
        };
        let objects: Vec<ObjectRef> = batch.iter().filter(served).map(current).collect();
        let mut outcomes = apply::each(&*self.kubectl, &objects, LOOK)
            .await
            .into_iter();
        Ok(batch
            .iter()
            .map(
                |applied| match served(&applied).then(|| outcomes.next()).flatten() {
                    Some(Err(error)) => status(
                        applied,
                        ObjectState::NotReady,
                        Some(format!("it cannot be read: {error}")),
                    ),
                    Some(Ok(Some(live))) => live_status(applied, &live),
                    Some(Ok(None)) | None => status(
                        applied,
                        ObjectState::Missing,
                        Some("the cluster has no such object".to_owned()),
                    ),
                },
            )
            .collect())
    }

    /// Live objects of a type, or one of them; the values of Secrets are left out.
    pub async fn read(
        &self,
        type_name: &str,
        name: Option<&str>,
        namespace: Option<&Namespace>,
    ) -> Result<Value, ErrorBody> {
        let wanted = Wanted::parse(type_name);
        let catalog = self
            .discovery
            .catalog(std::slice::from_ref(&wanted))
            .await?;
        let kind = catalog
            .find(&wanted)
            .map_err(|error| ErrorBody::new(ErrorCode::UnknownType, error.to_string()))?;
        if let Some(name) = name.filter(|name| !is_object_name(name)) {
            return Err(ErrorBody::new(
                ErrorCode::InvalidRequest,
                format!("{name:?} is not the name of an object"),
            ));
        }
        if kind.namespaced && name.is_some() && namespace.is_none() {
            let message = format!(
                "{} objects belong to a namespace: say which, with ?namespace=",
                kind.kind
            );
            return Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
        }
        let namespace = namespace.map(Namespace::as_str);
        let found = match name {
            Some(name) => {
                self.kubectl
                    .get(&object(kind, namespace, name), LOOK)
                    .await?
            }
            None => {
                let query = Query {
                    kind,
                    namespace,
                    selector: None,
                    metadata_only: false,
                };
                let items = apply::all(&*self.kubectl, query, LOOK).await?;
                Some(json!({"apiVersion": "v1", "kind": "List", "items": items}))
            }
        };
        let missing = || {
            ErrorBody::new(
                ErrorCode::NotFound,
                format!(
                    "the cluster has no {} {}",
                    kind.kind,
                    name.unwrap_or_default()
                ),
            )
        };
        found.map(without_secrets).ok_or_else(missing)
    }

    /// What `/readyz` tells.
    pub async fn checks(&self) -> Vec<Check> {
        match self.kubectl.versions(PROBE).await {
            Err(error) => vec![
                Check::down("kubectl", error.to_string()),
                Check::down("cluster", "it can be asked only through kubectl"),
            ],
            Ok(versions) => {
                let skew = versions
                    .skew
                    .map(|skew| format!("; {skew}"))
                    .unwrap_or_default();
                let kubectl = Check::ready("kubectl", format!("kubectl {}{skew}", versions.client));
                vec![
                    kubectl,
                    Check::of(
                        "cluster",
                        versions.server.map(|server| format!("Kubernetes {server}")),
                    ),
                ]
            }
        }
    }
}

fn desired(request: &ApplyRequest) -> Desired<'_> {
    Desired {
        deployment: &request.deployment,
        namespace: &request.namespace,
        resources: &request.resources,
        outputs: &request.outputs,
        policies: request.policies,
    }
}

/// Together if they make a plan; else those that make one alone.
fn unconfirmed(request: &DeleteRequest, catalog: &Catalog) -> Vec<(Resource, ObjectRef)> {
    let planned = |resources: &[Resource]| {
        let plan = plan::plan(
            Desired {
                deployment: &request.deployment,
                namespace: &request.namespace,
                resources,
                outputs: &[],
                policies: Policies::default(),
            },
            catalog,
        );
        plan.map(|plan| {
            plan.nodes
                .into_iter()
                .map(|node| (node.resource, node.object))
                .collect::<Vec<_>>()
        })
    };
    let one_by_one = || {
        request
            .unconfirmed
            .iter()
            .filter_map(|resource| planned(std::slice::from_ref(resource)).ok())
            .flatten()
            .collect()
    };
    planned(&request.unconfirmed).unwrap_or_else(|_| one_by_one())
}

fn status(applied: &AppliedObject, state: ObjectState, reason: Option<String>) -> ObjectStatus {
    ObjectStatus {
        applied: applied.clone(),
        state,
        reason,
        drift: Vec::new(),
    }
}

fn live_status(applied: &AppliedObject, live: &Value) -> ObjectStatus {
    if apply::uid(live) != Some(&applied.uid) {
        return status(
            applied,
            ObjectState::Replaced,
            Some("another object has taken its name".to_owned()),
        );
    }
    match readiness::of(live) {
        Readiness::Ready => status(applied, ObjectState::Ready, None),
        Readiness::Waiting(reason) => status(applied, ObjectState::NotReady, Some(reason)),
        Readiness::Failed(reason) => status(applied, ObjectState::Failed, Some(reason)),
    }
}

fn object(kind: &ServedKind, namespace: Option<&str>, name: &str) -> ObjectRef {
    ObjectRef {
        api_version: kind.api_version.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.filter(|_| kind.namespaced).map(str::to_owned),
        name: name.to_owned(),
    }
}

/// RFC 1123 subdomains, and `:` as the names of roles have it: nothing that kubectl could take for a flag.
fn is_object_name(name: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':' | b'_');
    (1..=253).contains(&name.len()) && name.bytes().all(is_inner) && !name.starts_with('-')
}

fn without_secrets(mut found: Value) -> Value {
    let redact = |object: &mut Value| {
        for field in ["data", "stringData"] {
            let values = object.get_mut(field).and_then(Value::as_object_mut);
            values
                .into_iter()
                .flat_map(|map| map.values_mut())
                .for_each(|value| *value = json!("[redacted]"));
        }
    };
    if found["kind"] == "Secret" {
        redact(&mut found);
    }
    let items = found.get_mut("items").and_then(Value::as_array_mut);
    items
        .into_iter()
        .flatten()
        .filter(|item| item["kind"] == "Secret")
        .for_each(redact);
    found
}
