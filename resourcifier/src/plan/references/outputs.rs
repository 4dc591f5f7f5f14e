//! The outputs of the configuration. Their references are checked with those of the resources.

use common::model::Output;
use serde_json::Value;

use super::{Names, Reference};
use crate::plan::Desired;
use crate::plan::error::Fault;

/// An output with valid references.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedOutput {
    pub name: String,
    /// Contains unreplaced references.
    pub value: Value,
    pub references: Vec<Reference>,
}

pub fn planned(desired: Desired<'_>) -> Vec<Result<PlannedOutput, Fault>> {
    let names = Names::new(desired.resources.iter().map(|one| one.name.as_str()));
    let outputs = desired.outputs.iter();
    outputs.map(|output| check(output, &names)).collect()
}

fn check(output: &Output, names: &Names<'_>) -> Result<PlannedOutput, Fault> {
    let references = super::collect(&output.value, names).map_err(|error| Fault::Output {
        output: output.name.to_string(),
        error,
    })?;
    Ok(PlannedOutput {
        name: output.name.clone(),
        value: output.value.clone(),
        references,
    })
}
