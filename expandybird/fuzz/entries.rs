//! What strangers' bytes are fed to: by the fuzz targets beside this, and in every test run by `tests/arbitrary.rs`.
//!
//! Each entry accepts any bytes, must not panic, and must end. All use the path of a request, through [`expand`]. A
//! fake [`Engine`] returns the output that the input contains.

use std::collections::BTreeMap;

use common::model::Import;
use common::yaml::{self, Duplicates};
use expandybird::engine::{Engine, EngineError, Instance, Output, Rendered};
use expandybird::expansion::{Input, Unwatched, expand, schema_cache};
use expandybird::input::{Bounds, Budget, Files};
use serde_json::{Map, Value, json};

/// Templates that all return the same.
struct Returns(Rendered);

impl Engine for Returns {
    fn render(&mut self, _: &Instance<'_>) -> Result<Output, EngineError> {
        Ok(Output::new(self.0.clone()))
    }
}

/// Small bounds are as good as large ones, and are met sooner.
const BOUNDS: Bounds = Bounds {
    depth: 4,
    resources: 50,
    output_bytes: 1 << 20,
};

fn expanded(content: &str, files: &[(&str, &str)], returned: Rendered) {
    let import = |&(name, content): &(&str, &str)| Import {
        name: name.to_owned(),
        path: None,
        content: content.to_owned(),
    };
    let Ok(files) = Files::new(files.iter().map(import).collect()) else {
        return;
    };
    let input = Input {
        name: "config.yaml",
        content,
        files: &files,
        env: &Map::new(),
        scopes: &BTreeMap::new(),
        values: &[],
        seed: "",
        charts: &[],
        plans: &common::api::plan::PlanRequest::default(),
    };
    let budget = Budget::new(BOUNDS);
    let outcome = expand(
        &input,
        &mut Returns(returned),
        &schema_cache(),
        budget,
        &mut Unwatched,
    );
    // What is sent to the caller must be writable, whatever it is.
    let written = match outcome {
        Ok(answer) => serde_json::to_string(&answer),
        Err(error) => serde_json::to_string(&common::api::error::ErrorBody::from(error)),
    };
    assert!(written.is_ok(), "{written:?}");
}

/// Text before the first zero byte, and after it.
fn halves(data: &[u8]) -> [String; 2] {
    let mut halves = data.splitn(2, |&byte| byte == 0);
    [(); 2].map(|()| String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned())
}

/// A configuration; and, behind a zero byte, what its templates return as text.
pub fn configuration(data: &[u8]) {
    let [content, output] = halves(data);
    let files = [("t.jinja", ""), ("t.py", "")];
    expanded(&content, &files, Rendered::Text(output));
}

/// A schema; and, behind a zero byte, the properties that it is to check, as YAML.
pub fn schema(data: &[u8]) {
    let [schema, properties] = halves(data);
    let properties = match yaml::read(&properties, &yaml::Limits::DEFAULT, Duplicates::Warn) {
        Ok(document) => document.value,
        Err(_) => Value::from(properties),
    };
    let content =
        json!({"resources": [{"name": "a", "type": "t.jinja", "properties": properties}]});
    let files = [("t.jinja", ""), ("t.jinja.schema", schema.as_str())];
    let returned = Rendered::Data(json!({"resources": []}));
    expanded(&content.to_string(), &files, returned);
}

/// Text with references; and, behind a zero byte, the name of a resource that they may mean.
pub fn references(data: &[u8]) {
    let [text, name] = halves(data);
    let value = json!({"a": ["b", {"c.d": 1}], "": null});
    let outputs = json!({
        "resources": [{"name": "inner", "type": "T", "properties": {"x": text}}],
        "outputs": [{"name": "o", "value": value}, {"name": "p", "value": text}],
    });
    let content = json!({
        "resources": [
            {"name": "a", "type": "T", "properties": {"x": text, (text.as_str()): [text]}, "metadata": {"dependsOn": [name]}},
            {"name": name, "type": "T", "properties": {"x": "$(ref.a.x)"}},
            {"name": "t", "type": "t.jinja"},
        ],
        "outputs": [{"name": "o", "value": text}],
    });
    expanded(
        &content.to_string(),
        &[("t.jinja", "")],
        Rendered::Data(outputs),
    );
}
