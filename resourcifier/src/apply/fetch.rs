//! Reads many objects at once.

use std::time::Duration;

use common::model::ObjectRef;
use futures::StreamExt;
use serde_json::Value;

use crate::kubectl::{Kubectl, KubectlError, Outcomes, PageRequest, Query};

/// Calls on their way at once: beyond this an API server gets no faster.
pub const AT_ONCE: usize = 32;
/// Objects of one page of a list.
const PAGE: usize = 500;
/// Objects of one answer: a list that is longer is of no use to a caller without pages.
const LISTED: usize = 10_000;

/// Each object, by a call of its own.
pub async fn each(
    kubectl: &dyn Kubectl,
    objects: &[ObjectRef],
    within: Duration,
) -> Outcomes<Option<Value>> {
    let calls = objects.iter().map(|object| kubectl.get(object, within));
    futures::stream::iter(calls)
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// All that a query finds, if that is not too much.
pub async fn all(
    kubectl: &dyn Kubectl,
    query: Query<'_>,
    within: Duration,
) -> Result<Vec<Value>, KubectlError> {
    let (mut found, mut next) = (Vec::new(), None);
    loop {
        let request = PageRequest {
            limit: PAGE,
            after: next.as_deref(),
        };
        let page = kubectl.list(query, request, within).await?;
        found.extend(page.items);
        next = page.next;
        if next.is_none() {
            return Ok(found);
        }
        if found.len() >= LISTED {
            return Err(KubectlError::TooMany { limit: LISTED });
        }
    }
}
