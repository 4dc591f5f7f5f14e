//! Turns the API server's answer about a missing permission into a sentence that an administrator can act on.
//!
//! The API server also answers 403 for quotas and admission. Those messages stay unchanged.

use common::api::review::ResourceAttributes;

/// The user and the missing permission.
#[derive(Debug, PartialEq)]
struct Denial {
    user: String,
    access: ResourceAttributes,
}

/// The sentence, if the message is about a missing permission.
pub fn explained(message: &str) -> Option<String> {
    let Denial { user, access } = read(message)?;
    // Since Kubernetes 1.35 also `impersonate:user-info` and `impersonate-on:user-info:get`.
    if access.verb.starts_with("impersonate") {
        let who = impersonated(message).unwrap_or_else(|| access.resource.clone());
        return Some(format!(
            "forbidden: resourcifier's own account {user} may not act for its callers: it may not impersonate {who}; an administrator has to allow it, as the ClusterRole of the installation does (resourcifier.impersonate)"
        ));
    }
    Some(format!(
        "forbidden: {user} may not {access}; {}",
        remedy(&access)
    ))
}

/// Who may not be impersonated, like `groups "system:authenticated"`.
fn impersonated(message: &str) -> Option<String> {
    let (who, _) = message.split_once(" is forbidden: ")?;
    let (kind, name) = who.split_once(" \"")?;
    let kind = kind.rsplit(' ').next()?;
    Some(format!("{kind} \"{name}"))
}

/// What an administrator can do.
pub fn remedy(access: &ResourceAttributes) -> String {
    let role = match &access.namespace {
        Some(namespace) => format!("Role in namespace {namespace}"),
        None => "ClusterRole".to_owned(),
    };
    format!("a {role} with that verb on that resource, bound to them, would allow it")
}

/// `… User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "shop"`, or `at the cluster
/// scope`.
fn read(message: &str) -> Option<Denial> {
    let (_, rest) = message.split_once("User \"")?;
    let (user, rest) = rest.split_once("\" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once("\" in API group \"")?;
    let (group, rest) = rest.split_once('"')?;
    let namespace = rest
        .strip_prefix(" in the namespace \"")
        .and_then(|rest| rest.split_once('"'));
    let (resource, subresource) = match resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (resource, None),
    };
    Some(Denial {
        user: user.to_owned(),
        access: ResourceAttributes {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource,
            namespace: namespace.map(|(namespace, _)| namespace.to_owned()),
            name: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_right_is_told_with_what_would_grant_it() {
        let cases = [
            (
                r#"deployments.apps "web" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps" in the namespace "shop""#,
                Some(
                    "forbidden: jane may not patch deployments.apps in namespace shop; a Role in namespace shop with that verb on that resource, bound to them, would allow it",
                ),
            ),
            (
                r#"pods "x" is forbidden: User "system:serviceaccount:a:b" cannot get resource "pods/log" in API group "" in the namespace "a": RBAC: role "r" not found"#,
                Some(
                    "forbidden: system:serviceaccount:a:b may not get pods/log in namespace a; a Role in namespace a with that verb on that resource, bound to them, would allow it",
                ),
            ),
            (
                r#"namespaces is forbidden: User "jane" cannot list resource "namespaces" in API group "" at the cluster scope"#,
                Some(
                    "forbidden: jane may not list namespaces; a ClusterRole with that verb on that resource, bound to them, would allow it",
                ),
            ),
            (
                r#"users "jane" is forbidden: User "dm" cannot impersonate resource "users" in API group "" at the cluster scope"#,
                Some(
                    "forbidden: resourcifier's own account dm may not act for its callers: it may not impersonate users \"jane\"; an administrator has to allow it, as the ClusterRole of the installation does (resourcifier.impersonate)",
                ),
            ),
            (
                r#"Error from server (Forbidden): groups "system:authenticated" is forbidden: User "dm" cannot impersonate resource "groups" in API group "" at the cluster scope"#,
                Some(
                    "forbidden: resourcifier's own account dm may not act for its callers: it may not impersonate groups \"system:authenticated\"; an administrator has to allow it, as the ClusterRole of the installation does (resourcifier.impersonate)",
                ),
            ),
            (r#"pods "x" is forbidden: exceeded quota: q"#, None),
        ];
        for (message, expected) in cases {
            assert_eq!(explained(message).as_deref(), expected, "{message}");
        }
    }
}
