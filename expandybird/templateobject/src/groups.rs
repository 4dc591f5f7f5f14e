//! The API groups of OpenShift's kinds, for Templates that were written before the kinds had groups.

const TABLE: &[(&str, &[&str])] = &[
    ("apps", &["DeploymentConfig"]),
    ("build", &["BuildConfig", "Build"]),
    ("image", &["ImageStream", "ImageStreamTag", "Image"]),
    ("route", &["Route"]),
    ("template", &["Template"]),
    ("project", &["Project", "ProjectRequest"]),
    (
        "authorization",
        &["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    ),
    (
        "user",
        &["User", "Group", "Identity", "UserIdentityMapping"],
    ),
    (
        "oauth",
        &[
            "OAuthAccessToken",
            "OAuthAuthorizeToken",
            "OAuthClient",
            "OAuthClientAuthorization",
        ],
    ),
    ("security", &["SecurityContextConstraints"]),
    ("quota", &["ClusterResourceQuota"]),
    (
        "network",
        &[
            "HostSubnet",
            "ClusterNetwork",
            "NetNamespace",
            "EgressNetworkPolicy",
        ],
    ),
];

/// The version with its group, of a kind that a version without a group cannot have.
pub fn with_group(version: &str, kind: &str) -> Option<String> {
    if version.contains('/') {
        return None;
    }
    let (group, _) = TABLE.iter().find(|(_, kinds)| kinds.contains(&kind))?;
    Some(format!("{group}.openshift.io/v1"))
}
