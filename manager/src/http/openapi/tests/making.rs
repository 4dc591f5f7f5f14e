//! Makes JSON values and requests from the document's own schemas, with everything that these allow.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::string::string_regex;
use serde_json::{Map, Value, json};

/// Schemas refer to themselves: deeper values are left out.
const DEPTH: usize = 5;

/// A request as the document allows it.
#[derive(Debug, Clone)]
pub struct Made {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Value>,
}

pub struct Making<'d> {
    pub document: &'d Value,
    /// By their parameters: names of what there is, so that requests get further than to a 404.
    pub known: &'d [(&'static str, &'static str)],
}

impl Making<'_> {
    /// Requests of one operation.
    pub fn requests(&self, path: &str, method: &str) -> BoxedStrategy<Made> {
        let operation = &self.document["paths"][path][method];
        let parameters = operation["parameters"].as_array().cloned();
        let parameters: Vec<_> = parameters
            .unwrap_or_default()
            .into_iter()
            .map(|parameter| self.parameter(&parameter))
            .collect();
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = match body.is_null() {
            true => Just(None).boxed(),
            false => self.value(body).prop_map(Some).boxed(),
        };
        let path = path.to_owned();
        let made = move |(parameters, body): (Vec<Parameter>, _)| made(&path, parameters, body);
        (parameters, body).prop_map(made).boxed()
    }

    fn parameter(&self, parameter: &Value) -> BoxedStrategy<Parameter> {
        let text = |field: &str| parameter[field].as_str().unwrap().to_owned();
        let (name, place) = (text("name"), text("in"));
        let mut value = self.value(&parameter["schema"]);
        let known = self.known.iter().find(|(known, _)| *known == name);
        if let Some((_, known)) = known {
            value = prop_oneof![2 => Just(json!(known)), 1 => value].boxed();
        }
        let value = match parameter["required"] == true {
            true => value.prop_map(Some).boxed(),
            false => proptest::option::of(value).boxed(),
        };
        value
            .prop_map(move |value| {
                (
                    name.clone(),
                    place.clone(),
                    value.map(|value| plain(&value)),
                )
            })
            .boxed()
    }

    /// Values that a schema allows.
    pub fn value(&self, schema: &Value) -> BoxedStrategy<Value> {
        let whole = json!({"allOf": [schema], "components": self.document["components"]});
        let validator = jsonschema::validator_for(&whole).unwrap();
        let made = self.made(schema, DEPTH);
        made.prop_filter("not all rules are made for", move |value| {
            validator.is_valid(value)
        })
        .boxed()
    }

    fn made(&self, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
        let Some(fields) = schema.as_object() else {
            return anything();
        };
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let pointer = reference.trim_start_matches('#');
            return self.made(self.document.pointer(pointer).unwrap(), depth);
        }
        for choice in ["oneOf", "anyOf"] {
            let Some(branches) = fields.get(choice).and_then(Value::as_array) else {
                continue;
            };
            let mut rest = fields.clone();
            rest.remove(choice);
            let branches = branches
                .iter()
                .map(|branch| self.made(&with(&rest, branch), depth));
            return Union::new(branches).boxed();
        }
        if let Some(choices) = fields.get("enum").and_then(Value::as_array) {
            return proptest::sample::select(choices.clone()).boxed();
        }
        if let Some(only) = fields.get("const") {
            return Just(only.clone()).boxed();
        }
        match fields.get("type") {
            None if fields.contains_key("properties") => self.of_type("object", schema, depth),
            None => anything(),
            Some(Value::Array(types)) => {
                let types = types.iter().filter_map(Value::as_str);
                Union::new(types.map(|name| self.of_type(name, schema, depth))).boxed()
            }
            Some(name) => self.of_type(name.as_str().unwrap(), schema, depth),
        }
    }

    fn of_type(&self, name: &str, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
        match name {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::from).boxed(),
            "integer" => integer(schema),
            "number" => any::<i32>().prop_map(Value::from).boxed(),
            "string" => string(schema),
            "array" if depth == 0 => Just(json!([])).boxed(),
            "array" => {
                let item = self.made(&schema["items"], depth - 1);
                let most = schema["maxItems"].as_u64().unwrap_or(2).min(2) as usize;
                let items = proptest::collection::vec(item, 0..=most);
                items.prop_map(Value::from).boxed()
            }
            "object" => self.object(schema, depth),
            other => panic!("no values are made of type {other}"),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> BoxedStrategy<Value> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned();
        let mut fields: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
        for (name, property) in properties.unwrap_or_default() {
            let is_required = required.contains(&json!(name));
            if depth == 0 && !is_required {
                continue;
            }
            let value = self.made(&property, depth.saturating_sub(1));
            let field = value.prop_map(move |value| Some((name.clone(), value)));
            fields.push(match is_required {
                true => field.boxed(),
                false => prop_oneof![Just(None), field].boxed(),
            });
        }
        let more = &schema["additionalProperties"];
        if *more != false && depth > 0 {
            let field = (string(&schema["propertyNames"]), self.made(more, depth - 1));
            let field = field.prop_map(|(name, value)| Some((plain(&name), value)));
            fields.push(prop_oneof![2 => Just(None), 1 => field].boxed());
        }
        let object = |fields: Vec<Option<(String, Value)>>| {
            // What is described wins over what is only not forbidden.
            let fields: Map<_, _> = fields.into_iter().flatten().rev().collect();
            Value::Object(fields)
        };
        fields.prop_map(object).boxed()
    }
}

/// Its name, its place and its value, if it is sent.
type Parameter = (String, String, Option<String>);

fn made(path: &str, parameters: Vec<Parameter>, body: Option<Value>) -> Made {
    let mut path = path.to_owned();
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let mut headers = Vec::new();
    for (name, place, value) in parameters {
        let Some(value) = value else { continue };
        match place.as_str() {
            // Clients take these for other paths, however they are written.
            "path" if [".", ".."].contains(&value.as_str()) => {
                path = path.replace(&format!("{{{name}}}"), "x");
            }
            "path" => {
                let value = utf8_percent_encode(&value, NON_ALPHANUMERIC).to_string();
                path = path.replace(&format!("{{{name}}}"), &value);
            }
            "query" => drop(query.append_pair(&name, &value)),
            _ => headers.push((name, value)),
        }
    }
    let query = query.finish();
    if !query.is_empty() {
        path = format!("{path}?{query}");
    }
    Made {
        path,
        headers,
        body,
    }
}

/// A schema with what one of its branches says.
fn with(rest: &Map<String, Value>, branch: &Value) -> Value {
    let mut whole = rest.clone();
    for (key, value) in branch.as_object().into_iter().flatten() {
        match (key.as_str(), whole.get_mut(key), value) {
            ("properties", Some(Value::Object(old)), Value::Object(new)) => {
                old.extend(new.clone());
            }
            ("required", Some(Value::Array(old)), Value::Array(new)) => old.extend(new.clone()),
            _ => drop(whole.insert(key.clone(), value.clone())),
        }
    }
    Value::Object(whole)
}

fn anything() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ]
    .boxed()
}

fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let least = schema["minimum"].as_i64().unwrap_or(i64::MIN);
    let most = schema["maximum"].as_i64().unwrap_or(i64::MAX);
    let bounds = prop_oneof![
        Just(least),
        Just(most),
        least..=most,
        least..=most.min(least.saturating_add(5))
    ];
    bounds.prop_map(Value::from).boxed()
}

fn string(schema: &Value) -> BoxedStrategy<Value> {
    let texts = match schema["pattern"].as_str() {
        Some(pattern) => {
            let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
            string_regex(pattern).unwrap().boxed()
        }
        None => free_text(schema["format"].as_str()),
    };
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
    let fits = move |text: &String| (least..=most).contains(&text.chars().count());
    texts
        .prop_filter("too short or too long", fits)
        .prop_map(Value::from)
        .boxed()
}

fn free_text(format: Option<&str>) -> BoxedStrategy<String> {
    match format {
        Some("regex") => proptest::sample::select(vec![".*", "^a|b$", "[a-z]+", ""])
            .prop_map(str::to_owned)
            .boxed(),
        Some("date-time") => Just("2026-01-02T03:04:05Z".to_owned()).boxed(),
        _ => prop_oneof![
            3 => "\\PC{0,12}",
            1 => ".{0,4}",
            1 => Just("resources: [{name: a, type: Service}]".to_owned()),
            1 => proptest::sample::select(vec!["", "null", "0", "a b", " ", "a\n", "\u{0}", "../a"]).prop_map(str::to_owned),
        ]
        .boxed(),
    }
}

/// As it stands in a path, a query or a header.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
