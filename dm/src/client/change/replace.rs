//! What an update sends: a new configuration, or changes for the stored one.

use common::api::manager::UpdateDeployment;
use common::client::ClientError;
use common::model::DeploymentName;
use common::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value};

use crate::client::operation::write::Subject;
use crate::client::session::Session;
use crate::client::target::{Resolved, Target};
use crate::error::{Failure, Sources};
use crate::terminal::text;
use common::api::error::ErrorCode;

/// The update of the target's deployment. `doing` is a word for messages, such as `updating`.
///
/// A deployment's name means its stored configuration, with the properties of the command line.
pub fn update_to(
    target: &Target,
    reset: bool,
    doing: &str,
    session: &mut Session<'_, '_>,
) -> Result<(DeploymentName, UpdateDeployment, Subject), Failure> {
    if let Some(name) = target.stored() {
        if let Some(import) = target.imports.first() {
            return Err(Failure::usage(format!(
                "{name} is a deployment, and {import} is not used with it; to deploy {import} as {name}, run: dm apply {import} --name {name}; \
                 to change properties alone, give --set or --values"
            )));
        }
        let request = UpdateDeployment {
            properties: Some(target.given_properties()?),
            reset_properties: reset,
            ..UpdateDeployment::default()
        };
        let subject = Subject::new(format!("{doing} {name}"), Sources::default());
        return Ok((name, request, subject));
    }
    Ok(replacement(target.resolve(session.terminal)?, doing))
}

/// The update to a whole new configuration.
pub fn replacement(resolved: Resolved, doing: &str) -> (DeploymentName, UpdateDeployment, Subject) {
    let Resolved {
        name,
        shown,
        bundle,
        ..
    } = resolved;
    let (request, sources) = bundle.into_update();
    let subject = Subject::new(format!("{doing} {name} with {shown}"), sources);
    (name, request, subject)
}

/// Shows the properties that a whole replacement drops, and asks a user at a terminal.
pub async fn confirm_dropped(
    session: &mut Session<'_, '_>,
    resolved: &Resolved,
) -> Result<(), Failure> {
    if !resolved.is_instance {
        return Ok(());
    }
    let name = &resolved.name;
    let Some(before) = stored_configuration(session, name).await? else {
        return Ok(());
    };
    let dropped = dropped(&before, &resolved.bundle.content);
    if dropped.is_empty() {
        return Ok(());
    }
    let dropped = text::line(&dropped.join(", "));
    session.terminal.note(&format!(
        "this drops properties that {name} has: {dropped}\n\
         to keep them, change only the others: dm update {name} --set NAME=VALUE"
    ));
    if session.terminal.interactive && !session.terminal.agrees("Drop them?") {
        return Err(Failure::failed(format!(
            "nothing was changed; dm update {name} --set NAME=VALUE keeps the properties, and --reset-properties drops them without a question"
        )));
    }
    Ok(())
}

/// The configuration of the latest manifest, if there is one.
async fn stored_configuration(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<Option<String>, Failure> {
    let read = async {
        let Some(latest) = session.client.deployment(name).await?.latest_manifest else {
            return Ok(None);
        };
        let manifest = session.client.manifest(name, &latest).await?;
        Ok(Some(manifest.input_config.content))
    };
    match read.await {
        Err(ClientError::Answered(body)) if body.code == ErrorCode::NotFound => Ok(None),
        read => Ok(read?),
    }
}

/// The paths of properties that only the first configuration has. Both are for one instance of the same template.
fn dropped(before: &str, after: &str) -> Vec<String> {
    let (Some(before), Some(after)) = (instance(before), instance(after)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if before.template == after.template {
        missing(&before.properties, &after.properties, "", &mut found);
    }
    found.sort();
    found
}

struct Instance {
    /// Without its version.
    template: String,
    properties: Map<String, Value>,
}

/// The only resource of a configuration.
fn instance(content: &str) -> Option<Instance> {
    let read = yaml::read(content, &Limits::DEFAULT, Duplicates::Warn).ok()?;
    let [resource] = read.value["resources"].as_array()?.as_slice() else {
        return None;
    };
    let type_name = resource["type"].as_str()?;
    let template = match type_name.rsplit_once(':') {
        Some((template, version)) if !version.contains('/') => template,
        _ => type_name,
    };
    Some(Instance {
        template: template.to_owned(),
        properties: resource["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default(),
    })
}

fn missing(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    prefix: &str,
    found: &mut Vec<String>,
) {
    for (name, value) in before {
        let path = format!("{prefix}{}", name.replace('.', "\\."));
        match (value, after.get(name)) {
            (_, None) => found.push(path),
            (Value::Object(before), Some(Value::Object(after))) => {
                missing(before, after, &format!("{path}."), found);
            }
            (_, Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_drops_what_it_does_not_name() {
        let before = "resources: [{name: web, type: web:v1, properties: {replicas: 3, config: {greeting: hi, x.y: 1}, image: a}}]";
        for (after, expected) in [
            (
                "resources: [{name: web, type: web:v1, properties: {replicas: 5}}]",
                &["config", "image"][..],
            ),
            (
                "resources: [{name: web, type: web:v2, properties: {replicas: 5, image: b, config: {}}}]",
                &["config.greeting", r"config.x\.y"],
            ),
            (
                "resources: [{name: web, type: web:v1}]",
                &["config", "image", "replicas"],
            ),
            ("resources: [{name: web, type: other:v1}]", &[]),
            ("resources: []", &[]),
            ("a: [", &[]),
        ] {
            assert_eq!(dropped(before, after), expected, "{after}");
        }
    }
}
