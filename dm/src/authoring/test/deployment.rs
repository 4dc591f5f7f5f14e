//! `dm test --live NAME`: runs the test hooks of a deployment's charts.

use common::model::DeploymentName;

use crate::client::operation::write::{Subject, query, write};
use crate::client::session::Session;
use crate::error::{Failure, Sources};

pub async fn run(session: &mut Session<'_, '_>, name: DeploymentName) -> Result<(), Failure> {
    let subject = Subject::new(format!("testing {name}"), Sources::default());
    let (query, client) = (query(session), session.client.clone());
    let start = |write| client.test_async(&name, write);
    write(session, subject, query, false, start).await
}
