//! Objects of the cluster that no deployment made.

use std::sync::{Mutex, PoisonError};

use common::api::cluster::{Lookup, LookupAnswer};
use common::api::error::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::dependency::CallError;

/// None: the cluster does not answer.
#[derive(Debug)]
pub struct Live(Mutex<Option<Vec<Value>>>);

impl Default for Live {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}

impl Live {
    pub fn set(&self, objects: Option<Vec<Value>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = objects;
    }

    pub fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<LookupAnswer>, CallError> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(objects) = objects.as_ref() else {
            let message = "the cluster does not answer".to_owned();
            let body = ErrorBody::new(ErrorCode::ClusterUnavailable, message);
            return Err(CallError::Refused(Box::new(body)));
        };
        let answer = |lookup: &Lookup| LookupAnswer {
            lookup: lookup.clone(),
            found: found(objects, lookup),
            error: None,
        };
        Ok(lookups.iter().map(answer).collect())
    }
}

fn found(objects: &[Value], lookup: &Lookup) -> Option<Value> {
    let of_kind = objects.iter().filter(|one| {
        one["kind"] == lookup.kind.as_str()
            && one["metadata"]["namespace"] == lookup.namespace.as_str()
    });
    let mut of_kind = of_kind.cloned();
    match lookup.name.as_str() {
        "" => Some(json!({"items": of_kind.collect::<Vec<_>>()})),
        name => of_kind.find(|one| one["metadata"]["name"] == name),
    }
}
