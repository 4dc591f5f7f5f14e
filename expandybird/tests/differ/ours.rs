//! What ours makes of a case.

use std::collections::BTreeMap;

use common::api::error::ErrorCode;
use common::model::{Import, Language};
use common::yaml::{Duplicates, Limits};
use expandybird::engine::jinja::{self, Jinja};
use expandybird::engine::values::Values;
use expandybird::engine::{Engine, EngineError, Instance, Output, Rendered};
use expandybird::expansion::{Input, Unwatched, expand, schema_cache};
use expandybird::input::{Bounds, Budget, Files};
use serde_json::{Map, Value, json};

use super::compare::Kind;
use super::oracle::Answer;

pub fn answer(kind: Kind, request: &Value) -> Answer {
    match kind {
        Kind::Jinja => rendered(request),
        Kind::Yaml | Kind::Json => read(kind, request),
        Kind::Schema => validated(request),
    }
}

fn rendered(request: &Value) -> Answer {
    let texts = request["files"].as_object().unwrap();
    let imports: Vec<Import> = texts
        .iter()
        .map(|(name, content)| Import {
            name: name.clone(),
            path: None,
            content: content.as_str().unwrap().to_owned(),
        })
        .collect();
    let files = Files::new(imports.clone()).unwrap();
    let template = imports
        .iter()
        .find(|import| import.name == "t.jinja")
        .unwrap();
    let mut engine = Jinja::new(&files, jinja::Limits::default(), &jinja::cache());
    let env: Map<String, Value> = request["env"].as_object().unwrap().clone();
    let instance = Instance {
        template,
        language: Language::Jinja,
        tree: Vec::new(),
        env: &env,
        properties: Some(&request["properties"]),
        values: Values::NONE,
        applied: 0,
        outputs: None,
        plan: expandybird::engine::PlanInputs::default(),
    };
    match engine.render(&instance) {
        Ok(output) => match output.result {
            Rendered::Text(text) => Answer::Ok(Value::from(text)),
            other => Answer::Ok(Value::from(format!("{other:?}"))),
        },
        // No original panics: this differs from whatever it says.
        Err(error) if error.message.contains(jinja::PANICKED) => {
            Answer::Ok(json!({ "panic": error.message }))
        }
        Err(error) if error.code == ErrorCode::TemplateFailed => Answer::Error(error.to_string()),
        // A bound that the original does not have.
        Err(error) => Answer::Skip(error.to_string()),
    }
}

fn read(kind: Kind, request: &Value) -> Answer {
    let text = request["text"].as_str().unwrap();
    let documents = match common::yaml::read_all(text, &Limits::DEFAULT, Duplicates::Warn) {
        Ok(documents) => documents,
        Err(error) => return Answer::Error(error.to_string()),
    };
    let values: Vec<Value> = documents
        .into_iter()
        .map(|document| document.value)
        .collect();
    for value in &values {
        if let Err(loss) = round_trip(value) {
            return Answer::Error(loss);
        }
    }
    match kind {
        Kind::Json if values.len() == 1 => Answer::Ok(marked(&values[0])),
        _ => Answer::Ok(Value::Array(values.iter().map(marked).collect())),
    }
}

/// What is written reads as the same.
fn round_trip(value: &Value) -> Result<(), String> {
    let text = common::yaml::write(value).map_err(|error| error.to_string())?;
    let again = common::yaml::read(&text, &Limits::DEFAULT, Duplicates::Error);
    let again = again.map_err(|error| format!("written as {text:?}: {error}"))?;
    match again.value == *value {
        true => Ok(()),
        false => Err(format!(
            "written as {text:?}, which reads as {}",
            again.value
        )),
    }
}

/// Floats by their bits, apart from integers.
fn marked(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let bits = number.as_f64().unwrap().to_bits();
            json!({ "float": format!("{bits:016x}") })
        }
        Value::Array(items) => items.iter().map(marked).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (key.clone(), marked(value)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// Keeps the properties that a template is given.
struct Given(Option<Value>);

impl Engine for Given {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        self.0 = instance.properties.cloned();
        Ok(Output::new(Rendered::Data(json!({ "resources": [] }))))
    }
}

/// The whole way of a request: a resource with these properties, whose template has this schema.
fn validated(request: &Value) -> Answer {
    let import = |name: &str, content: String| Import {
        name: name.to_owned(),
        path: None,
        content,
    };
    let schema = request["schema"].to_string();
    let files = vec![
        import("t.jinja", String::new()),
        import("t.jinja.schema", schema),
    ];
    let resource = json!({ "name": "a", "type": "t.jinja", "properties": request["properties"] });
    let content = json!({ "resources": [resource] }).to_string();
    let input = Input {
        name: "config.yaml",
        content: &content,
        files: &Files::new(files).unwrap(),
        env: &Map::new(),
        scopes: &BTreeMap::new(),
        values: &[],
        charts: &[],
        seed: "",
        plans: &common::api::plan::PlanRequest::default(),
    };
    let mut engine = Given(None);
    let budget = Budget::new(Bounds::default());
    match expand(&input, &mut engine, &schema_cache(), budget, &mut Unwatched) {
        Ok(_) => Answer::Ok(engine.0.as_ref().map(marked).unwrap_or_default()),
        Err(error) => Answer::Error(error.to_string()),
    }
}
