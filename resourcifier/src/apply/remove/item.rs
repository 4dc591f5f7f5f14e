//! One object to delete: its state, and the reports about it.

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::{
    AppliedObject, DeletePolicy, DeploymentName, ObjectRef, Resource, ResourceName, TypeName,
};
use serde_json::Value;

use super::Removal;
use crate::apply::definitions::shared;
use crate::apply::object::acquired::Taken;
use crate::apply::object::change;
use crate::apply::object::claim::{self, Standing};
use crate::kubectl::KubectlError;

pub const REPLACED: &str = "another object has taken its name since; it is left alone";

/// One object to remove.
#[derive(Debug, Clone)]
pub struct RemovalTarget {
    pub name: ResourceName,
    pub type_name: TypeName,
    pub object: ObjectRef,
    /// The UID on record; without one, the object must carry the deployment's mark.
    pub uid: Option<String>,
}

impl RemovalTarget {
    pub fn recorded(old: AppliedObject) -> Result<Self, ErrorBody> {
        let type_name = TypeName::parse(&old.object.kind).map_err(|error| {
            ErrorBody::new(
                ErrorCode::InvalidRequest,
                format!("recorded object: {error}"),
            )
        })?;
        Ok(Self {
            name: old.resource,
            type_name,
            object: old.object,
            uid: Some(old.uid),
        })
    }

    pub fn unconfirmed(resource: Resource, object: ObjectRef) -> Self {
        Self {
            name: resource.name,
            type_name: resource.type_name,
            object,
            uid: None,
        }
    }
}

/// One target on its way.
pub struct Item {
    pub target: RemovalTarget,
    pub live: Option<Value>,
    pub state: ResourceState,
    action: Option<Action>,
    pub reason: Option<String>,
    error: Option<ErrorBody>,
    /// Not on record and without our mark: as if it had not been asked for.
    pub never_ours: bool,
    reported: Option<(ResourceState, Option<String>)>,
}

impl Item {
    pub fn new(target: RemovalTarget) -> Self {
        Self {
            target,
            live: None,
            state: ResourceState::Pending,
            action: None,
            reason: None,
            error: None,
            never_ours: false,
            reported: None,
        }
    }

    pub fn gone(&mut self, action: Option<Action>, reason: Option<&str>) {
        self.state = ResourceState::Gone;
        self.action = action;
        self.reason = reason.map(str::to_owned);
    }

    /// It is the deployment's; from now on the object with this UID is meant.
    pub fn is_of_uid(&mut self) {
        let uid = self.live.as_ref().and_then(change::uid);
        self.target.uid = uid.map(str::to_owned);
    }

    /// It is not the deployment's. What is not on record never was.
    pub fn left_alone(&mut self, standing: &Standing) {
        let live_uid = self.live.as_ref().and_then(change::uid);
        let is_recorded = self.target.uid.is_some() && self.target.uid.as_deref() == live_uid;
        match standing {
            Standing::Others(owner) if is_recorded => {
                let reason = format!("it belongs to deployment {owner} now and is left alone");
                self.gone(None, Some(&reason));
            }
            _ if self.target.uid.is_some() => self.gone(None, Some(REPLACED)),
            _ => self.missing(),
        }
    }

    /// There is no such object; what is not on record was never there.
    pub fn missing(&mut self) {
        self.never_ours = self.target.uid.is_none();
        self.gone(None, None);
    }

    pub fn skipped(&mut self, reason: &str) {
        self.state = ResourceState::Skipped;
        self.reason = Some(reason.to_owned());
    }

    pub fn failed(&mut self, code: ErrorCode, reason: &str) {
        self.state = ResourceState::Failed;
        self.reason = None;
        let location = Location {
            resource: Some(self.target.name.to_string()),
            ..Location::default()
        };
        let message = format!(
            "resource {} ({}): {reason}",
            self.target.name, self.target.object
        );
        self.error = Some(ErrorBody::new(code, message).at(location));
    }

    pub fn failed_by(&mut self, error: &KubectlError) {
        self.failed(error.code(), &error.to_string());
    }

    /// A report, if there is something new to report.
    pub fn news(&mut self) -> Option<ResourceReport> {
        let now = (self.state, self.reason.clone());
        if self.never_ours || self.reported.as_ref() == Some(&now) {
            return None;
        }
        self.reported = Some(now);
        Some(self.report())
    }

    pub fn is_pending(&self) -> bool {
        self.state == ResourceState::Pending
    }

    /// What becomes of it: what the whole asks for, or its own policy. What cannot be read is not abandoned unasked.
    /// What others share stays.
    pub fn policy(&self, whole: Removal, deployment: &DeploymentName) -> DeletePolicy {
        let live = self.live.as_ref();
        if live.is_some_and(|live| !shared::may_go(live, whole.policy, deployment)) {
            return DeletePolicy::Abandon;
        }
        if whole.restore && self.live.as_ref().and_then(Taken::read).is_some() {
            return DeletePolicy::Abandon;
        }
        let own = || self.live.as_ref().map(change::delete_policy);
        whole.policy.or_else(own).unwrap_or_default()
    }

    pub fn wave(&self) -> usize {
        self.live.as_ref().map_or(0, change::wave)
    }

    pub fn uid(&self) -> Option<&str> {
        self.target
            .uid
            .as_deref()
            .or_else(|| self.live.as_ref().and_then(change::uid))
    }

    /// The version that was read last: whose the object is was decided by it.
    pub fn version(&self) -> Option<&str> {
        claim::version_to_delete(self.live.as_ref()?)
    }

    pub fn report(&self) -> ResourceReport {
        ResourceReport {
            name: self.target.name.clone(),
            type_name: self.target.type_name.clone(),
            object: Some(self.target.object.clone()),
            uid: self.uid().map(str::to_owned),
            action: self.action,
            state: self.state,
            reason: self.reason.clone(),
            error: self.error.clone(),
            final_properties: None,
            hook: None,
        }
    }

    pub fn record(&self) -> Option<AppliedObject> {
        let uid = self
            .uid()
            .filter(|_| self.state != ResourceState::Gone)?
            .to_owned();
        Some(AppliedObject {
            resource: self.target.name.clone(),
            object: self.target.object.clone(),
            uid,
        })
    }
}

/// Whether objects of the kind can own others, so that they have to go first. The garbage collector handles such
/// objects one by one and slowly, so plain data is spared.
pub fn may_own(object: &ObjectRef) -> bool {
    const OWN_NOTHING: &[(&str, &[&str])] = &[
        (
            "",
            &[
                "ConfigMap",
                "Secret",
                "ServiceAccount",
                "Namespace",
                "PersistentVolume",
                "PersistentVolumeClaim",
                "LimitRange",
                "ResourceQuota",
            ],
        ),
        (
            "rbac.authorization.k8s.io",
            &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
        ),
        (
            "networking.k8s.io",
            &["Ingress", "IngressClass", "NetworkPolicy"],
        ),
        ("policy", &["PodDisruptionBudget"]),
        ("autoscaling", &["HorizontalPodAutoscaler"]),
        ("scheduling.k8s.io", &["PriorityClass"]),
        ("storage.k8s.io", &["StorageClass"]),
        ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
        (
            "admissionregistration.k8s.io",
            &[
                "MutatingWebhookConfiguration",
                "ValidatingWebhookConfiguration",
            ],
        ),
    ];
    !OWN_NOTHING
        .iter()
        .any(|(group, kinds)| *group == object.group() && kinds.contains(&object.kind.as_str()))
}
