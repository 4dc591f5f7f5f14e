//! Live objects for plans of the Inter-operator: what they see, and what they change of objects that others made.
//!
//! Both are in the rights of the user, like every write.

use common::api::error::{ErrorBody, ErrorCode};
use common::api::plan::{EditRequest, Edited, LookedUp, ObjectEdit, SourcesRequest, WantedObject};
use common::model::limits::LOOKUP_OBJECTS;
use common::model::{Namespace, ObjectRef, TypeName};
use serde_json::Value;

use tokio::time::Instant;

use super::read::{check, object};
use super::{Deployer, LOOK};
use crate::kubectl::{ClusterApi, KubectlError, ObjectFault, PatchOptions, Precondition};
use crate::plan::{Catalog, Wanted, field_manager};

impl Deployer {
    /// The objects that exist and that the user may read.
    ///
    /// # Errors
    /// The cluster does not answer, or an entry cannot be an object.
    pub async fn lookup(&self, request: SourcesRequest) -> Result<LookedUp, ErrorBody> {
        let wanted = wanted(&request.objects)?;
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        let catalog = self.discovery.catalog(&wanted).await?;
        let mut answer = LookedUp::default();
        for (asked, wanted) in request.objects.iter().zip(&wanted) {
            let found = match place(asked, wanted, &catalog)? {
                Some(place) => match kubectl.get(&place, LOOK).await {
                    Err(error) if error.fault() == Some(ObjectFault::Forbidden) => {
                        answer
                            .warnings
                            .push(format!("{}: {error}", kind_and_name(asked)));
                        None
                    }
                    found => found?,
                },
                None => None,
            };
            answer.objects.push(found);
        }
        Ok(answer)
    }

    /// Changes the objects, one after the other. A repeated request changes nothing more.
    ///
    /// # Errors
    /// An object does not exist, or the cluster refuses a change. Those before it are changed.
    pub async fn edit(&self, request: EditRequest) -> Result<Edited, ErrorBody> {
        let objects: Vec<_> = request
            .edits
            .iter()
            .map(|edit| edit.object.clone())
            .collect();
        let wanted = wanted(&objects)?;
        let (gate, kubectl) = self.gated(request.on_behalf_of.as_ref(), request.fence.as_ref())?;
        let fence = request.fence.as_ref();
        let job = self.jobs.begin(&request.deployment, fence, gate.clone())?;
        // The request is the manager's sign of life: it is too short for another.
        gate.renew(Instant::now() + LOOK);
        let catalog = self.discovery.catalog(&wanted).await?;
        let manager = field_manager(&request.deployment);
        for (edit, wanted) in request.edits.iter().zip(&wanted) {
            let place = place(&edit.object, wanted, &catalog)?;
            let place = place.ok_or_else(|| unknown(&edit.object))?;
            let written = write(&*kubectl, &place, edit, &manager).await;
            let written = written.map_err(|error| refused(&edit.object, &error))?;
            written.ok_or_else(|| missing(&edit.object))?;
        }
        drop(job);
        Ok(Edited {
            edited: request.edits.len(),
        })
    }
}

async fn write(
    kubectl: &dyn ClusterApi,
    place: &ObjectRef,
    edit: &ObjectEdit,
    manager: &str,
) -> Result<Option<Value>, KubectlError> {
    let options = PatchOptions {
        manager,
        precondition: Precondition::None,
    };
    kubectl.patch(place, &edit.patch, options, LOOK).await
}

/// The kinds of the objects, in their order.
fn wanted(objects: &[WantedObject]) -> Result<Vec<Wanted>, ErrorBody> {
    if objects.len() > LOOKUP_OBJECTS {
        let message = format!("a request has at most {LOOKUP_OBJECTS} objects");
        return Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
    }
    let wanted = objects.iter().map(|one| {
        let named = TypeName::parse(format!("{}/{}", one.api_version, one.kind));
        named.map_err(|error| ErrorBody::new(ErrorCode::InvalidRequest, error.to_string()))
    });
    let wanted = wanted.map(|named| named.map(|named| Wanted::parse(named.as_str())));
    wanted.collect()
}

/// The object, unless its kind is not served.
fn place(
    asked: &WantedObject,
    wanted: &Wanted,
    catalog: &Catalog,
) -> Result<Option<ObjectRef>, ErrorBody> {
    let Ok(kind) = catalog.find(wanted) else {
        return Ok(None);
    };
    let namespace = asked.namespace.as_ref().map(Namespace::parse).transpose();
    let namespace =
        namespace.map_err(|error| ErrorBody::new(ErrorCode::InvalidRequest, error.to_string()))?;
    check(kind, Some(&asked.name), namespace.as_ref())?;
    let namespace = namespace.as_ref().map(Namespace::as_str);
    Ok(Some(object(kind, namespace, &asked.name)))
}

fn kind_and_name(object: &WantedObject) -> String {
    format!("{} {}", object.kind, object.name)
}

fn unknown(object: &WantedObject) -> ErrorBody {
    let message = format!(
        "{} cannot be changed: the cluster does not serve {}",
        kind_and_name(object),
        object.api_version
    );
    ErrorBody::new(ErrorCode::UnknownType, message)
}

fn missing(object: &WantedObject) -> ErrorBody {
    let message = format!(
        "{} cannot be changed: it does not exist",
        kind_and_name(object)
    );
    ErrorBody::new(ErrorCode::NotFound, message)
}

fn refused(object: &WantedObject, error: &KubectlError) -> ErrorBody {
    let message = format!("{} cannot be changed: {error}", kind_and_name(object));
    ErrorBody::new(error.code(), message)
}
