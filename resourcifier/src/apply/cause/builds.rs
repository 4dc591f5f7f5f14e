//! The builds of a BuildConfig. OpenShift makes them; the deployment does not have them.

use std::time::Duration;

use serde_json::Value;

use super::related::Related;
use crate::apply::readiness::{Readiness, build_config, build_number};
use crate::kubectl::{ClusterApi, object_ref};

/// The label of a build with the name of its BuildConfig. Names that are too long for a label are cut off.
const CONFIG: &str = "openshift.io/build-config.name";
const LABEL_CHARS: usize = 63;

/// What the latest build says of its BuildConfig.
pub async fn evidence(kubectl: &dyn ClusterApi, live: &Value, within: Duration) -> Readiness {
    let object = object_ref(live);
    let related = Related {
        kubectl,
        namespace: object.namespace.as_deref(),
        within,
    };
    let label: String = object.name.chars().take(LABEL_CHARS).collect();
    let selector = format!("{CONFIG}={label}");
    let api_version = &object.api_version;
    let builds = related.list(api_version, "Build", "builds", Some(&selector));
    match builds.await {
        Ok(builds) => {
            let latest = builds.iter().max_by_key(|build| build_number(build));
            build_config(live, latest)
        }
        Err(error) => Readiness::Waiting(format!("its builds cannot be read: {error}")),
    }
}
