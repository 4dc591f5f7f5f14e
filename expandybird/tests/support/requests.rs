//! Requests of a few lines, for the tests of the service as a whole.

use common::api::expander::ExpandRequest;
use common::model::Import;

pub const HARMLESS: &str = "resources: [{name: {{ env.name }}-b, type: T}]";

/// One instance of a template.
pub fn request(template: &str, content: &str) -> ExpandRequest {
    request_of(
        &format!("resources: [{{name: a, type: {template}}}]"),
        &[(template, content)],
    )
}

/// A configuration and its imports.
pub fn request_of(configuration: &str, imports: &[(&str, &str)]) -> ExpandRequest {
    let import = |&(name, content): &(&str, &str)| Import {
        name: name.to_owned(),
        path: None,
        content: content.to_owned(),
    };
    ExpandRequest {
        name: "config.yaml".to_owned(),
        content: configuration.to_owned(),
        imports: imports.iter().map(import).collect(),
        ..ExpandRequest::default()
    }
}
