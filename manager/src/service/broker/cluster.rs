//! The cluster of a new deployment of the service broker.

use common::api::manager;
use common::model::ClusterName;
use manager_broker::{BackendError, BrokerError, Edit, Write};
use serde_json::{Map, Value};

use super::{BrokerDeployments, read, refused};
use crate::domain::placement::{self, ResourceRequests};
use crate::store::deployments::{self, index};

impl BrokerDeployments {
    /// The cluster of a new deployment: that of its instance, or the one that its plan chooses.
    pub(super) async fn cluster(
        &self,
        edits: &[Edit],
        write: &Write,
    ) -> Result<Option<ClusterName>, BackendError> {
        let store = &self.writes.store;
        if let Some(instance) = &write.beside {
            let found = read(deployments::get(store, instance).await)?;
            return Ok(found.map(|found| found.cluster));
        }
        let Some(placement) = write.placement.as_ref().filter(|_| write.is_new) else {
            return Ok(None);
        };
        let clusters = self.clusters.all().await.map_err(refused)?;
        // Without a choice, nothing is asked.
        if clusters.len() == 1 && !placement.has_selector && placement.requests.is_none() {
            return Ok(None);
        }
        let selector = match placement.has_selector {
            true => self.selector(edits, write).await?,
            false => String::new(),
        };
        let mut rows = Vec::new();
        let each = index::each(store, |row| rows.push(row.clone()));
        read(each.await)?;
        let rows = rows.iter().map(|row| (&row.cluster, &row.labels));
        let needs = |(plan, requests): (&String, &Map<String, Value>)| {
            Some((plan.clone(), ResourceRequests::of(requests).ok()?))
        };
        let needs = placement.of_plans.iter().filter_map(needs).collect();
        let candidates = placement::candidates(clusters, rows, &needs);
        let chosen = placement::choose(&candidates, &selector, placement.requests.as_ref());
        let chosen = chosen.map_err(|error| {
            BackendError::Refused(BrokerError::unprocessable(error.to_string()))
        })?;
        tracing::info!(deployment = %write.deployment, cluster = %chosen, "the plan of {} chose cluster {chosen}", write.deployment);
        Ok(Some(chosen))
    }

    /// What the clusterSelector of the plan prints.
    async fn selector(&self, edits: &[Edit], write: &Write) -> Result<String, BackendError> {
        let environment = edits.iter().find_map(|edit| match edit {
            Edit::Instance(instance, _) => Some(instance.environment()),
            _ => None,
        });
        let request = manager::Expand {
            name: write.deployment.clone(),
            content: write.content.clone().unwrap_or_default(),
            imports: write.imports.clone(),
            namespace: Some(write.namespace.clone()),
            cluster: None,
            seed: None,
            capabilities: None,
        };
        let caller = self.caller(&write.caller)?;
        let broker = environment.unwrap_or_default();
        let selected = self.expand.selector(request, broker, &caller).await;
        selected.map_err(refused)
    }
}
