//! `GET /openapi.json`: the description of the API, made from the route table, the descriptions, the wire types and the
//! table of error codes.
//!
//! A route names its handler, such as `deployments::list`. The entry of the same name in [`describe`] says what the
//! route takes and returns. A route without an entry does not compile. A test calls every route and checks its answers
//! against the document.

pub mod describe;
mod description;
mod names;
mod shapes;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::web::Bytes;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::IDEMPOTENCY_KEY;
use common::model::{
    ClusterName, CredentialName, DeploymentName, ManifestName, Namespace, OperationId,
    RegistryName, TemplateName, TypeName,
};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::json_schema;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

pub use self::description::Description;
use super::requests::guard::Need;
use super::requests::kubernetes;

/// A row of the route table.
pub struct Route {
    pub path: &'static str,
    pub method: &'static str,
    /// The noun and the verb of the handler.
    pub handler: (&'static str, &'static str),
    pub describe: fn(&mut SchemaGenerator) -> Description,
    /// What its callers need.
    pub need: Need,
}

/// The routes of every service, which are not in the table.
pub const SHARED: [Route; 1] = [Route {
    path: "/healthz",
    method: "GET",
    handler: ("health", "get"),
    describe: describe::health::get,
    need: Need::Nothing,
}];

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| document(super::ROUTES).to_string().into());

pub async fn get() -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/json")
        .body(DOCUMENT.clone())
}

/// The errors of every route: the server answers them before it looks for the route.
const GENERAL: [ErrorCode; 4] = [
    ErrorCode::UriTooLong,
    ErrorCode::Misdirected,
    ErrorCode::TooManyRequests,
    ErrorCode::HeadersTooLarge,
];

/// The whole document (OpenAPI 3.1, whose schemas are JSON Schema 2020-12).
pub fn document(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings
            .transforms
            .push(Box::new(RecursiveTransform(shapes::plain)));
    });
    let mut schemas = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in SHARED.iter().chain(routes) {
        let operation = operation(route, &mut schemas);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation;
    }
    let body = json!(schemas.subschema_for::<ErrorBody>());
    let general = GENERAL.map(|code| (code.to_string(), error_answer(&[code], &body)));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Deployment Manager",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every error answer is an ErrorBody. Programs read its code, people its message.",
        },
        "paths": paths,
        "components": {
            "responses": Map::from_iter(general),
            "schemas": shapes::with_forms(schemas.take_definitions(true)),
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token that the cluster knows, one of an OIDC issuer, or a static one, as the operator configured.",
            }},
        },
    })
}

fn operation(route: &Route, schemas: &mut SchemaGenerator) -> Value {
    let description = (route.describe)(schemas);
    let in_path = path_parameters(route, schemas);
    let mut parameters = in_path;
    for parameter in description.parameters {
        // What a path names is no parameter of its query.
        if parameters
            .iter()
            .all(|other| other["name"] != parameter["name"])
        {
            parameters.push(parameter);
        }
    }
    let mut responses = description.answers;
    let mut codes = description.errors;
    if super::is_repeatable(route) && parameters.iter().all(|one| one["name"] != IDEMPOTENCY_KEY) {
        parameters.push(describe::idempotency_key());
        codes.push(ErrorCode::IdempotencyConflict);
    }
    codes.extend(refusals(route.need));
    codes.sort_by_key(|code| (code.status(), code.as_str()));
    codes.dedup();
    let body = match kubernetes::is_kubernetes(route.path) {
        true => json!(schemas.subschema_for::<kubernetes::Status>()),
        false => json!(schemas.subschema_for::<ErrorBody>()),
    };
    for same in codes.chunk_by(|one, other| one.status() == other.status()) {
        let answer = error_answer(same, &body);
        if let [code, ..] = same {
            // If a success has the same status, as in a readiness check, the answer keeps its own schema.
            responses.entry(code.status().to_string()).or_insert(answer);
        }
    }
    for code in GENERAL {
        let answer = json!({"$ref": format!("#/components/responses/{code}")});
        responses.insert(code.status().to_string(), answer);
    }
    let mut operation = json!({
        "operationId": names::operation_id(route),
        "tags": [names::tag(route)],
        "summary": description.summary,
        "responses": responses,
    });
    if route.need != Need::Nothing {
        // The second entry is for managers without authentication.
        operation["security"] = json!([{"bearer": []}, {}]);
    }
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(body) = description.body {
        operation["requestBody"] = body;
    }
    operation
}

/// The errors for callers without permission.
fn refusals(need: Need) -> &'static [ErrorCode] {
    use ErrorCode::{Forbidden, Unauthenticated, Unavailable};
    match need {
        Need::Nothing => &[],
        Need::Authenticated | Need::Filtered => &[Unauthenticated, Unavailable],
        Need::InBody | Need::Deployment(_) | Need::Operation(_) | Need::ClusterScoped(..) => {
            &[Unauthenticated, Forbidden, Unavailable]
        }
    }
}

fn path_parameters(route: &Route, schemas: &mut SchemaGenerator) -> Vec<Value> {
    let names = route
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameter = |name: &str| {
        let schema = match name {
            "deployment" => schemas.subschema_for::<DeploymentName>(),
            "namespace" => schemas.subschema_for::<Namespace>(),
            "template" => schemas.subschema_for::<TemplateName>(),
            "manifest" => schemas.subschema_for::<ManifestName>(),
            "operation" => schemas.subschema_for::<OperationId>(),
            // The two names together are the name of a type.
            "type" if route.path.contains("{registry}") => {
                json_schema!({"type": "string", "pattern": r"^[^\x00-\x1f\x7f-\x9f]{1,1984}$"})
            }
            "type" => schemas.subschema_for::<TypeName>(),
            "cluster" => schemas.subschema_for::<ClusterName>(),
            "credential" => schemas.subschema_for::<CredentialName>(),
            // The default registry is read under a name that no registry can be registered with.
            "registry" if route.method != "GET" => schemas.subschema_for::<RegistryName>(),
            "registry" => {
                json_schema!({"type": "string", "pattern": r"^[^\x00-\x1f\x7f-\x9f]{1,63}$"})
            }
            _ => schemas.subschema_for::<String>(),
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    };
    names.map(&mut parameter).collect()
}

/// The error answers with one status and this body.
fn error_answer(codes: &[ErrorCode], body: &Value) -> Value {
    let meanings = codes
        .iter()
        .map(|code| format!("`{code}`: {}", code.meaning()));
    let names: Vec<_> = codes.iter().map(|code| code.as_str()).collect();
    // One type for all errors: a type for each list of codes would fill the generated clients.
    json!({
        "description": meanings.collect::<Vec<_>>().join("\n\n"),
        "content": {"application/json": {"schema": body}},
        "x-codes": names,
    })
}
