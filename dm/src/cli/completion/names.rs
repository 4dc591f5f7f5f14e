//! The names that the manager knows, for the words so far.

use std::ffi::OsStr;
use std::time::Duration;

use clap::Parser;
use clap_complete::engine::CompletionCandidate;
use common::api::manager::TemplateSummary;
use common::api::page::PageQuery;
use common::client::ManagerClient;
use common::model::limits::PAGE_ITEMS_MAX;
use serde_json::Value;

use crate::cli::Cli;
use crate::client::session::flags::Flags;

/// A user does not wait longer for candidates.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many registries to ask for their templates.
const REGISTRIES: usize = 20;
/// How many levels of nested properties to offer.
const DEPTH: usize = 4;
const DEFAULT_REGISTRY: &str = "default";

pub fn deployments(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = asked(async |client| {
        let page = client.deployments(whole()).await.ok()?;
        Some(
            page.items
                .into_iter()
                .map(|deployment| deployment.name.to_string())
                .collect(),
        )
    });
    beginning(typed, names)
}

pub fn registries(typed: &OsStr) -> Vec<CompletionCandidate> {
    beginning(typed, asked(registry_names))
}

pub fn clusters(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = asked(async |client| {
        let page = client.clusters(&whole()).await.ok()?;
        let names = page.items.into_iter().map(|cluster| cluster.name.into());
        Some(names.collect())
    });
    beginning(typed, names)
}

async fn registry_names(client: &ManagerClient) -> Option<Vec<String>> {
    let page = client.registries(&whole()).await.ok()?;
    Some(
        page.items
            .into_iter()
            .map(|registry| registry.name)
            .collect(),
    )
}

/// The Template objects that are stored in the namespace `default`.
pub fn stored_templates(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = asked(async |client| {
        let page = client.stored_templates(None, &whole()).await.ok()?;
        let name = |template: &Value| {
            template
                .pointer("/metadata/name")?
                .as_str()
                .map(str::to_owned)
        };
        Some(page.items.iter().filter_map(name).collect())
    });
    beginning(typed, names)
}

/// `TEMPLATE:VERSION` of the default registry, `REGISTRY/TEMPLATE:VERSION` of the others.
pub fn templates(typed: &OsStr) -> Vec<CompletionCandidate> {
    if typed
        .to_str()
        .is_none_or(|typed| typed.contains("://") || typed.starts_with(['.', '/']))
    {
        return Vec::new();
    }
    let names = asked(async |client| {
        let registries = registry_names(client).await?;
        let each = registries.iter().take(REGISTRIES).map(async |registry| {
            let page = client.templates(registry, None, &whole()).await.ok()?;
            Some(references(registry, page.items))
        });
        let each = futures::future::join_all(each).await;
        Some(each.into_iter().flatten().flatten().collect())
    });
    beginning(typed, names)
}

fn references(registry: &str, templates: Vec<TemplateSummary>) -> Vec<String> {
    let place = match registry {
        DEFAULT_REGISTRY => String::new(),
        named => format!("{named}/"),
    };
    let all = templates.iter().flat_map(|template| {
        let versions = template.versions.iter();
        versions.map(|version| format!("{place}{}:{version}", template.name))
    });
    all.collect()
}

/// `NAME=` for each property of the template on the line; after a comma, for the next property.
pub fn properties(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed_text) = typed.to_str() else {
        return Vec::new();
    };
    let before = typed_text
        .rfind(',')
        .map_or("", |comma| &typed_text[..=comma]);
    let Some(template) = words().into_iter().find(|word| is_template(word)) else {
        return Vec::new();
    };
    let names = asked(async |client| {
        let schema = client.describe(&template).await.ok()?.schema?;
        let mut names = Vec::new();
        collect(&schema, before, DEPTH, &mut names);
        Some(names)
    });
    beginning(typed, names)
}

/// Nested properties are offered by their whole path.
fn collect(schema: &Value, prefix: &str, depth: usize, names: &mut Vec<String>) {
    let Some(properties) = schema["properties"].as_object().filter(|_| depth > 0) else {
        return;
    };
    for (name, property) in properties {
        match property["properties"].is_object() {
            true => collect(property, &format!("{prefix}{name}."), depth - 1, names),
            false => names.push(format!("{prefix}{name}=")),
        }
    }
}

fn is_template(word: &str) -> bool {
    if word.starts_with("helm:") || word.starts_with("oci://") {
        let last = word.rsplit('/').next().unwrap_or_default();
        return last.contains(':');
    }
    let reference = word.rsplit_once(':');
    reference.is_some_and(|(template, version)| {
        !template.is_empty() && version.starts_with('v') && !version.contains('/')
    })
}

fn beginning(typed: &OsStr, names: Vec<String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = names.into_iter().filter(|name| name.starts_with(&*typed));
    fitting.map(CompletionCandidate::new).collect()
}

fn whole() -> PageQuery {
    PageQuery {
        limit: Some(PAGE_ITEMS_MAX),
        page_token: None,
    }
}

/// The manager's answer; empty if it does not answer in time.
fn asked(ask: impl AsyncFnOnce(&ManagerClient) -> Option<Vec<String>>) -> Vec<String> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return Vec::new();
    };
    let answer = async {
        let flags = flags()?;
        let target = flags.target().ok()?;
        let access = target.identity.access(&target.service).await.ok()?;
        let client = ManagerClient::with(&target.service, &access).ok()?;
        ask(&client).await
    };
    let answer = runtime.block_on(async { tokio::time::timeout(PATIENCE, answer).await });
    answer.ok().flatten().unwrap_or_default()
}

/// The words so far: those after the `--` of the shell's call.
fn words() -> Vec<String> {
    let mut words = std::env::args().skip_while(|word| word != "--");
    words.next();
    words.collect()
}

/// The flags for the manager and the identity: from the environment, and `--service` also from the line.
fn flags() -> Option<Flags> {
    let words = words();
    let mut command = vec!["dm".to_owned(), "version".to_owned()];
    if let Some(place) = words.iter().position(|word| word == "--service") {
        command.extend(["--service".to_owned(), words.get(place + 1)?.clone()]);
    }
    Some(Cli::try_parse_from(command).ok()?.flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_offered_by_their_whole_path() {
        let schema = serde_json::json!({"properties": {
            "replicas": {"type": "integer"},
            "manager": {"properties": {"storage": {"type": "string"}}},
        }});
        let mut names = Vec::new();
        collect(&schema, "a=1,", DEPTH, &mut names);
        assert_eq!(names, ["a=1,replicas=", "a=1,manager.storage="]);
    }

    #[test]
    fn a_template_is_a_word_with_a_version() {
        for (word, is) in [
            ("redis:v1", true),
            ("github.com/o/r/redis:v1.0.1", true),
            ("helm:shop/web:1.2.3", true),
            ("oci://ghcr.io/org/web:1.2.3", true),
            ("oci://ghcr.io/org/web", false),
            ("web.yaml", false),
            ("http://127.0.0.1:8080", false),
            ("https://host:v/x", false),
        ] {
            assert_eq!(is_template(word), is, "{word}");
        }
    }
}
