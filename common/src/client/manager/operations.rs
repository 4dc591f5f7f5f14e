//! The operations that writes start.

use std::time::Duration;

use futures::{Stream, TryStreamExt};
use reqwest::Method;
use serde::Serialize;

use super::{Answer, ManagerClient, NOTHING, READ, Write};
use crate::api::manager::OperationEvent;
use crate::api::page::{Page, PageQuery};
use crate::client::error::ClientError;
use crate::client::http::Endpoint;
use crate::client::server_sent::{self, ServerSent};
use crate::model::{DeploymentName, Operation, OperationId};

/// The manager sends a comment every 10 s if nothing else happens. After this long without one, the connection is dead.
const IDLE: Duration = Duration::from_secs(30);

impl ManagerClient {
    pub async fn operations(
        &self,
        deployment: Option<&DeploymentName>,
        page: &PageQuery,
    ) -> Result<Page<Operation>, ClientError> {
        #[derive(Serialize)]
        struct Query<'a> {
            #[serde(flatten)]
            page: &'a PageQuery,
            #[serde(skip_serializing_if = "Option::is_none")]
            deployment: Option<&'a DeploymentName>,
        }
        self.endpoint
            .get(&["operations"], &Query { page, deployment }, READ)
            .await
    }

    pub async fn operation(&self, id: &OperationId) -> Result<Operation, ClientError> {
        self.read(&["operations", id.as_str()]).await
    }

    /// [`Self::stop`] by the id of the operation.
    pub async fn cancel(&self, id: &OperationId) -> Result<Operation, ClientError> {
        let path = ["operations", id.as_str(), "cancel"];
        let write = Write::default();
        self.write(Method::POST, &path, write, NOTHING, Answer::WhenDone)
            .await
    }

    /// The events of an operation until its end, each with its id. With `last`, only the events after that id. The
    /// stream ends early if the manager stops.
    pub async fn events(
        &self,
        id: &OperationId,
        last: Option<&str>,
    ) -> Result<
        impl Stream<Item = Result<(String, OperationEvent), ClientError>> + use<>,
        ClientError,
    > {
        let path = ["operations", id.as_str(), "events"];
        let mut request = self.endpoint.request(Method::GET, &path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = tokio::time::timeout(IDLE, self.endpoint.send(request, None))
            .await
            .map_err(|_| {
                self.endpoint
                    .broken_off(format!("no answer for {} s", IDLE.as_secs()))
            })?;
        let endpoint = self.endpoint.clone();
        let events = server_sent::events(self.endpoint.clone(), answer?, IDLE);
        Ok(events.try_filter_map(move |sent| {
            let endpoint = endpoint.clone();
            async move {
                let id = sent.id.clone();
                let event = read(&endpoint, sent).await?;
                Ok(event.map(|event| (id, event)))
            }
        }))
    }
}

/// `None` for an event name of a later version.
async fn read(
    endpoint: &Endpoint,
    sent: ServerSent,
) -> Result<Option<OperationEvent>, ClientError> {
    Ok(match sent.event.as_str() {
        OperationEvent::OPERATION => Some(OperationEvent::Operation(
            endpoint.document(sent.data).await?,
        )),
        OperationEvent::RESOURCE => Some(OperationEvent::Resource(
            endpoint.document(sent.data).await?,
        )),
        _ => None,
    })
}
