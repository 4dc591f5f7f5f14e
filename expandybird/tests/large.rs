//! Input that is as large as it may be, in the shapes that made earlier work grow with the square of its size.
//!
//! At these sizes the square is billions of steps: such a test would not end. Nothing here measures time.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::collections::BTreeMap;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::ExpandResponse;
use common::model::{Import, Language};
use expandybird::engine::jinja::{self, Jinja};
use expandybird::engine::values::Values;
use expandybird::engine::{Engine, EngineError, Instance, Output, PlanInputs, Rendered};
use expandybird::expansion::{Input, Unwatched, expand, schema_cache};
use expandybird::input::{Bounds, Budget, Files};
use serde_json::{Map, Value, json};

const MANY: usize = 20_000;

/// Templates by their names, each with what it returns.
struct Returns(Vec<(&'static str, Value)>);

impl Engine for Returns {
    fn render(&mut self, instance: &Instance<'_>) -> Result<Output, EngineError> {
        let name = instance.template.name.as_str();
        let found = self.0.iter().find(|(template, _)| *template == name);
        Ok(Output::new(Rendered::Data(found.unwrap().1.clone())))
    }
}

fn expanded(
    content: &Value,
    schema: Option<Value>,
    templates: Vec<(&'static str, Value)>,
) -> Result<ExpandResponse, ErrorBody> {
    let file = |name: String, content: String| Import {
        name,
        path: None,
        content,
    };
    let files = templates
        .iter()
        .map(|(name, _)| file((*name).to_owned(), String::new()));
    let schema = schema.map(|schema| file("t.jinja.schema".to_owned(), schema.to_string()));
    let files = Files::new(files.chain(schema).collect()).unwrap();
    let input = Input {
        name: "config.yaml",
        content: &content.to_string(),
        files: &files,
        env: &Map::new(),
        scopes: &BTreeMap::new(),
        values: &[],
        charts: &[],
        seed: "",
        plans: &common::api::plan::PlanRequest::default(),
    };
    let budget = Budget::new(Bounds::default());
    let mut engine = Returns(templates);
    let outcome = expand(&input, &mut engine, &schema_cache(), budget, &mut Unwatched);
    outcome.map_err(ErrorBody::from)
}

fn with_schema(schema: Value, properties: Value) -> Result<ExpandResponse, ErrorBody> {
    let content =
        json!({"resources": [{"name": "a", "type": "t.jinja", "properties": properties}]});
    let returned = json!({"resources": []});
    expanded(&content, Some(schema), vec![("t.jinja", returned)])
}

fn with_outputs(
    outputs: Value,
    reference: &str,
    times: usize,
) -> Result<ExpandResponse, ErrorBody> {
    let content = json!({"resources": [
        {"name": "t", "type": "t.jinja"},
        {"name": "a", "type": "T", "properties": {"x": vec![reference; times]}},
    ]});
    let returned = json!({"resources": [{"name": "inner", "type": "T"}], "outputs": outputs});
    expanded(&content, None, vec![("t.jinja", returned)])
}

fn numbered(name: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{name}{number:06}"))
        .collect()
}

#[test]
fn an_enum_of_many_is_read_and_an_error_shows_the_closest_and_how_many_more() {
    let schema =
        json!({"properties": {"size": {"enum": numbered("size-", 3 * MANY)}, "n": {"enum": [1]}}});
    assert!(with_schema(schema.clone(), json!({"size": "size-059999", "n": 1.0})).is_ok());
    let error = with_schema(schema, json!({"size": "size-0012"})).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidProperties);
    let expected = r#"size: "size-0012" is not one of "size-001200", "size-001201", "size-001202""#;
    assert!(error.message.contains(expected), "{}", error.message);
    let more = "and 59990 more";
    assert!(error.message.contains(more), "{}", error.message);
}

#[test]
fn many_refusals_are_told_up_to_a_hundred_each_in_few_words() {
    let schema = json!({"properties": {"l": {"items": {"enum": numbered("x", 1_000)}}}});
    let error = with_schema(schema, json!({"l": vec!["y".repeat(1_000); 1_000]})).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidProperties);
    assert_eq!(error.causes.len(), 100);
    assert!(
        error
            .causes
            .iter()
            .all(|cause| cause.message.len() < 10_000)
    );
}

#[test]
fn defaults_that_fill_in_too_much_are_refused() {
    let schema =
        json!({"properties": {"l": {"items": {"properties": {"a": {"default": vec![0; 2_000]}}}}}});
    let empty = json!({ "l": vec![json!({}); 1_100] });
    let error = with_schema(schema, empty).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidSchema);
    assert!(error.message.contains("add more than 1000000 values"));
}

#[test]
fn many_keywords_beside_many_items_are_refused() {
    let parts: Map<String, Value> = numbered("p", 2_000)
        .into_iter()
        .map(|name| (name, json!({})))
        .collect();
    for keyword in ["properties", "dependencies"] {
        let schema = json!({"properties": {"l": {"items": {keyword: parts}}}});
        let error = with_schema(schema, json!({"l": vec![json!({}); 2_000]})).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidSchema, "{keyword}");
        assert!(error.message.contains("steps"), "{}", error.message);
    }
}

#[test]
fn many_patterns_that_mean_the_same_all_count() {
    let pattern = |count: usize| format!("a{}", "(?:)".repeat(count));
    let patterns: Map<String, Value> = (0..300)
        .map(|count| (pattern(count), json!({"type": "integer"})))
        .collect();
    let schema = json!({ "patternProperties": patterns });
    assert!(with_schema(schema.clone(), json!({"a": 1})).is_ok());
    assert!(with_schema(schema, json!({"a": "b"})).is_err());
}

#[test]
fn many_outputs_are_read_and_each_is_found() {
    let outputs: Vec<Value> = numbered("o", MANY)
        .into_iter()
        .map(|name| json!({"name": name, "value": 1}))
        .collect();
    let answer = with_outputs(json!(outputs), "$(ref.t.o019999)", MANY).unwrap();
    let properties = answer.config.resources[1].properties.clone().unwrap();
    assert_eq!(properties["x"][MANY - 1], 1);
    let error = with_outputs(json!(outputs), "$(ref.t.nope)", 1).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidReference);
    assert!(
        error.message.contains("and 19980 more"),
        "{}",
        error.message
    );
    let twice = json!([{"name": "o", "value": 1}, {"name": "o", "value": 2}]);
    let error = with_outputs(twice, "", 1).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidConfiguration);
}

#[test]
fn a_reference_of_many_parts_is_refused_by_its_length() {
    for parts in ["b.".repeat(MANY), "[0]".repeat(MANY)] {
        let reference = format!("$(ref.inner.{}c)", parts.replace("]c", "]"));
        let error = with_outputs(json!([]), &reference, 3).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidReference);
        assert!(error.message.chars().count() < 5_000);
    }
}

#[test]
fn many_references_to_one_resource_are_followed() {
    let answer = with_outputs(json!([]), "$(ref.a.metadata.name)", 1);
    // A resource that refers to itself waits for itself.
    assert_eq!(answer.unwrap_err().code, ErrorCode::InvalidReference);
    let content = json!({"resources": [
        {"name": "a", "type": "T"},
        {"name": "b", "type": "T", "properties": {"x": vec!["$(ref.a.metadata.name)"; MANY]}},
    ]});
    assert!(expanded(&content, None, Vec::new()).is_ok());
}

#[test]
fn outputs_that_double_with_every_level_are_refused() {
    let outputs: Vec<Value> = (0..40)
        .map(|level: i32| {
            let below = format!("$(ref.t.o{})", level - 1);
            let value = match level {
                0 => json!(["x"]),
                _ => json!([below, below]),
            };
            json!({"name": format!("o{level}"), "value": value})
        })
        .collect();
    // Inside of the template its own name is one outwards.
    let error = with_outputs(json!(outputs), "$(ref.t.o39)", 1).unwrap_err();
    assert_eq!(
        error.code,
        ErrorCode::TooManyReferences,
        "{}",
        error.message
    );
    assert!(error.message.contains("add more than 1000000 values"));
    let large = json!([{"name": "o", "value": "x".repeat(1_000_000)}]);
    let error = with_outputs(large, "$(ref.t.o)", 1_000).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooManyReferences);
}

#[test]
fn a_part_of_a_large_output_costs_that_part() {
    let outputs = json!([{"name": "o", "value": {"l": vec![0; 50_000], "x": "part"}}]);
    let answer = with_outputs(outputs, "$(ref.t.o.x)", MANY).unwrap();
    let properties = answer.config.resources[1].properties.clone().unwrap();
    assert_eq!(properties["x"][0], "part");
}

#[test]
fn many_resources_that_all_depend_on_all_are_refused_and_a_long_chain_is_not() {
    let names = numbered("r", 2_000);
    // Written out it would be too much text, so a template stands for all.
    let group: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "type": "T"}))
        .collect();
    let dependants: Vec<Value> = numbered("d", 2_000)
        .into_iter()
        .map(|name| json!({"name": name, "type": "T", "metadata": {"dependsOn": ["g"]}}))
        .collect();
    let group = json!({"resources": group});
    let all = [vec![json!({"name": "g", "type": "g.jinja"})], dependants].concat();
    let content = json!({ "resources": all });
    let error = expanded(&content, None, vec![("g.jinja", group)]).unwrap_err();
    assert_eq!(
        error.code,
        ErrorCode::TooManyReferences,
        "{}",
        error.message
    );

    let chain = (0..names.len()).map(|index| {
        let before: &[String] = match index {
            0 => &[],
            _ => &names[index - 1..index],
        };
        json!({"name": names[index], "type": "T", "metadata": {"dependsOn": before}})
    });
    let chain: Vec<Value> = chain.collect();
    assert!(expanded(&json!({ "resources": chain }), None, Vec::new()).is_ok());
}

#[test]
fn a_name_that_many_instances_hold_is_looked_for_nearby_first() {
    let inner = json!({"resources": [{"name": "same", "type": "T"},
        {"name": "user", "type": "T", "properties": {"x": vec!["$(ref.same.a)"; 20]}}]});
    let instances: Vec<Value> = numbered("i", 1_000)
        .into_iter()
        .map(|name| json!({"name": name, "type": "t.jinja"}))
        .collect();
    let content = json!({ "resources": instances });
    assert!(expanded(&content, None, vec![("t.jinja", inner)]).is_ok());
}

fn rendered(template: &str, limits: jinja::Limits) -> Result<Output, EngineError> {
    let template = Import {
        name: "t.jinja".to_owned(),
        path: None,
        content: template.to_owned(),
    };
    let files = Files::new(vec![template.clone()]).unwrap();
    let mut engine = Jinja::new(&files, limits, &jinja::cache());
    engine.render(&Instance {
        template: &template,
        language: Language::Jinja,
        tree: Vec::new(),
        env: &Map::new(),
        properties: None,
        values: Values::NONE,
        applied: 0,
        outputs: None,
        plan: PlanInputs::default(),
    })
}

#[test]
fn lists_within_themselves_many_times_over_are_not_compared_for_ever() {
    let made = |open: char, close: char| {
        format!(
            "{{% set n = namespace(x={open}1,{close}, y={open}1,{close}) %}}{{% for i in range(60) %}}\
             {{% set n.x = {open}n.x, n.x{close} %}}{{% set n.y = {open}n.y, n.y{close} %}}{{% endfor %}}"
        )
    };
    let few = jinja::Limits {
        fuel: 10_000,
        ..jinja::Limits::default()
    };
    let (lists, tuples) = (made('[', ']'), made('(', ')'));
    for template in [
        format!("{lists}{{{{ n.x == n.y }}}}"),
        format!("{lists}{{{{ n.x in [n.y] }}}}"),
        format!("{lists}{{{{ [n.y].index(n.x) }}}}"),
        format!("{lists}{{{{ [n.x, n.y]|sort }}}}"),
        format!("{lists}{{{{ [n.x, n.y]|max }}}}"),
        format!("{tuples}{{{{ {{n.x: 1}}[n.y] }}}}"),
    ] {
        let error = rendered(&template, few).err();
        let code = error.as_ref().map(|error| error.code);
        assert_eq!(code, Some(ErrorCode::TemplateFuel), "{template}: {error:?}");
    }
}

#[test]
fn a_word_of_megabytes_is_wrapped_in_time() {
    let wrapped = rendered(
        "{{ ('a' * 1000000)|wordwrap(1)|length }}",
        jinja::Limits::default(),
    )
    .unwrap();
    assert!(matches!(&wrapped.result, Rendered::Text(text) if text == "1999999"));
}

#[test]
fn long_chains_of_conditions_are_compiled_in_time() {
    const TERMS: usize = 100_000;
    for (chain, last, expected) in [
        ("1 < ", "1", "False"),
        ("0 < 1 > ", "0", "True"),
        ("1 in ", "[1]", "fails"),
        ("1 and ", "x", ""),
        ("x or ", "1", "1"),
        ("not x and ", "2", "2"),
    ] {
        let rendered = rendered(
            &format!("{{{{ {}{last} }}}}", chain.repeat(TERMS)),
            jinja::Limits::default(),
        );
        match rendered.map(|output| output.result) {
            Ok(other) => assert!(
                matches!(&other, Rendered::Text(text) if text == expected),
                "{chain}: {other:?}"
            ),
            Err(error) => assert_eq!(expected, "fails", "{chain}: {}", error.message),
        }
    }
}
