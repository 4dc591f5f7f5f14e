//! Schemas whose parts hold themselves twice: comparing properties with them naively takes exponentially long.

use common::api::error::ErrorCode;
use common::api::expander::ExpandRequest;

use crate::requests::{HARMLESS, request_of};
use crate::server::Server;

/// Properties that are as deep as the number of steps has digits, in binary.
fn deep(schema: &str) -> ExpandRequest {
    let properties = (0..60).fold("{}".to_owned(), |inner, _| format!("{{a: {inner}}}"));
    request_of(
        &format!("resources: [{{name: a, type: t.jinja, properties: {properties}}}]"),
        &[("t.jinja", HARMLESS), ("t.jinja.schema", schema)],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_holds_itself_twice_is_told_before_the_validation() {
    let server = Server::start(&[]);
    for part in ["{$ref: '#'}", "{properties: {a: {$ref: '#'}}}"] {
        let schema = format!("oneOf: [{part}, {part}]");
        let error = server.refusal(&schema, &deep(&schema)).await;
        assert_eq!(error.code, ErrorCode::InvalidSchema, "{error:?}");
        assert!(error.message.contains("its parts never end"), "{error:?}");
    }
}

/// The search for defaults does not go there, but the validator looks at each part and value once.
#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_holds_itself_twice_where_no_default_fills_in_is_validated_in_time() {
    let server = Server::start(&[]);
    let part = "{properties: {a: {$ref: '#'}}}";
    for schema in [
        format!("not: {{oneOf: [{part}, {part}]}}"),
        format!("not: {{not: {{allOf: [{part}, {part}]}}}}"),
        format!("not: {{not: {{anyOf: [{{not: {part}}}, {part}]}}}}"),
    ] {
        let answer = server.expanded(&schema, &deep(&schema)).await;
        assert_eq!(answer.config.resources.len(), 1, "{schema}");
    }
}
