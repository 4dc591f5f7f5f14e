//! Objects that are read because of another one.

use std::time::Duration;

use serde_json::Value;

use crate::kubectl::{ClusterApi, KubectlError, PageRequest, Query, ServedKind};

/// Objects that are looked at: what holds up so many holds up the others too.
const LOOKED_AT: usize = 100;

/// Where to look.
pub struct Related<'a> {
    pub kubectl: &'a dyn ClusterApi,
    /// `None` for kinds that belong to no namespace.
    pub namespace: Option<&'a str>,
    /// The time for each list.
    pub within: Duration,
}

impl Related<'_> {
    /// The first objects of a kind.
    pub async fn list(
        &self,
        api_version: &str,
        kind: &str,
        resource: &str,
        selector: Option<&str>,
    ) -> Result<Vec<Value>, KubectlError> {
        let kind = ServedKind {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            resource: resource.to_owned(),
            namespaced: self.namespace.is_some(),
            applicable: true,
        };
        let query = Query {
            kind: &kind,
            namespace: self.namespace,
            selector,
            metadata_only: kind.kind == "ReplicaSet",
        };
        let request = PageRequest {
            limit: LOOKED_AT,
            after: None,
        };
        Ok(self.kubectl.list(query, request, self.within).await?.items)
    }
}
