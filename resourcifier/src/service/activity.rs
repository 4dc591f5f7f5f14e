//! The cluster's events, and the logs of containers, for callers.

use common::api::activity::{ClusterEvents, EventsRequest, LogItem, LogsRequest};
use common::api::error::ErrorBody;
use tokio::sync::mpsc::Sender;

use super::Deployer;
use crate::activity;

impl Deployer {
    /// The newest events about the objects.
    pub async fn events(&self, request: EventsRequest) -> Result<ClusterEvents, ErrorBody> {
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        Ok(activity::events(&*kubectl, &request.objects, request.limit).await?)
    }

    /// Sends the logs until they end, or until nobody reads them any more.
    pub async fn logs(&self, request: LogsRequest, sink: Sender<LogItem>) -> Result<(), ErrorBody> {
        let kubectl = self.kubectl(request.on_behalf_of.as_ref())?;
        Ok(activity::logs::logs(kubectl, request, sink).await?)
    }
}
