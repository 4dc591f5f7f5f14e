//! The values of the configuration's outputs, read once all is ready; what is not there yet is waited for.

use std::collections::BTreeMap;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{ObjectRef, Output};
use common::redact::REDACTED;
use serde_json::Value;

use crate::apply::context::Context;
use crate::apply::context::pace::Pace;
use crate::apply::fetch;
use crate::kubectl::Halt;
use crate::plan::{self, Plan, PlannedOutput, Reference};

/// The outputs with their values, and an error for each that got none.
pub type Outputs = (Vec<Output>, Vec<ErrorBody>);

/// What outputs refer to: the object of each resource, by its place in the plan.
pub fn targets(plan: &Plan) -> BTreeMap<usize, ObjectRef> {
    let references = plan.outputs.iter().flat_map(|output| &output.references);
    references
        .map(|reference| reference.target)
        .map(|target| (target, plan.nodes[target].object.clone()))
        .collect()
}

/// Puts the values of the live targets into the outputs.
pub async fn resolve(
    context: Context<'_>,
    targets: &BTreeMap<usize, ObjectRef>,
    outputs: &[PlannedOutput],
) -> Result<Outputs, Halt> {
    let (mut lives, mut pace) = (BTreeMap::new(), Pace::new());
    let secrets = context.events.secrets();
    loop {
        context.gate.check()?;
        let trouble = look(context, targets, &mut lives).await;
        for reference in outputs.iter().flat_map(|output| &output.references) {
            if let Some(live) = lives.get(&reference.target) {
                secrets.learn(reference, live);
            }
        }
        let (known, missing) = substituted(outputs, &lives, trouble.as_deref());
        if missing.is_empty() || context.deadline.is_over() {
            return Ok((known, missing));
        }
        pace.rest(context.deadline).await;
    }
}

/// Reads the targets. A failed read is reported, and may succeed the next time.
async fn look(
    context: Context<'_>,
    targets: &BTreeMap<usize, ObjectRef>,
    lives: &mut BTreeMap<usize, Value>,
) -> Option<String> {
    let objects: Vec<ObjectRef> = targets.values().cloned().collect();
    let outcomes = fetch::each(context.kubectl, &objects, context.deadline.call()).await;
    let mut trouble = None;
    for (&index, outcome) in targets.keys().zip(outcomes) {
        match outcome {
            Ok(live) => lives.extend(live.map(|live| (index, live))),
            Err(error) => trouble = Some(error.to_string()),
        }
    }
    trouble
}

fn substituted(
    outputs: &[PlannedOutput],
    lives: &BTreeMap<usize, Value>,
    trouble: Option<&str>,
) -> Outputs {
    let value_of = |reference: &Reference| reference.path.find(lives.get(&reference.target)?);
    let (mut known, mut missing) = (Vec::new(), Vec::new());
    for output in outputs {
        let unknown = output
            .references
            .iter()
            .find(|reference| value_of(reference).is_none());
        if let Some(reference) = unknown {
            missing.push(without_value(output, reference, trouble));
            continue;
        }
        let lookup = |text: &str| {
            let mut references = output.references.iter();
            let reference = references.find(|reference| reference.text == text)?;
            match reference.is_secret {
                true => Some(Value::from(REDACTED)),
                false => value_of(reference).cloned(),
            }
        };
        known.push(Output {
            name: output.name.clone(),
            value: plan::substitute(&output.value, &lookup),
        });
    }
    (known, missing)
}

fn without_value(
    output: &PlannedOutput,
    reference: &Reference,
    trouble: Option<&str>,
) -> ErrorBody {
    let trouble = trouble.map(|text| format!(": {text}")).unwrap_or_default();
    let message = format!(
        "output {}: {} has no value in time{trouble}",
        output.name, reference.text
    );
    ErrorBody::new(ErrorCode::Timeout, message)
}
