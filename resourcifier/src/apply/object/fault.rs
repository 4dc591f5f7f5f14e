//! An error about one resource.

use common::api::error::{ErrorBody, ErrorCode, Location};

use crate::plan::Node;

/// The error names the resource and its object.
pub fn fault(node: &Node, code: ErrorCode, reason: &str) -> ErrorBody {
    let location = Location {
        resource: Some(node.resource.name.to_string()),
        ..Location::default()
    };
    let what = match &node.run {
        None => "resource".to_owned(),
        Some(run) => format!("{} hook", run.event.as_str()),
    };
    let message = format!("{what} {} ({}): {reason}", node.resource.name, node.object);
    ErrorBody::new(code, message).at(location)
}
