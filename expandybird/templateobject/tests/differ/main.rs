//! Random Templates beside OpenShift's own processor, which a small program of Go runs.
//!
//! `DM_DIFFER_SEED` chooses the Templates; `DM_DIFFER_SECONDS` makes more of them, for so long.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

mod generator;
#[path = "../../../gotemplate/tests/support/go.rs"]
mod go;
mod original;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use expandybird_templateobject::{Inputs, Seeded, Template, process};
use original::Answer;
use serde_json::{Map, Value, json};

/// Templates that are compared at once.
const BATCH: usize = 3000;

#[expect(clippy::disallowed_methods, reason = "a test has no flags of its own")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

#[test]
fn random_templates_give_what_openshift_gives() {
    let seed = setting("DM_DIFFER_SEED", 1);
    let time = Duration::from_secs(setting("DM_DIFFER_SECONDS", 0));
    println!("Templates from DM_DIFFER_SEED={seed}");
    let mut generator = generator::Generator::new(seed);
    let (started, mut differences) = (Instant::now(), 0);
    loop {
        let templates: Vec<Value> = (0..BATCH).map(|_| generator.template()).collect();
        differences += compare(&templates);
        if started.elapsed() >= time {
            break;
        }
    }
    assert_eq!(differences, 0);
}

/// How many of the Templates give something else. Each of them is printed.
fn compare(templates: &[Value]) -> usize {
    let expected = original::answers(templates);
    assert_eq!(expected.len(), templates.len());
    let failed = expected.iter().filter(|answer| fails(answer)).count();
    assert!(
        failed < templates.len() * 9 / 10,
        "too few succeed: {failed}"
    );
    let mut differences = 0;
    for (template, expected) in templates.iter().zip(expected) {
        if let Err(difference) = agrees(template, &expected) {
            differences += 1;
            println!("{template}\n  OpenShift: {expected:?}\n  ours: {difference}");
        }
    }
    differences
}

fn fails(answer: &Answer) -> bool {
    answer.died
        || answer
            .errors
            .as_ref()
            .is_some_and(|errors| !errors.is_empty())
}

/// With the values that the original has generated, all else is the same.
fn agrees(template: &Value, expected: &Answer) -> Result<(), String> {
    let errors = expected.errors.as_deref().unwrap_or_default();
    let values = match fails(expected) {
        true => Map::new(),
        false => generated(template, expected),
    };
    let inputs = Inputs {
        parameters: values,
        ..Inputs::default()
    };
    let mut seeded = Seeded::new(b"seed", "", HashMap::new());
    let found =
        Template::read(template.clone()).and_then(|read| process(read, &inputs, &mut seeded));
    match found {
        Err(faults) if fails(expected) => {
            let faults: Vec<String> = faults.0.iter().map(ToString::to_string).collect();
            let required = |texts: &[String]| -> Vec<String> {
                let texts = texts.iter().filter(|text| text.contains("Required value"));
                texts.cloned().collect()
            };
            match required(&faults) == required(errors) {
                true => Ok(()),
                false => Err(format!("{faults:?}")),
            }
        }
        Err(faults) => Err(format!("{faults}")),
        Ok(found) => {
            let objects = json!(expected.objects.as_deref().unwrap_or_default());
            let message = found.message.clone().unwrap_or_default();
            let is_same = !fails(expected)
                && same(&json!(found.objects), &objects)
                && message == expected.message;
            match is_same {
                true => Ok(()),
                false => Err(format!("{} {message:?}", json!(found.objects))),
            }
        }
    }
}

/// The values of parameters that the original has made up.
fn generated(template: &Value, expected: &Answer) -> Map<String, Value> {
    let values = expected.values.clone().unwrap_or_default();
    let parameters = template["parameters"].as_array().into_iter().flatten();
    let made = parameters.filter(|one| one["generate"].is_string());
    let named = made.filter_map(|one| one["name"].as_str());
    named
        .map(|name| {
            (
                name.to_owned(),
                values.get(name).cloned().unwrap_or_default(),
            )
        })
        .collect()
}

/// Equal, where Go writes a whole number without a fraction.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let equal = |(key, ours): (&String, &Value)| {
                theirs.get(key).is_some_and(|theirs| same(ours, theirs))
            };
            ours.len() == theirs.len() && ours.iter().all(equal)
        }
        _ => ours == theirs,
    }
}
