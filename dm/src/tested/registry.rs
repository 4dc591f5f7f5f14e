//! A version in a registry, as the manager knows it.

use common::api::error::ErrorCode;
use common::api::manager::{RegistrySummary, TemplateDescription};
use common::client::{ClientError, ManagerClient};
use common::model::Version;
use common::yaml;
use serde_json::Value;

use super::{EXAMPLE, Meant, Previous, Tested, parsed, types};
use crate::bundle::Bundle;
use crate::error::Failure;
use crate::output::OutputError;
use crate::session::all_pages;

pub async fn fetch(client: &ManagerClient, reference: &str) -> Result<Tested, Failure> {
    let described = client.describe(reference).await?;
    let version = described.resolved.version.as_deref();
    let version: Option<Version> = version.and_then(|version| version.parse().ok());
    let (Some(version), Some((base, _))) = (version, reference.rsplit_once(':')) else {
        return Err(Failure::Usage(format!(
            "{reference} has no version: write TEMPLATE:VERSION, or the folder of one"
        )));
    };
    let previous = previous(client, reference, base, version, &described).await?;
    Ok(Tested {
        shown: format!("{base}:{version}"),
        version: Some(version),
        example: example(&described, reference, base, version)?,
        schema: described.schema,
        previous,
    })
}

/// The example, with the reference that is tested in place of its own: the same template in another registry is another.
fn example(
    described: &TemplateDescription,
    reference: &str,
    base: &str,
    version: Version,
) -> Result<Result<Bundle, String>, Failure> {
    let Some(text) = &described.example else {
        return Ok(Err(format!("{base}:{version} has no {EXAMPLE}")));
    };
    let mut configuration = parsed(EXAMPLE, text)?;
    let meant = Meant {
        template: base.rsplit('/').next().unwrap_or(base),
        version: Some(version),
        file: file_of(&described.resolved.url),
    };
    let imports = configuration.get("imports").and_then(Value::as_array);
    if imports.is_some_and(|imports| !imports.is_empty()) {
        return Ok(Err(format!(
            "{EXAMPLE} imports files beside it: get the version's folder, and test that"
        )));
    }
    if !types(&configuration).iter().any(|name| meant.by(name)) {
        return Ok(Err(meant.missing()));
    }
    let resources = configuration
        .get_mut("resources")
        .and_then(Value::as_array_mut);
    for resource in resources.into_iter().flatten() {
        if let Some(Value::String(name)) = resource.get_mut("type")
            && meant.by(name)
        {
            reference.clone_into(name);
        }
    }
    let content = yaml::write(&configuration).map_err(OutputError::from)?;
    Ok(Ok(Bundle {
        content,
        ..Bundle::default()
    }))
}

fn file_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

async fn previous(
    client: &ManagerClient,
    reference: &str,
    base: &str,
    version: Version,
    described: &TemplateDescription,
) -> Result<Option<Previous>, Failure> {
    let registry = client.registry_of(reference).await?;
    let Some((template, versions)) = versions(client, &registry, base).await? else {
        return Ok(None);
    };
    let listed = versions
        .iter()
        .filter_map(|name| Some((name.parse::<Version>().ok()?, name)));
    let Some((before, name)) = listed.filter(|(listed, _)| *listed < version).max() else {
        return Ok(None);
    };
    let schema = if (before.major, before.minor) == (version.major, version.minor) {
        // A reference to it would mean the highest patch, which is the one that is tested.
        let folder = format!("{template}/{name}");
        let file = file_of(&described.resolved.url);
        schema_in(client, &registry.name, &folder, file).await?
    } else {
        client.describe(&format!("{base}:{before}")).await?.schema
    };
    Ok(Some(Previous {
        version: before,
        schema,
    }))
}

/// The template as its registry lists it, and its versions.
async fn versions(
    client: &ManagerClient,
    registry: &RegistrySummary,
    base: &str,
) -> Result<Option<(String, Vec<String>)>, ClientError> {
    let within = base
        .strip_prefix(registry.name.as_str())
        .and_then(|rest| rest.strip_prefix('/'));
    let name = within.unwrap_or(base);
    let collected = registry.definition.collection.as_ref();
    let collected = collected.map(|collection| format!("{collection}/{name}"));
    let all = all_pages(|page| async move { client.templates(&registry.name, None, &page).await })
        .await?;
    let is_it = |listed: &str| listed == name || Some(listed) == collected.as_deref();
    let found = all.items.into_iter().find(|listed| is_it(&listed.name));
    Ok(found.map(|found| (found.name, found.versions)))
}

/// The template itself tells whether the folder is where it is looked for; only then no schema means that it has none.
async fn schema_in(
    client: &ManagerClient,
    registry: &str,
    folder: &str,
    file: &str,
) -> Result<Option<Value>, Failure> {
    client
        .download(registry, &format!("{folder}/{file}"))
        .await?;
    let path = format!("{folder}/{file}.schema");
    match client.download(registry, &path).await {
        Ok(bytes) => Ok(Some(parsed(&path, &String::from_utf8_lossy(&bytes))?)),
        Err(ClientError::Answered(body)) if is_absence(body.code) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_absence(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::TemplateNotFound)
}
