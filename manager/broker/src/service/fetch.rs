//! `GET /v2/service_instances/I`, and the same of a binding.

use serde_json::{Map, Value, json};

use super::instances::update::unknown_instance;
use super::{Answer, Broker};
use crate::error::BrokerError;
use crate::record::{DASHBOARD_URL, InstancePhase};

impl Broker {
    /// The instance with its present plan and parameters, without secret ones.
    pub async fn fetch_instance(&self, id: &str) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        let found = self.backend.instance(id).await?;
        let record = found.ok_or_else(unknown_instance)?.record;
        let current = &record.current;
        let service = catalog.service(&current.service_id);
        if !service.is_some_and(|service| service.instances_retrievable) {
            let message = "Service Instances of this service cannot be fetched";
            return Err(BrokerError::missing(message));
        }
        match record.phase() {
            InstancePhase::Ready | InstancePhase::DeleteFailed => {}
            InstancePhase::Updating | InstancePhase::Deleting => {
                return Err(BrokerError::concurrency());
            }
            InstancePhase::Creating | InstancePhase::Failed | InstancePhase::Gone => {
                return Err(unknown_instance());
            }
        }
        let plan = catalog.plan(&current.service_id, &current.plan_id);
        let schema = plan.and_then(|(_, plan)| plan.schemas.create.as_ref());
        let parameters = Value::Object(current.parameters.clone());
        let parameters = schema.map_or_else(
            || parameters.clone(),
            |schema| schema.without_secrets(&parameters),
        );
        let mut body = Map::new();
        body.insert("service_id".to_owned(), json!(current.service_id));
        body.insert("plan_id".to_owned(), json!(current.plan_id));
        body.insert("parameters".to_owned(), parameters);
        if let Some(url) = &record.dashboard_url {
            body.insert(DASHBOARD_URL.to_owned(), json!(url));
        }
        if let Some(version) = &current.maintenance_version {
            body.insert("maintenance_info".to_owned(), json!({"version": version}));
        }
        Ok(Answer::new(200, Value::Object(body)))
    }

    /// The binding with its credentials and parameters.
    pub async fn fetch_binding(&self, instance: &str, id: &str) -> Result<Answer, BrokerError> {
        let catalog = self.catalog()?;
        let unknown = || BrokerError::missing("there is no such Service Binding");
        let found = self.backend.binding(instance, id).await?;
        let record = found.ok_or_else(unknown)?.record;
        let service = catalog.service(&record.target.service_id);
        if !service.is_some_and(|service| service.bindings_retrievable) {
            let message = "Service Bindings of this service cannot be fetched";
            return Err(BrokerError::missing(message));
        }
        if record.phase() != InstancePhase::Ready {
            return Err(unknown());
        }
        let mut body = record.answer;
        let parameters = Value::Object(record.target.parameters);
        body.insert("parameters".to_owned(), parameters);
        Ok(Answer::new(200, Value::Object(body)))
    }
}
