//! Expansion without storing the result.

use std::sync::Arc;
use std::time::Duration;

use common::api::manager::{self, Expansion};
use common::api::plan::PlanAction;
use common::model::InputConfig;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::writes;
use crate::auth::Caller;
use crate::domain::manifest;
use crate::domain::redaction::Redaction;
use crate::error::Error;
use crate::workflow::expansion::choice::Choice;
use crate::workflow::expansion::cluster::View;
use crate::workflow::expansion::{Expansions, Subject, redacting};

pub struct Expand {
    pub expansions: Arc<Expansions>,
    pub operation_timeout: Duration,
}

impl Expand {
    pub async fn expand(
        &self,
        request: manager::Expand,
        caller: &Caller,
    ) -> Result<Expansion, Error> {
        let (subject, input) = prepared(request, Map::new(), caller)?;
        let deadline = Instant::now() + self.operation_timeout;
        let expanded = self
            .expansions
            .expand(&subject, input, &Choice::Latest, deadline)
            .await?;
        let mut expansion = expanded.expansion;
        expansion.plans.clear();
        let secrets = std::mem::take(&mut expansion.secrets);
        let redaction = redacting::prepared(secrets).await;
        Ok(redacting::redacted(&redaction, expansion, Redaction::expansion).await)
    }

    /// Which clusters the plan of the Inter-operator in a configuration selects.
    pub async fn selector(
        &self,
        request: manager::Expand,
        broker: Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, Error> {
        let (subject, input) = prepared(request, broker, caller)?;
        let deadline = Instant::now() + self.operation_timeout;
        let (choice, action) = (Choice::Latest, PlanAction::Select);
        let answers = self
            .expansions
            .ask(&subject, input, &choice, action, deadline)
            .await?;
        let mut selectors = answers.into_iter().filter_map(|answer| answer.selector);
        Ok(selectors.next().unwrap_or_default())
    }
}

/// The configuration, and what its templates see.
fn prepared(
    request: manager::Expand,
    broker: Map<String, Value>,
    caller: &Caller,
) -> Result<(Subject, InputConfig), Error> {
    let now = Timestamp::now();
    let subject = Subject {
        deployment: request.name,
        namespace: writes::namespace(request.namespace)?,
        cluster: request.cluster.unwrap_or_default(),
        manifest: manifest::name(None, now).map_err(|error| Error::invalid(&error))?,
        user: caller.user().to_owned(),
        time: now,
        values: Vec::new(),
        seed: request.seed,
        identity: caller.identity.clone(),
        broker,
        charts: Vec::new(),
        capabilities: request.capabilities.map(Arc::new),
        view: View::None,
        looker: None,
    };
    let input = InputConfig {
        content: request.content,
        imports: request.imports,
    };
    Ok((subject, input))
}
