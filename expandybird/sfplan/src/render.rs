//! Runs one template of a plan.

use expandybird_chart::yaml;
use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::value::{Map as GoMap, Numbers, Value as GoValue};
use expandybird_gotemplate::{Options, Session, Set, execute};
use expandybird_sprig::made;
use serde_json::{Map, Value};

use crate::action::Action;
use crate::error::PlanError;
use crate::facts::Subject;
use crate::functions::functions;
use crate::plan::Plan;

/// Steps of one rendering. Plans of hundreds of lines need some thousand.
const STEPS: u64 = 5_000_000;
/// Bytes of what one template prints.
const OUTPUT_BYTES: usize = 4 << 20;

/// What a template prints, and what makes up values for it.
pub struct Made {
    /// What functions of random values and of time ask.
    pub host: made::Host,
}

/// What the template of an action prints. `found`: the live objects by their keys.
///
/// # Errors
/// There is no such template, or it fails.
pub fn render(
    plan: &Plan,
    action: Action,
    subject: &Subject,
    found: &Map<String, Value>,
    made: Made,
) -> Result<String, PlanError> {
    let template = plan.template(action)?;
    let name = format!("{}/{}", subject.name(), action.name());
    let mut set = Set::new(name.clone(), functions(), Options::default());
    let parsed = set.parse(&name, template.text.as_str());
    parsed.map_err(|source| PlanError::Parse {
        action,
        source: Box::new(source),
    })?;
    let limits = Limits {
        steps: STEPS,
        output_bytes: OUTPUT_BYTES,
        ..Limits::default()
    };
    let mut session = Session::new(limits, made.host);
    let data = data(plan, subject, found);
    let output = execute(&set, &mut session, &name, &data);
    let output = output.map_err(|source| PlanError::Render {
        action,
        source: Box::new(source),
    })?;
    String::from_utf8(output)
        .map_err(|_| PlanError::output(action, "it is not UTF-8; encode binary data"))
}

/// What templates see. Objects of the plan went through JSON, so that their numbers are floats; live objects keep
/// integers. A live object hides another one of its name.
fn data(plan: &Plan, subject: &Subject, found: &Map<String, Value>) -> GoValue {
    let data = GoMap::default();
    let floats = |value: &Value| GoValue::from_json(value, Numbers::Floats);
    data.insert("service", floats(&plan.service));
    data.insert("plan", floats(&plan.plan));
    data.insert("instance", floats(&subject.instance));
    if let Some(binding) = &subject.binding {
        data.insert("binding", floats(binding));
    }
    for (key, object) in found {
        data.insert(key.as_str(), GoValue::from_json(object, Numbers::Integers));
    }
    data.into()
}

/// The values of a chart, from what their template printed.
///
/// # Errors
/// It is not a map.
pub fn values(action: Action, text: &str) -> Result<Value, PlanError> {
    let failed = |reason: String| {
        PlanError::output(action, format!("failed to parse rendered values: {reason}"))
    };
    match yaml::read(text.as_bytes()) {
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(values @ Value::Object(_)) => Ok(values),
        Ok(other) => Err(failed(format!("{} is not a map", yaml::kind(&other)))),
        Err(error) => Err(failed(error.to_string())),
    }
}
