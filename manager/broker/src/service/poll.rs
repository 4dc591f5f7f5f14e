//! `GET …/last_operation` of instances and bindings.

use serde_json::{Map, Value, json};

use super::fields::Ids;
use super::{Answer, Broker};
use crate::error::BrokerError;
use crate::record::{InstancePhase, Operation, Progress};

/// What a poll may say beside the id.
#[derive(Debug, Clone, Default)]
pub struct Poll {
    pub ids: Ids,
    /// The operation that the platform means.
    pub operation: Option<String>,
}

impl Broker {
    pub async fn poll_instance(&self, id: &str, poll: &Poll) -> Result<Answer, BrokerError> {
        let found = self.backend.instance(id).await?;
        let unknown = || BrokerError::missing("there is no such Service Instance");
        let record = found.ok_or_else(unknown)?.record;
        if record.phase() == InstancePhase::Gone {
            return Ok(Answer::gone());
        }
        // While the plan changes, platforms name the old one.
        let current = &record.current;
        let mut plans = vec![current.plan_id.as_str()];
        plans.extend(record.previous_plan.as_deref());
        poll.ids.check(&current.service_id, &plans)?;
        poll.check(&record.operation)?;
        Ok(state(&record.operation))
    }

    pub async fn poll_binding(
        &self,
        instance: &str,
        id: &str,
        poll: &Poll,
    ) -> Result<Answer, BrokerError> {
        let found = self.backend.binding(instance, id).await?;
        let unknown = || BrokerError::missing("there is no such Service Binding");
        let record = found.ok_or_else(unknown)?.record;
        if record.phase() == InstancePhase::Gone {
            return Ok(Answer::gone());
        }
        let target = &record.target;
        poll.ids.check(&target.service_id, &[&target.plan_id])?;
        poll.check(&record.operation)?;
        let mut answer = state(&record.operation);
        if let Value::Object(body) = &mut answer.body {
            body.shift_remove("instance_usable");
            body.shift_remove("update_repeatable");
        }
        Ok(answer)
    }
}

impl Poll {
    fn check(&self, latest: &Operation) -> Result<(), BrokerError> {
        match &self.operation {
            Some(asked) if asked != latest.id.as_str() => {
                Err(BrokerError::invalid("operation is not the latest one"))
            }
            _ => Ok(()),
        }
    }
}

fn state(operation: &Operation) -> Answer {
    let mut body = Map::new();
    let state = match &operation.progress {
        Progress::InProgress => "in progress",
        Progress::Succeeded => "succeeded",
        Progress::Failed { description, .. } => {
            body.insert("description".to_owned(), json!(description));
            if let Some(usable) = operation.instance_usable() {
                body.insert("instance_usable".to_owned(), json!(usable));
            }
            if let Some(repeatable) = operation.update_repeatable() {
                body.insert("update_repeatable".to_owned(), json!(repeatable));
            }
            "failed"
        }
    };
    body.insert("state".to_owned(), json!(state));
    Answer {
        is_unfinished: operation.is_running(),
        ..Answer::new(200, Value::Object(body))
    }
}
