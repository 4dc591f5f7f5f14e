//! The protocol from outside, each test by the numbers of its checks in the conformance list.

mod binding;
mod deprovision;
mod fetch;
mod kinds;
mod numbers;
mod poll;
mod provision;
mod random;
mod transport;
mod unbind;
mod update;

use actix_web::http::Method;
use serde_json::{Value, json};

use crate::options::BrokerOptions;
use crate::testing::{Platform, Reply, bind, provision};

const I: &str = "/v2/service_instances/i";
const B: &str = "/v2/service_instances/i/service_bindings/b";

/// A path of the instance that accepts asynchronous operations.
fn incomplete(path: &str) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}accepts_incomplete=true")
}

/// A path with the ids in its query.
fn with_ids(path: &str, plan: &str) -> String {
    format!("{path}?service_id=s&plan_id={plan}")
}

/// The body with another value.
fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

/// The body without a field.
fn without(mut body: Value, key: &str) -> Value {
    body.as_object_mut().unwrap().shift_remove(key);
    body
}
