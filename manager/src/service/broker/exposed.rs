//! What the live objects of an instance expose to its bindings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::api::cluster::{LOOKUPS, Lookup, LookupAnswer, LookupRequest};
use common::model::{AppliedObject, Deployment, DeploymentName};
use expandybird_templateobject::{EXPOSING_KINDS, Exposed, credentials};
use manager_broker::{BackendError, BrokerError, Caller};
use serde_json::{Map, Value};

use super::{BrokerDeployments, read, refused};
use crate::store::deployments;

const DEADLINE: Duration = Duration::from_secs(30);

impl BrokerDeployments {
    /// The objects are read with the rights of the broker's user.
    pub(super) async fn exposed_by(
        &self,
        name: &DeploymentName,
        caller: &Caller,
    ) -> Result<Map<String, Value>, BackendError> {
        let store = &self.writes.store;
        let found = read(deployments::get(store, name).await)?;
        let found = found.ok_or_else(|| failed(format!("deployment '{name}' does not exist")))?;
        let recorded = read(deployments::objects(store, name).await)?.recorded;
        let lookups: Vec<_> = recorded.iter().filter_map(lookup).collect();
        let (mut exposed, mut by) = (Map::new(), BTreeMap::new());
        for some in lookups.chunks(LOOKUPS) {
            for (lookup, values) in self.values(&found, some, caller).await? {
                let object = format!("{} {}", lookup.kind, lookup.name);
                for Exposed { key, value } in values {
                    if let Some(first) = by.insert(key.clone(), object.clone()) {
                        let message = format!(
                            "credential with key {key:?} already exists: {first} and {object} expose it"
                        );
                        return Err(failed(message));
                    }
                    exposed.insert(key, Value::from(value));
                }
            }
        }
        Ok(exposed)
    }

    /// What each of some objects exposes.
    async fn values(
        &self,
        deployment: &Deployment,
        lookups: &[Lookup],
        caller: &Caller,
    ) -> Result<Vec<(Lookup, Vec<Exposed>)>, BackendError> {
        let request = LookupRequest {
            lookups: lookups.to_vec(),
            on_behalf_of: self.caller(caller)?.identity,
        };
        let deployer = self.deployers.of(&deployment.cluster);
        let answers = deployer.look_up(Arc::new(request), DEADLINE).await;
        let answers = answers.map_err(|error| refused(error.into()))?;
        answers.into_iter().map(values).collect()
    }
}

/// Only objects of these kinds expose values.
fn lookup(applied: &AppliedObject) -> Option<Lookup> {
    let object = &applied.object;
    let exposes = EXPOSING_KINDS.contains(&object.kind.as_str());
    exposes.then(|| Lookup {
        api_version: object.api_version.clone(),
        kind: object.kind.clone(),
        namespace: object.namespace.clone().unwrap_or_default(),
        name: object.name.clone(),
    })
}

fn values(answer: LookupAnswer) -> Result<(Lookup, Vec<Exposed>), BackendError> {
    let LookupAnswer {
        lookup,
        found,
        error,
    } = answer;
    let object = format!("{} {}", lookup.kind, lookup.name);
    let found = match (found, error) {
        (_, Some(error)) => return Err(failed(format!("{object} cannot be read: {error}"))),
        (None, None) => return Err(failed(format!("{object} does not exist any more"))),
        (Some(found), None) => found,
    };
    let values = credentials(&found).map_err(|error| failed(format!("{object}: {error}")))?;
    Ok((lookup, values))
}

fn failed(description: String) -> BackendError {
    BackendError::Refused(BrokerError::new(500, description))
}
