//! The API groups of OpenShift's kinds, for Templates that were written before the kinds had groups.

const TABLE: &[(&str, &[&str])] = &[
    (
        "apps",
        &[
            "DeploymentConfig",
            "DeploymentConfigRollback",
            "DeploymentLog",
            "DeploymentRequest",
        ],
    ),
    (
        "authorization",
        &[
            "ClusterRole",
            "ClusterRoleBinding",
            "LocalResourceAccessReview",
            "LocalSubjectAccessReview",
            "ResourceAccessReview",
            "Role",
            "RoleBinding",
            "RoleBindingRestriction",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
            "SubjectRulesReview",
        ],
    ),
    (
        "build",
        &[
            "BinaryBuildRequestOptions",
            "Build",
            "BuildConfig",
            "BuildLog",
            "BuildRequest",
        ],
    ),
    (
        "image",
        &[
            "Image",
            "ImageSignature",
            "ImageStream",
            "ImageStreamImage",
            "ImageStreamImport",
            "ImageStreamMapping",
            "ImageStreamTag",
        ],
    ),
    (
        "network",
        &[
            "ClusterNetwork",
            "EgressNetworkPolicy",
            "HostSubnet",
            "NetNamespace",
        ],
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
    ("project", &["Project", "ProjectRequest"]),
    (
        "quota",
        &["AppliedClusterResourceQuota", "ClusterResourceQuota"],
    ),
    ("route", &["Route"]),
    (
        "security",
        &[
            "PodSecurityPolicyReview",
            "PodSecurityPolicySelfSubjectReview",
            "PodSecurityPolicySubjectReview",
            "SecurityContextConstraints",
        ],
    ),
    ("template", &["Template"]),
    (
        "user",
        &["Group", "Identity", "User", "UserIdentityMapping"],
    ),
];

/// The version with its group, of a kind that a version without a group cannot have. A list has the group of its items.
pub fn with_group(version: &str, kind: &str) -> Option<String> {
    if version.contains('/') {
        return None;
    }
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    let (group, _) = TABLE.iter().find(|(_, kinds)| kinds.contains(&kind))?;
    Some(format!("{group}.openshift.io/{version}"))
}
