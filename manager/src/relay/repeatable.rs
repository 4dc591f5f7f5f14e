//! Which requests may be sent to a second manager after the first one gave no answer.

use reqwest::Method;

/// The header that makes a write repeatable.
pub const KEY: &str = "idempotency-key";

const NAMESPACES: [&str; 2] = [
    "/api/v1/namespaces/",
    "/apis/template.openshift.io/v1/namespaces/",
];

/// The rule of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeatable {
    /// Reads, questions that are asked by `POST`, and the writes whose answers are recorded with the change: these have an
    /// `Idempotency-Key`, or receive one here. Other writes are not: a second one may find what the first one did, and say
    /// something else, or replace what somebody wrote in between.
    DeploymentsApi,
    /// All: platforms repeat requests to a service broker by its specification.
    Broker,
}

impl Repeatable {
    /// Whether the request may be sent twice, if it has an `Idempotency-Key`.
    pub fn allows(self, method: &Method, path: &str) -> bool {
        match self {
            Self::Broker => true,
            Self::DeploymentsApi => {
                matches!(*method, Method::GET | Method::HEAD)
                    || is_recorded(path)
                    || (*method == Method::POST && is_question(path))
            }
        }
    }

    /// Whether a request without an `Idempotency-Key` receives one.
    pub fn needs_key(self, method: &Method, path: &str) -> bool {
        self == Self::DeploymentsApi
            && !matches!(*method, Method::GET | Method::HEAD)
            && is_recorded(path)
            && !is_question(path)
    }
}

/// Whether a write there is done once for a key, also if the manager stops in the middle.
fn is_recorded(path: &str) -> bool {
    let path = within_namespace(path).unwrap_or(path);
    matches!(
        path.split('/').nth(1),
        Some("deployments" | "templates" | "registries" | "credentials" | "clusters")
    )
}

/// Whether a `POST` there changes nothing that is stored.
fn is_question(path: &str) -> bool {
    let path = within_namespace(path).unwrap_or(path);
    let parts: Vec<_> = path.split('/').skip(1).collect();
    matches!(
        parts[..],
        ["expand" | "export" | "processedtemplates"]
            | ["templates", "whatif"]
            | ["templates", _, "processed"]
            | ["registries", _, "refresh"]
    )
}

/// The path behind the namespace, where it is one of Kubernetes' and OpenShift's.
fn within_namespace(path: &str) -> Option<&str> {
    let rest = NAMESPACES
        .iter()
        .find_map(|before| path.strip_prefix(before))?;
    rest.find('/').and_then(|end| rest.get(end..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_sent_twice_only_where_a_key_makes_it_one_operation() {
        let api = Repeatable::DeploymentsApi;
        for (method, path, allowed, keyed) in [
            (Method::GET, "/types", true, false),
            (Method::HEAD, "/registries/a", true, false),
            (Method::POST, "/deployments", true, true),
            (Method::DELETE, "/deployments/a", true, true),
            (Method::POST, "/deployments/a/rollback", true, true),
            (Method::POST, "/deploymentsx", false, false),
            (Method::POST, "/registries/a", true, true),
            (Method::DELETE, "/credentials/a", true, true),
            (Method::PUT, "/clusters/a", true, true),
            (Method::POST, "/operations/a/cancel", false, false),
            (Method::POST, "/admin/restore", false, false),
            (Method::POST, "/expand", true, false),
            (Method::PUT, "/expand", false, false),
            (Method::POST, "/export", true, false),
            (Method::POST, "/templates", true, true),
            (Method::POST, "/templates/whatif", true, false),
            (Method::PUT, "/templates/web", true, true),
            (Method::DELETE, "/templates/web", true, true),
            (Method::POST, "/templates/web/processed", true, false),
            (Method::POST, "/processedtemplates", true, false),
            (
                Method::POST,
                "/api/v1/namespaces/a/processedtemplates",
                true,
                false,
            ),
            (Method::POST, "/api/v1/namespaces/a/templates", true, true),
            (
                Method::POST,
                "/apis/template.openshift.io/v1/namespaces/a/templates/web/processed",
                true,
                false,
            ),
            (Method::POST, "/registries/a/refresh", true, false),
            (Method::POST, "/registries/refresh", true, true),
        ] {
            assert_eq!(api.allows(&method, path), allowed, "{method} {path}");
            assert_eq!(api.needs_key(&method, path), keyed, "{method} {path}");
        }
        let broker = Repeatable::Broker;
        assert!(broker.allows(&Method::PUT, "/v2/service_instances/a"));
        assert!(!broker.needs_key(&Method::PUT, "/v2/service_instances/a"));
    }
}
