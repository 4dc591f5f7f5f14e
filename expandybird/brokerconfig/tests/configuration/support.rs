//! A configuration, and runs of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use common::node::{Faults, placed};
use common::yaml::{Duplicates, Limits, read};
use expandybird_brokerconfig::{Action, Config, Inputs, Kept, ProcessError, Processed, process};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The configuration of a text, or all its faults.
pub fn config(text: &str) -> Result<Arc<Config>, Vec<String>> {
    let document = read(text, &Limits::DEFAULT, Duplicates::Error).unwrap();
    let faults = Faults::default();
    match Config::read(&document.value, &faults) {
        Some(config) => Ok(Arc::new(config)),
        None => Err(placed("broker.yaml", text, 0, faults.into_inner())),
    }
}

/// The inputs of an instance `camelot` in the namespace `shop`.
pub fn inputs(parameters: Value, kept: BTreeMap<String, Kept>) -> Inputs {
    let mut next = 7_u64;
    Inputs {
        action: Action::Instance,
        service: "web".to_owned(),
        plan: "small".to_owned(),
        instance_id: "camelot".to_owned(),
        binding_id: None,
        namespace: "shop".to_owned(),
        parameters,
        kept,
        random: Box::new(move |_, bytes| {
            for byte in bytes {
                next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (next >> 33) as u8;
            }
        }),
        time: Timestamp::from_second(1_700_000_000).unwrap(),
    }
}

/// The values of a run, as the next one gets them.
pub fn kept(processed: &Processed) -> BTreeMap<String, Kept> {
    let used = processed.used.iter();
    used.map(|one| {
        let kept = Kept {
            value: one.value.clone(),
            secret: one.secret,
        };
        (one.name.clone(), kept)
    })
    .collect()
}

/// A configuration with one template and these entries of the registry.
pub fn small(template: &Value, registry: &Value, others: &Value) -> String {
    let mut templates = vec![json!({"name": "object", "template": template})];
    templates.extend(others.as_array().cloned().unwrap_or_default());
    let plan = json!({"name": "small", "id": "p", "description": "d"});
    let service =
        json!({"name": "web", "id": "s", "description": "d", "bindable": false, "plans": [plan]});
    let instance = json!({"registry": registry, "templates": ["object"]});
    let binding =
        json!({"name": "b", "service": "web", "plan": "small", "serviceInstance": instance});
    json!({
        "apiVersion": "servicebroker.couchbase.com/v1alpha1",
        "kind": "ServiceBrokerConfig",
        "spec": {"catalog": {"services": [service]}, "templates": templates, "bindings": [binding]},
    })
    .to_string()
}

/// The value of an attribute, `null` if it is removed; or why it has none.
pub fn evaluated(expression: &str, parameters: Value, registry: &Value) -> Result<Value, String> {
    let template = json!({"value": expression});
    let config = config(&small(&template, registry, &json!([]))).map_err(|all| all.join("; "))?;
    let processed = process(&config, inputs(parameters, BTreeMap::new()));
    let processed = processed.map_err(|error: ProcessError| error.to_string())?;
    Ok(processed.objects[0].value["value"].clone())
}
