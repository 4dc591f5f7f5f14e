//! Stores the empty manifest. A deployment is updated to it before it is removed.

use super::store;
use crate::store::Changes;
use crate::workflow::step::{Done, Run, StepError};

pub async fn run(run: &Run<'_>) -> Result<Done, StepError> {
    store::write(run, Changes::default()).await
}
