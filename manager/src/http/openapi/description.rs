//! What a route takes and returns.

use common::api::error::ErrorCode;
use schemars::JsonSchema;
use schemars::generate::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::shapes::without_null;

pub const JSON: &str = "application/json";
pub const YAML: &str = "application/yaml";
const EVENTS: &str = "text/event-stream";
/// Why a body is refused before it is read.
const BODIES: &[ErrorCode] = &[
    ErrorCode::PayloadTooLarge,
    ErrorCode::RequestTimeout,
    ErrorCode::UnsupportedMediaType,
];

/// Built from parts that are already OpenAPI.
pub struct Description {
    pub summary: &'static str,
    pub parameters: Vec<Value>,
    pub body: Option<Value>,
    /// By status.
    pub answers: Map<String, Value>,
    pub errors: Vec<ErrorCode>,
}

impl Description {
    /// Every request may be malformed, and may fail by a fault of the service.
    pub fn new(summary: &'static str) -> Self {
        Self {
            summary,
            parameters: Vec::new(),
            body: None,
            answers: Map::new(),
            errors: vec![ErrorCode::InvalidRequest, ErrorCode::Internal],
        }
    }

    /// Every field of the type is a parameter.
    pub fn query<T: JsonSchema>(self, schemas: &mut SchemaGenerator) -> Self {
        self.query_of::<T>(schemas, |_| true)
    }

    /// The named fields of the type are parameters.
    pub fn query_of<T: JsonSchema>(
        mut self,
        schemas: &mut SchemaGenerator,
        takes: impl Fn(&str) -> bool,
    ) -> Self {
        let schema = T::json_schema(schemas);
        let required = schema.get("required").and_then(Value::as_array).cloned();
        let required = required.unwrap_or_default();
        let fields = schema.get("properties").and_then(Value::as_object).cloned();
        let fields = fields.unwrap_or_default().into_iter();
        for (name, field) in fields.filter(|(name, _)| takes(name)) {
            let mut parameter = json!({
                "name": name,
                "in": "query",
                "required": required.contains(&json!(name)),
                "schema": bounded(without_null(field)),
            });
            if let Some(text) = parameter["schema"]["description"].as_str() {
                parameter["description"] = json!(text);
            }
            self.parameters.push(parameter);
        }
        self
    }

    pub fn header(self, name: &str, description: &str) -> Self {
        self.header_with(name, description, json!({"type": "string"}))
    }

    /// A header with a pattern.
    pub fn header_with(mut self, name: &str, description: &str, schema: Value) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": "header",
            "required": false,
            "description": description,
            "schema": schema,
        }));
        self
    }

    /// A body, in JSON or YAML.
    pub fn body<T: JsonSchema>(mut self, schemas: &mut SchemaGenerator) -> Self {
        let schema = schema_of::<T>(schemas);
        self.body = Some(json!({
            "required": true,
            "content": {JSON: {"schema": schema}, YAML: {"schema": schema}},
        }));
        self.fails(BODIES)
    }

    /// A body of one of these media types, each with its schema.
    pub fn bodies(mut self, kinds: &[(&str, Value)]) -> Self {
        let kinds = kinds.iter();
        let content = kinds.map(|(kind, schema)| ((*kind).to_owned(), json!({"schema": schema})));
        let content: Map<String, Value> = content.collect();
        self.body = Some(json!({"required": true, "content": content}));
        self.fails(BODIES)
    }

    /// In this media type, the body may be a text instead.
    pub fn or_text(mut self, media_type: &str, what: &str) -> Self {
        if let Some(body) = &mut self.body {
            let schema = body["content"][media_type]["schema"].take();
            body["content"][media_type]["schema"] =
                json!({"description": what, "anyOf": [schema, {"type": "string"}]});
        }
        self
    }

    /// A body of another media type.
    pub fn raw_body(mut self, media_type: &str) -> Self {
        self.body = Some(json!({
            "required": true,
            "content": {media_type: {"schema": {"type": "string"}}},
        }));
        self
    }

    pub fn answers<T: JsonSchema>(
        self,
        status: u16,
        what: &str,
        schemas: &mut SchemaGenerator,
    ) -> Self {
        let schema = schema_of::<T>(schemas);
        self.answer(status, what, JSON, schema)
    }

    /// An answer that is not JSON.
    pub fn raw_answer(self, status: u16, what: &str, media_type: &str) -> Self {
        self.answer(status, what, media_type, json!({"type": "string"}))
    }

    /// A stream of events. OpenAPI 3.1 has no schema for streams, and generators of clients take only a text for one.
    /// `x-events` has the schema of the data of each kind of event.
    pub fn events(mut self, what: &str, kinds: Value) -> Self {
        self = self.answer(200, what, EVENTS, json!({"type": "string"}));
        if let Some(answer) = self.answers.get_mut("200") {
            answer["content"][EVENTS]["x-events"] = kinds;
        }
        self
    }

    fn answer(mut self, status: u16, what: &str, media_type: &str, schema: Value) -> Self {
        let answer = json!({"description": what, "content": {media_type: {"schema": schema}}});
        self.answers.insert(status.to_string(), answer);
        self
    }

    /// Adds a header to the answer with this status.
    pub fn with_header(mut self, status: u16, name: &str, description: &str) -> Self {
        if let Some(answer) = self.answers.get_mut(&status.to_string()) {
            answer["headers"][name] =
                json!({"description": description, "schema": {"type": "string"}});
        }
        self
    }

    pub fn fails(mut self, codes: &[ErrorCode]) -> Self {
        self.errors.extend(codes);
        self
    }
}

/// Larger counts cannot be read.
fn bounded(mut schema: Value) -> Value {
    let is_count = schema["format"] == "uint";
    if is_count && schema["maximum"].is_null() {
        schema["maximum"] = json!(i64::MAX);
    }
    schema
}

/// Generators of clients take an empty schema for "anything", and no `true`.
fn schema_of<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    match json!(schemas.subschema_for::<T>()) {
        Value::Bool(true) => json!({}),
        schema => schema,
    }
}
