//! What a broker answered, for people.

use common::client::broker::BrokerAnswer;
use serde_json::Value;

use super::offer::{list, text};
use crate::error::{CommandError, ExitCode, Failure};
use crate::terminal::table::Table;
use crate::terminal::text::line;

/// A request that a broker refused.
#[derive(Debug, thiserror::Error)]
#[error("the broker answered {status}{reason}")]
struct Refused {
    status: u16,
    reason: String,
}

impl CommandError for Refused {
    fn exit_code(&self) -> ExitCode {
        match self.status {
            404 | 410 => ExitCode::NotFound,
            409 | 422 => ExitCode::Conflict,
            502..=504 => ExitCode::Unavailable,
            _ => ExitCode::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self.status {
            401 => "give a user with --basic-file, or a token with --token-file",
            412 => "the broker speaks another version of the Open Service Broker API",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Fails if the status is another one.
pub fn expect(answer: &BrokerAnswer, statuses: &[u16]) -> Result<(), Failure> {
    if statuses.contains(&answer.status) {
        return Ok(());
    }
    let parts = ["error", "description"].map(|key| answer.text(key));
    let parts: Vec<_> = parts.into_iter().flatten().map(line).collect();
    let reason = match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(": ")),
    };
    Err(Refused {
        status: answer.status,
        reason,
    }
    .into())
}

/// The plans of all services.
pub fn services(catalog: &Value) -> String {
    let mut table = Table::new(&["SERVICE", "PLAN", "BINDABLE", "FREE", "DESCRIPTION"]);
    for service in list(catalog.get("services")) {
        for plan in list(service.get("plans")) {
            let own = plan.get("bindable").or_else(|| service.get("bindable"));
            let bindable = own.and_then(Value::as_bool).unwrap_or_default();
            let free = plan.get("free").and_then(Value::as_bool).unwrap_or(true);
            let yes = |is: bool| if is { "yes" } else { "no" };
            let description = text(plan, "description");
            let (service, plan) = (text(service, "name"), text(plan, "name"));
            table.row([service, plan, yes(bindable), yes(free), description]);
        }
    }
    table.render(None)
}

/// `instance db-1 is ready: http://db-1`
pub fn done(what: &str, id: &str, end: &str, dashboard: Option<&str>) -> String {
    let id = line(id);
    match dashboard {
        Some(url) => format!("{what} {id} {end}: {}\n", line(url)),
        None => format!("{what} {id} {end}\n"),
    }
}

/// Each credential on a line.
pub fn credentials(answer: &Value) -> String {
    let credentials = answer.get("credentials").and_then(Value::as_object);
    let mut table = Table::new(&["NAME", "VALUE"]);
    for (name, value) in credentials.into_iter().flatten() {
        match value.as_str() {
            Some(text) => table.row([name.as_str(), text]),
            None => table.row([name.as_str(), &value.to_string()]),
        }
    }
    table.render(None)
}
