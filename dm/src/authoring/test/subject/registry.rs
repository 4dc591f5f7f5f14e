//! A template version in a registry that the manager knows.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use common::api::error::ErrorCode;
use common::api::manager::{RegistrySummary, TemplateDescription};
use common::client::{ClientError, ManagerClient};
use common::model::limits::IMPORTS;
use common::model::{Version, language};
use common::registry::collections::{self, Collections};
use common::registry::package::CHART;
use common::registry::{FilePath, PathError, SCHEMA};

use super::{Previous, TestSubject, tried};
use crate::authoring::version::{EXAMPLE, TemplateVersion};
use crate::bundle::files::{Files, beside};
use crate::bundle::{Bundle, imports};
use crate::client::session::all_pages;
use crate::error::Failure;

pub async fn fetch(client: &ManagerClient, reference: &str) -> Result<TestSubject, Failure> {
    let described = client.describe(reference).await?;
    let spelled = described.resolved.version.clone();
    let version = spelled.as_deref().and_then(|version| version.parse().ok());
    let (Some(version), Some(spelled), Some((base, _))) =
        (version, spelled, reference.rsplit_once(':'))
    else {
        return Err(Failure::usage(format!(
            "{reference} has no version: give TEMPLATE:VERSION, or the folder of a version"
        )));
    };
    let shown = format!("{base}:{version}");
    if is_package(&described) {
        return package(shown, base, &described, reference);
    }
    let registry = client.registry_of(reference).await?;
    let Some(place) = RegistryLocation::find(client, &registry, base).await? else {
        let registry = registry.name;
        return Err(Failure::not_found(format!(
            "{base} is not among the templates that {registry} lists; see dm templates"
        )));
    };
    let now = place.release(client, &spelled).await?;
    let below = place.versions.iter().filter_map(|name| {
        let listed = name.parse::<Version>().ok()?;
        (listed < version).then_some((listed, name))
    });
    let before = below.max();
    Ok(TestSubject {
        shown,
        example: tried(now.bundle_of(reference))?,
        promises: match before {
            None => Previous::first(),
            Some((_, name)) => {
                let before = place.release(client, name).await?;
                Previous::Version(Box::new([before, now]))
            }
        },
    })
}

/// The manager makes a template from a package. That template has no schema and no file of its own.
fn is_package(described: &TemplateDescription) -> bool {
    let url = described.resolved.url.as_str();
    url.strip_suffix(CHART)
        .is_some_and(|before| before.ends_with(['/', '#']))
}

fn package(
    shown: String,
    base: &str,
    described: &TemplateDescription,
    reference: &str,
) -> Result<TestSubject, Failure> {
    let name = base.rsplit('/').next().unwrap_or(base);
    let own = common::registry::package::example(name, reference);
    Ok(TestSubject {
        shown,
        example: Ok(Bundle {
            content: described.example.clone().unwrap_or(own),
            ..Bundle::default()
        }),
        promises: Previous::None("a package promises no properties and no outputs".to_owned()),
    })
}

/// Where a template is in its registry.
struct RegistryLocation {
    registry: String,
    template: String,
    folder: FilePath,
    versions: Vec<String>,
}

impl RegistryLocation {
    /// The folder of a collection is in the registry's metadata file.
    async fn find(
        client: &ManagerClient,
        registry: &RegistrySummary,
        base: &str,
    ) -> Result<Option<Self>, Failure> {
        let within = base
            .strip_prefix(registry.name.as_str())
            .and_then(|rest| rest.strip_prefix('/'));
        let name = within.unwrap_or(base);
        let collected = registry.definition.collection.as_ref();
        let collected = collected.map(|collection| format!("{collection}/{name}"));
        let all =
            all_pages(|page| async move { client.templates(&registry.name, None, &page).await })
                .await?;
        let is_it = |listed: &str| listed == name || Some(listed) == collected.as_deref();
        let Some(found) = all.items.into_iter().find(|listed| is_it(&listed.name)) else {
            return Ok(None);
        };
        let folder = match found.name.split_once('/') {
            None => FilePath::parse(&found.name).map_err(failed)?,
            Some((collection, template)) => {
                let known = known(client, &registry.name).await?;
                let folder = known.folder(collection).map_err(failed)?;
                folder.join_text(template).map_err(failed)?
            }
        };
        Ok(Some(Self {
            registry: registry.name.clone(),
            template: name.rsplit('/').next().unwrap_or(name).to_owned(),
            folder,
            versions: found.versions,
        }))
    }

    /// A version with the files that its expansion needs: the template, the example, and their imports.
    async fn release(
        &self,
        client: &ManagerClient,
        version: &str,
    ) -> Result<TemplateVersion, Failure> {
        let folder = self.folder.join_text(version).map_err(failed)?;
        let mut texts = BTreeMap::new();
        let named = language::files_of(&self.template).into_iter();
        let named = named.map(|file| file.name);
        let mut wanted: Vec<String> = named.chain([EXAMPLE.to_owned()]).collect();
        let mut asked = BTreeSet::new();
        while let Some(path) = wanted.pop() {
            // A file outside the folder does not belong to the version. Its import is reported as missing.
            let Ok(place) = folder.join_text(&path) else {
                continue;
            };
            if !asked.insert(path.clone()) || asked.len() > 2 * IMPORTS {
                continue;
            }
            let Some(text) = self.text(client, &place).await? else {
                continue;
            };
            if path.ends_with(SCHEMA) || path == EXAMPLE {
                let declared = imports::declared(&text, &path)?;
                wanted.extend(declared.iter().map(|import| beside(&path, &import.path)));
            } else {
                wanted.push(format!("{path}{SCHEMA}"));
            }
            texts.insert(path, text);
        }
        let files = Rc::new(Files::Archive(texts));
        let number = version.parse().ok();
        Ok(TemplateVersion::read(
            &self.template,
            number,
            folder.as_str(),
            files,
        )?)
    }

    async fn text(
        &self,
        client: &ManagerClient,
        place: &FilePath,
    ) -> Result<Option<String>, Failure> {
        let bytes = downloaded(client, &self.registry, place.as_str()).await?;
        // Only text files can be imported.
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}

async fn known(client: &ManagerClient, registry: &str) -> Result<Collections, Failure> {
    let Some(bytes) = downloaded(client, registry, collections::FILE).await? else {
        return Ok(Collections::default());
    };
    let parsed = Collections::parse(&String::from_utf8_lossy(&bytes));
    parsed.map_err(|faults| {
        let (file, faults) = (collections::FILE, faults.join("; "));
        Failure::failed(format!("{file} of {registry} cannot be read: {faults}"))
    })
}

async fn downloaded(
    client: &ManagerClient,
    registry: &str,
    path: &str,
) -> Result<Option<Vec<u8>>, ClientError> {
    match client.download(registry, path).await {
        Ok(bytes) => Ok(Some(bytes.to_vec())),
        Err(ClientError::Answered(body)) if is_absence(body.code) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absence(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NotFound | ErrorCode::TemplateNotFound)
}

fn failed(error: PathError) -> Failure {
    Failure::failed(error.to_string())
}
