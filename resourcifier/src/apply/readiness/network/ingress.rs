//! Ingresses: have the address of what serves them.

use serde_json::Value;

use crate::apply::readiness::Readiness;

pub fn readiness(live: &Value) -> Readiness {
    let addresses = live["status"]["loadBalancer"]["ingress"].as_array();
    match addresses.is_some_and(|addresses| !addresses.is_empty()) {
        true => Readiness::Ready,
        false => Readiness::waiting("its controller has given it no address yet"),
    }
}
