//! Kinds that only OpenShift has, and what other clusters have in their place.

use super::Wanted;

/// The end of the API groups of OpenShift.
const DOMAIN: &str = ".openshift.io";

/// What a cluster without OpenShift's kinds has instead.
const INSTEAD: [(&str, &str); 6] = [
    ("DeploymentConfig", "use apps/v1/Deployment instead"),
    (
        "Route",
        "use networking.k8s.io/v1/Ingress instead, or a Service of type LoadBalancer",
    ),
    (
        "ImageStream",
        "leave it out, and write the image with its registry into the containers",
    ),
    (
        "ImageStreamTag",
        "leave it out, and write the image with its registry into the containers",
    ),
    (
        "BuildConfig",
        "build the image elsewhere, and write it with its registry into the containers",
    ),
    (
        "Build",
        "build the image elsewhere, and write it with its registry into the containers",
    ),
];

/// What to use instead of a kind, if it is one of OpenShift's. Without a group, its name decides.
pub fn instead(wanted: &Wanted) -> Option<&'static str> {
    let group = wanted
        .api_version
        .as_deref()
        .and_then(|text| text.split_once('/'));
    let is_theirs = group.is_none_or(|(group, _)| group.ends_with(DOMAIN));
    let mut known = INSTEAD.iter();
    let known = known.find(|(kind, _)| is_theirs && *kind == wanted.kind);
    match (known, group) {
        (Some((_, instead)), _) => Some(instead),
        (None, Some((group, _))) if group.ends_with(DOMAIN) => {
            Some("deploy to OpenShift, or leave it out")
        }
        _ => None,
    }
}
