//! Applies over an object that was there before the deployment, and remembers on it what is taken.

use std::time::Duration;

use serde_json::Value;

use super::conflicts::{self, Applied, How};
use crate::apply::object::acquired::{self, Taken};
use crate::apply::object::claim;
use crate::kubectl::{ClusterApi, KubectlError, object_ref};

/// A dry run says which fields the deployment would own; what they are now goes into the annotation. The object is read whole
/// for that, so [`How::precondition`] must be of this very version.
pub async fn apply(
    kubectl: &dyn ClusterApi,
    object: &Value,
    how: How<'_>,
    within: Duration,
) -> Result<Applied, KubectlError> {
    let live = kubectl.get(&object_ref(object), within).await?;
    let Some(live) = live.filter(|live| claim::precondition(Some(live)) == how.precondition) else {
        return Err(conflicts::lost());
    };
    let trial = How {
        dry_run: true,
        ..how
    };
    let asked = acquired::carried(object, Some(&live));
    let would_be = conflicts::apply(kubectl, &asked, trial, within).await?.live;
    let taken = Taken::read(&live).unwrap_or_else(Taken::nothing);
    let taken = taken.and(&live, &would_be, how.manager);
    conflicts::apply(kubectl, &taken.write_on(asked.into_owned()), how, within).await
}
