//! Which requests may be sent to a second manager after the first one gave no answer.

use reqwest::Method;

/// The header that makes a write of a deployment repeatable.
pub const KEY: &str = "idempotency-key";

/// The rule of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeatable {
    /// Reads, and all writes of deployments: these have an `Idempotency-Key`, or receive one here.
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
                matches!(*method, Method::GET | Method::HEAD) || is_of_deployments(path)
            }
        }
    }

    /// Whether a request without an `Idempotency-Key` receives one.
    pub fn needs_key(self, method: &Method, path: &str) -> bool {
        self == Self::DeploymentsApi
            && !matches!(*method, Method::GET | Method::HEAD)
            && is_of_deployments(path)
    }
}

fn is_of_deployments(path: &str) -> bool {
    path == "/deployments" || path.starts_with("/deployments/")
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
            (Method::POST, "/registries", false, false),
            (Method::POST, "/admin/restore", false, false),
        ] {
            assert_eq!(api.allows(&method, path), allowed, "{method} {path}");
            assert_eq!(api.needs_key(&method, path), keyed, "{method} {path}");
        }
        let broker = Repeatable::Broker;
        assert!(broker.allows(&Method::PUT, "/v2/service_instances/a"));
        assert!(!broker.needs_key(&Method::PUT, "/v2/service_instances/a"));
    }
}
