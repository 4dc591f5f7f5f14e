//! Asks the deployer whether the primitives can be planned, before anything is stored or applied.
//!
//! An unknown kind or a circle of references is a fault of the configuration, as one that cannot be expanded is: it leaves
//! nothing behind.

use common::api::deployer::{ApplyRequest, Policies};

use super::expand::namespace;
use crate::store::operations;
use crate::workflow::follow::left_ms;
use crate::workflow::step::{Done, Failure, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    let expansion = operations::expansion(run.store(), run.id()).await?;
    let request = ApplyRequest {
        deployment: run.deployment().clone(),
        namespace: namespace(run).await?,
        resources: expansion.expanded_config.resources,
        outputs: expansion.outputs,
        recorded: Vec::new(),
        policies: Policies::default(),
        expected: Vec::new(),
        timeout_ms: left_ms(run.deadline),
    };
    let check = || run.tools.deployer.check(&request, run.left());
    match run.tools.retry.persist(check).await {
        Ok(()) => Ok(Done::default()),
        Err(mut error) => {
            run.place(&mut error).await?;
            Err(Failure::clean(error).into())
        }
    }
}
