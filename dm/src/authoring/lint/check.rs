//! Checks one subject.

use std::fs::File;
use std::path::Path;

use common::api::error::ErrorCode;
use common::api::manager::Expand;
use common::model::{DeploymentName, Version};
use common::registry::SCHEMA;
use common::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::find::{Kind, Subject};
use super::{names, sample};
use crate::authoring::package;
use crate::authoring::version::{EXAMPLE, TemplateVersion};
use crate::bundle::Bundle;
use crate::bundle::files::{self, Files};
use crate::client::target::{ChartFlags, PropertyFlags, Target};
use crate::error::Failure;
use crate::local::{self, LocalError};
use crate::terminal::Terminal;

/// What the deployment of an expansion is called: nobody sees it.
pub const NAME: &str = "lint";

/// # Errors
/// The check itself could not be made.
pub async fn faults(subject: &Subject, terminal: &mut Terminal<'_>) -> Result<Vec<Fault>, Failure> {
    let path = subject.path.as_path();
    match &subject.kind {
        Kind::Configuration | Kind::Chart => with(path, Map::new(), terminal).await,
        Kind::Schema => Ok(schema(path).err().into_iter().collect()),
        Kind::Template => template(path, terminal).await,
        Kind::Version(file) => version(path, file, terminal).await,
    }
}

async fn template(path: &Path, terminal: &mut Terminal<'_>) -> Result<Vec<Fault>, Failure> {
    let file = path.display().to_string();
    let schema = match schema(&beside(path)) {
        Ok(schema) => schema,
        Err(fault) => return Ok(vec![fault]),
    };
    let mut faults = match text(path) {
        Ok(text) => names::unknown(&file, &text, schema.as_ref()),
        Err(fault) => return Ok(vec![fault]),
    };
    let made = schema.as_ref().map(sample::properties).unwrap_or_default();
    faults.extend(with(path, made, terminal).await?);
    Ok(faults)
}

/// The folder of a version: what publishing asks for, and its example.
async fn version(
    folder: &Path,
    file: &str,
    terminal: &mut Terminal<'_>,
) -> Result<Vec<Fault>, Failure> {
    let checked = package::CheckedVersion::read(folder, package::Signature::Kept);
    let mut faults = match checked {
        Ok(_) => Vec::new(),
        Err(package::CheckError::Faulty { faults, .. }) => faults
            .iter()
            .map(|fault| in_folder(folder, fault))
            .collect(),
        Err(error) => return Err(error.into()),
    };
    let path = folder.join(file);
    if !folder.join(EXAMPLE).is_file() {
        faults.extend(template(&path, terminal).await?);
        return Ok(faults);
    }
    if let (Ok(text), Ok(schema)) = (text(&path), schema(&beside(&path))) {
        let shown = path.display().to_string();
        faults.extend(names::unknown(&shown, &text, schema.as_ref()));
    }
    let bundle = match example(folder, file) {
        Ok(bundle) => bundle,
        Err(sentence) => {
            faults.push(Fault::of_sentence(
                &folder.join(EXAMPLE).display().to_string(),
                &sentence,
            ));
            return Ok(faults);
        }
    };
    faults.extend(expanded(&folder.display().to_string(), bundle).await?);
    Ok(faults)
}

fn example(folder: &Path, file: &str) -> Result<Bundle, String> {
    let whole = folder.canonicalize().map_err(|error| error.to_string())?;
    let number: Option<Version> = whole
        .file_name()
        .and_then(|name| name.to_str()?.parse().ok());
    let template = file.split('.').next().unwrap_or_default();
    let files = std::rc::Rc::new(Files::Folder(folder.to_owned()));
    let read = TemplateVersion::read(template, number, &folder.display().to_string(), files);
    let bundle = read.and_then(|version| version.bundle());
    bundle.map_err(|error| error.to_string())
}

/// A sentence of the package's check, which begins with the name of the file.
fn in_folder(folder: &Path, fault: &str) -> Fault {
    let (file, message) = fault.split_once(": ").unwrap_or(("", fault));
    match folder.join(file).is_file() && !file.is_empty() {
        true => Fault::of_sentence(&folder.join(file).display().to_string(), message),
        false => Fault::new(&folder.display().to_string(), fault),
    }
}

fn beside(template: &Path) -> std::path::PathBuf {
    let mut name = template.as_os_str().to_owned();
    name.push(SCHEMA);
    name.into()
}

fn text(path: &Path) -> Result<String, Fault> {
    let fault = |reason: String| Fault::new(&path.display().to_string(), reason);
    let file = File::open(path).map_err(|error| fault(error.to_string()))?;
    files::text(file).map_err(|error| fault(error.to_string()))
}

/// The schema of a template, if there is one.
fn schema(path: &Path) -> Result<Option<Value>, Fault> {
    if !path.is_file() {
        return Ok(None);
    }
    let file = path.display().to_string();
    let document = yaml::read(&text(path)?, &Limits::DEFAULT, Duplicates::Error);
    let document = document.map_err(|error| Fault::of_yaml(&file, &error))?;
    match document.value {
        schema @ Value::Object(_) => Ok(Some(schema)),
        Value::Null => Ok(None),
        _ => Err(Fault::new(&file, "a schema must be a map")),
    }
}

/// Expands a file or a chart with these properties.
async fn with(
    path: &Path,
    properties: Map<String, Value>,
    terminal: &mut Terminal<'_>,
) -> Result<Vec<Fault>, Failure> {
    let file = path.display().to_string();
    let is_made_up = !properties.is_empty();
    let target = Target {
        target: Some(file.clone()),
        file: Vec::new(),
        imports: Vec::new(),
        stdin: false,
        name: Some(DeploymentName::parse(NAME)?),
        properties: PropertyFlags::default(),
        registry: None,
        chart: ChartFlags::default(),
    };
    let mut bundle = match target.resolve(terminal) {
        Ok(resolved) => resolved.bundle,
        Err(failure) => return Ok(vec![Fault::of_sentence(&file, &failure.to_string())]),
    };
    if is_made_up {
        bundle.content = made(&file, properties);
    }
    let mut faults = expanded(&file, bundle).await?;
    if is_made_up {
        for fault in &mut faults {
            fault.message += " (with made-up properties; an example.yaml has real ones)";
        }
    }
    Ok(faults)
}

/// The configuration of one instance, as for `dm deploy FILE`.
fn made(file: &str, properties: Map<String, Value>) -> String {
    let type_name = file.rsplit('/').next().unwrap_or_default();
    let resource = json!({"name": NAME, "type": type_name, "properties": properties});
    yaml::write(&json!({"resources": [resource]})).unwrap_or_default()
}

async fn expanded(file: &str, bundle: Bundle) -> Result<Vec<Fault>, Failure> {
    let request = Expand {
        name: DeploymentName::parse(NAME)?,
        content: bundle.content.clone(),
        imports: bundle.imports,
        namespace: None,
        cluster: None,
        seed: None,
        capabilities: None,
    };
    Ok(match local::expansion(request).await {
        Ok(_) => Vec::new(),
        // Properties that must be given are no mistake of the template.
        Err(LocalError::Answered(body))
            if body.code == ErrorCode::InvalidProperties && is_made(&bundle.content) =>
        {
            Vec::new()
        }
        Err(LocalError::Answered(body)) => Fault::of_answer(&body, &bundle.sources, file),
        Err(LocalError::Unresolved(types)) => types
            .iter()
            .map(|found| unresolved(file, &bundle.content, &found.to_string()))
            .collect(),
        Err(error) => return Err(error.into()),
    })
}

/// Whether the configuration is the one that is made for a template.
fn is_made(content: &str) -> bool {
    content.contains(&format!("name: {NAME}\n"))
}

/// At the line that names the type.
fn unresolved(file: &str, content: &str, message: &str) -> Fault {
    let name = message.split('\'').nth(1).unwrap_or_default();
    let written = content.match_indices(name).find(|(at, _)| {
        let before = content.get(..*at).unwrap_or_default();
        before.trim_end_matches([' ', '"', '\'']).ends_with("type:")
    });
    match written {
        Some((byte, _)) => Fault::at(file, content, byte, message),
        None => Fault::new(file, message),
    }
}
