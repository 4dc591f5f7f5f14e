//! The stored Template objects among the templates that `dm templates` lists.

use common::api::error::ErrorCode;
use common::api::manager::TemplateSummary;
use common::client::{ClientError, ManagerClient};
use common::model::Namespace;
use regex::Regex;
use serde_json::Value;

use crate::client::session::all_pages;
use crate::error::Failure;

/// The registry that a stored Template has in the list: `template:NAMESPACE`. With the name behind it, it is a type.
const SCHEME: &str = "template:";
/// The manager's namespace for requests without one.
const NAMESPACE: &str = "default";

/// The namespace of `template:NAMESPACE`.
pub fn namespace(registry: &str) -> Option<Result<Namespace, Failure>> {
    let namespace = registry.strip_prefix(SCHEME)?;
    Some(Namespace::parse(namespace).map_err(Failure::from))
}

/// The Templates of a namespace that match, with their registry.
///
/// # Errors
/// The manager refuses or does not answer. If the user names no namespace, a namespace that they may not list has nothing.
pub async fn list(
    client: &ManagerClient,
    namespace: Option<&Namespace>,
    regex: Option<&str>,
) -> Result<(String, Vec<TemplateSummary>), Failure> {
    let regex = regex.map(Regex::new).transpose();
    let regex = regex.map_err(|error| Failure::usage(error.to_string()))?;
    let page = all_pages(|page| async move { client.stored_templates(namespace, &page).await });
    let found = match page.await {
        Err(ClientError::Answered(body))
            if body.code == ErrorCode::Forbidden && namespace.is_none() =>
        {
            Vec::new()
        }
        answer => answer?.items,
    };
    let names = found.iter().filter_map(|template| name(template));
    let names = names.filter(|name| regex.as_ref().is_none_or(|regex| regex.is_match(name)));
    let summaries = names.map(|name| TemplateSummary {
        name: name.to_owned(),
        versions: Vec::new(),
    });
    let namespace = namespace.map_or(NAMESPACE, Namespace::as_str);
    Ok((format!("{SCHEME}{namespace}"), summaries.collect()))
}

fn name(template: &Value) -> Option<&str> {
    template.pointer("/metadata/name")?.as_str()
}
