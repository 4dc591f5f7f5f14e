//! What happens around a deployment's objects.

use std::time::Duration;

use futures::{Stream, TryStreamExt};
use reqwest::Method;

use super::{ManagerClient, READ};
use crate::api::activity::{ClusterEvents, EventsQuery, LogItem, LogsQuery};
use crate::client::error::ClientError;
use crate::client::http::Endpoint;
use crate::client::server_sent::{self, ServerSent};
use crate::model::DeploymentName;

/// The manager sends a comment every few seconds if nothing else happens. After this long without one, the connection is
/// dead.
const IDLE: Duration = Duration::from_secs(30);
/// The head of the answer comes with the first line: the objects are looked at before.
const HEAD: Duration = Duration::from_secs(60);

impl ManagerClient {
    /// The cluster's events, the newest last.
    pub async fn cluster_events(
        &self,
        name: &DeploymentName,
        query: &EventsQuery,
    ) -> Result<ClusterEvents, ClientError> {
        self.endpoint
            .get(&["deployments", name.as_str(), "events"], query, READ)
            .await
    }

    /// The logs of containers, until they end.
    pub async fn logs(
        &self,
        name: &DeploymentName,
        query: &LogsQuery,
    ) -> Result<impl Stream<Item = Result<LogItem, ClientError>> + use<>, ClientError> {
        let path = ["deployments", name.as_str(), "logs"];
        let request = self.endpoint.with_query(Method::GET, &path, query);
        let answer = tokio::time::timeout(HEAD, self.endpoint.send(request, None))
            .await
            .map_err(|_| {
                self.endpoint
                    .broken_off(format!("no answer for {} s", HEAD.as_secs()))
            })?;
        let endpoint = self.endpoint.clone();
        let events = server_sent::events(self.endpoint.clone(), answer?, IDLE);
        Ok(events.try_filter_map(move |sent| {
            let endpoint = endpoint.clone();
            async move { read(&endpoint, sent).await }
        }))
    }
}

/// `None` for an event name of a later version.
async fn read(endpoint: &Endpoint, sent: ServerSent) -> Result<Option<LogItem>, ClientError> {
    Ok(match sent.event.as_str() {
        LogItem::LINE => Some(LogItem::Line(endpoint.document(sent.data).await?)),
        LogItem::NOTICE => Some(LogItem::Notice(endpoint.document(sent.data).await?)),
        LogItem::ERROR => Some(LogItem::Error {
            error: endpoint.document(sent.data).await?,
        }),
        _ => None,
    })
}
