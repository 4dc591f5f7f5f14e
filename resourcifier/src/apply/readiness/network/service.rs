//! Services: there at once, except those that wait for the address of a load balancer.

use serde_json::Value;

use crate::apply::readiness::Readiness;

pub fn readiness(live: &Value) -> Readiness {
    let has_address = live["status"]["loadBalancer"]["ingress"]
        .as_array()
        .is_some_and(|addresses| !addresses.is_empty());
    if live["spec"]["type"] == "LoadBalancer" && !has_address {
        return Readiness::waiting("its load balancer has no address yet");
    }
    Readiness::Ready
}
