//! Whether the caller may do what is about to be done, asked before anything is: by access reviews in the caller's own name.
//!
//! It is asked for all objects of a kind and namespace at once, and by name only where that is denied, for a role may be for
//! some names. The reviews decide nothing: the API server does, at each request. So where they cannot be had, or a kind is
//! not served yet, or the plan itself grants rights on its way, nothing is said beforehand.

use std::collections::BTreeMap;

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::api::review::ResourceAttributes;
use common::model::{ObjectRef, ResourceName};
use futures::StreamExt;

use crate::apply::context::Context;
use crate::apply::fetch::AT_ONCE;
use crate::kubectl::{KubectlError, remedy};

/// Permissions and resources that a sentence names.
const REPORTED: usize = 5;

/// What is asked of an object: the verbs that roles name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Get,
    Create,
    Patch,
    Delete,
}

impl Verb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// One thing that is about to be done.
#[derive(Debug, Clone)]
pub struct Need {
    pub resource: ResourceName,
    pub object: ObjectRef,
    pub verb: Verb,
}

impl Need {
    /// One for each verb.
    pub fn all(resource: &ResourceName, object: &ObjectRef, verbs: &[Verb]) -> Vec<Self> {
        let need = |verb: &Verb| Self {
            resource: resource.clone(),
            object: object.clone(),
            verb: *verb,
        };
        verbs.iter().map(need).collect()
    }
}

/// What is lacking for each need, in their order; of all the kind, where that is denied for every object of it.
pub async fn lacking(
    context: Context<'_>,
    needs: &[Need],
) -> Result<Vec<Option<ResourceAttributes>>, KubectlError> {
    let mut groups: BTreeMap<ResourceAttributes, Vec<usize>> = BTreeMap::new();
    for (place, need) in needs.iter().enumerate() {
        if let Some(access) = of_kind(context, need) {
            groups.entry(access).or_default().push(place);
        }
    }
    let kinds: Vec<ResourceAttributes> = groups.keys().cloned().collect();
    let denied = denials(context, &kinds).await?;
    let mut lacking: Vec<Option<ResourceAttributes>> = needs.iter().map(|_| None).collect();
    for ((kind, places), is_denied) in groups.into_iter().zip(denied) {
        if !is_denied {
            continue;
        }
        let named = |&place: &usize| ResourceAttributes {
            name: Some(needs[place].object.name.clone()),
            ..kind.clone()
        };
        let named: Vec<ResourceAttributes> = places.iter().map(named).collect();
        let denied = denials(context, &named).await?;
        let is_whole = denied.iter().all(|&is_denied| is_denied);
        for ((place, named), is_denied) in places.into_iter().zip(named).zip(denied) {
            let access = if is_whole { kind.clone() } else { named };
            lacking[place] = is_denied.then_some(access);
        }
    }
    Ok(lacking)
}

/// The access to all objects of its kind beside it.
fn of_kind(context: Context<'_>, need: &Need) -> Option<ResourceAttributes> {
    let kind = context.catalog.current(&need.object)?;
    Some(ResourceAttributes {
        verb: need.verb.as_str().to_owned(),
        group: need.object.group().to_owned(),
        resource: kind.resource.clone(),
        subresource: None,
        namespace: need.object.namespace.clone().filter(|_| kind.namespaced),
        name: None,
    })
}

/// Which are denied. A cluster that does not answer such questions denies nothing here.
async fn denials(
    context: Context<'_>,
    accesses: &[ResourceAttributes],
) -> Result<Vec<bool>, KubectlError> {
    let calls = accesses.iter().map(|access| {
        let within = context.deadline.call();
        context.kubectl.may(access, within)
    });
    let mut verdicts = futures::stream::iter(calls).buffered(AT_ONCE);
    let mut denied = Vec::with_capacity(accesses.len());
    while let Some(verdict) = verdicts.next().await {
        denied.push(match verdict {
            Ok(verdict) => !verdict.allowed,
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => {
                tracing::warn!(%error, "the caller's permissions cannot be checked before the change");
                false
            }
        });
    }
    Ok(denied)
}

/// The bindings that a plan makes: on its way it may grant rights by them.
#[derive(Debug, Clone, Default)]
pub struct Grants(Vec<ObjectRef>);

impl Grants {
    pub fn of<'o>(objects: impl Iterator<Item = &'o ObjectRef>) -> Self {
        let is_binding = |object: &&ObjectRef| {
            object.group() == "rbac.authorization.k8s.io"
                && matches!(object.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
        };
        Self(objects.filter(is_binding).cloned().collect())
    }

    /// Whether one of them may grant rights on the object.
    pub fn may_reach(&self, object: &ObjectRef) -> bool {
        self.0.iter().any(|binding| {
            let reaches = binding.namespace.is_none() || binding.namespace == object.namespace;
            reaches && !binding.is_same_object(object)
        })
    }
}

/// Who it is that lacks something.
pub fn who(context: Context<'_>) -> String {
    match context.kubectl.caller() {
        Some(identity) => identity.to_string(),
        None => "resourcifier's own account".to_owned(),
    }
}

/// Everything that is lacking, one error for each permission, with the resources that need it.
pub fn faults(
    context: Context<'_>,
    needs: &[Need],
    lacking: &[Option<ResourceAttributes>],
) -> Vec<ErrorBody> {
    let mut resources: BTreeMap<&ResourceAttributes, Vec<&ResourceName>> = BTreeMap::new();
    for (need, access) in needs.iter().zip(lacking) {
        if let Some(access) = access {
            resources.entry(access).or_default().push(&need.resource);
        }
    }
    let who = who(context);
    let fault = |(access, resources): (&ResourceAttributes, Vec<&ResourceName>)| {
        let named: Vec<&str> = resources
            .iter()
            .take(REPORTED)
            .map(|name| name.as_str())
            .collect();
        let more = match resources.len().checked_sub(REPORTED) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        let message = format!(
            "{who} may not {access}, for {}{more}; {}",
            named.join(", "),
            remedy(access)
        );
        ErrorBody::new(ErrorCode::Forbidden, message).at(Location {
            resource: named.first().map(|&name| name.to_owned()),
            ..Location::default()
        })
    };
    resources.into_iter().map(fault).collect()
}

/// The whole refusal: nothing was touched, and all that is lacking.
pub fn refusal(
    context: Context<'_>,
    lacking: &[Option<ResourceAttributes>],
    faults: Vec<ErrorBody>,
) -> ErrorBody {
    let mut accesses: Vec<&ResourceAttributes> = lacking.iter().flatten().collect();
    accesses.sort();
    accesses.dedup();
    let reported: Vec<String> = accesses
        .iter()
        .take(REPORTED)
        .map(ToString::to_string)
        .collect();
    let more = if accesses.len() > REPORTED {
        "; …"
    } else {
        ""
    };
    let message = format!(
        "nothing was touched, because {} may not do all that is needed: {}{more}",
        who(context),
        reported.join("; ")
    );
    ErrorBody::new(ErrorCode::PermissionsMissing, message).caused_by(faults)
}

/// Refuses, if the caller may not do all of it.
pub async fn check(context: Context<'_>, needs: &[Need]) -> Result<(), ErrorBody> {
    let lacking = lacking(context, needs).await?;
    match faults(context, needs, &lacking) {
        faults if faults.is_empty() => Ok(()),
        faults => Err(refusal(context, &lacking, faults)),
    }
}
