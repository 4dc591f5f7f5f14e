//! What Jinja2 3.1 prints, ours prints too; `tests/jinja/facts.py` asked it.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use common::model::{Import, Language};
use expandybird::engine::jinja::{self, Jinja};
use expandybird::engine::values::Values;
use expandybird::engine::{Engine as _, Instance, Rendered};
use expandybird::input::Files;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Facts {
    properties: Value,
    env: Map<String, Value>,
    files: Map<String, Value>,
    facts: Vec<Fact>,
}

#[derive(Deserialize)]
struct Fact {
    template: String,
    /// None: an error.
    prints: Option<String>,
}

/// Where ours is known to differ; each is explained in COMPATIBILITY.md.
const DIFFERENT: &str = include_str!("jinja/different.txt");

fn rendered(facts: &Facts, template: &str) -> Result<String, String> {
    let import = |name: &str, content: &str| Import {
        name: name.to_owned(),
        path: None,
        content: content.to_owned(),
    };
    let mut imports: Vec<_> = facts
        .files
        .iter()
        .map(|(name, content)| import(name, content.as_str().unwrap()))
        .collect();
    let template = import("t.jinja", template);
    imports.push(template.clone());
    let files = Files::new(imports).unwrap();
    let mut engine = Jinja::new(&files, jinja::Limits::default(), &jinja::cache());
    let instance = Instance {
        template: &template,
        language: Language::Jinja,
        tree: Vec::new(),
        env: &facts.env,
        properties: Some(&facts.properties),
        values: Values::NONE,
        applied: 0,
        outputs: None,
        plan: expandybird::engine::PlanInputs::default(),
    };
    match engine
        .render(&instance)
        .map_err(|error| error.to_string())?
        .result
    {
        Rendered::Text(text) => Ok(text),
        Rendered::Data(value) => Ok(value.to_string()),
        Rendered::Objects(objects) => Ok(format!("{objects:?}")),
        Rendered::Placed(objects) => Ok(format!("{objects:?}")),
    }
}

#[test]
fn templates_print_what_jinja2_prints() {
    let facts: Facts = serde_json::from_str(include_str!("jinja/facts.json")).unwrap();
    let different: Vec<&str> = DIFFERENT.lines().collect();
    let mut failures = Vec::new();
    for fact in &facts.facts {
        let found = rendered(&facts, &fact.template);
        let is_same = match (&found, &fact.prints) {
            (Ok(found), Some(expected)) => found == expected,
            (Err(_), None) => true,
            (Ok(_), None) | (Err(_), Some(_)) => false,
        };
        let is_listed = different.contains(&fact.template.escape_default().to_string().as_str());
        if is_same == is_listed {
            failures.push(format!(
                "{}\n     Jinja2: {:?}\n     ours:   {found:?}",
                fact.template.escape_default(),
                fact.prints
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
