//! How a service that the manager depends on looks in the manager's own readiness.

use std::time::Duration;

use common::client::ClientError;
use common::server::health::{Check, Readiness};

/// A service that takes longer to say how it is counts as down.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Ready if it says so; else down, with what it misses itself.
pub fn check(name: &str, answer: Result<Readiness, ClientError>) -> Check {
    match answer {
        Ok(readiness) if readiness.ready => Check::ready(name, ""),
        Ok(readiness) => {
            let down = readiness.checks.iter().filter(|check| !check.ready);
            let missing: Vec<_> = down
                .map(|check| format!("{}: {}", check.name, check.message))
                .collect();
            Check::down(name, format!("it is not ready: {}", missing.join("; ")))
        }
        Err(error) => Check::down(name, error.to_string()),
    }
}
