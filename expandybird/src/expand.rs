//! `expandybird expand FILE [IMPORT…]`: the service's answer, without the service.
//!
//! Users name files and read YAML. Programs write a request for the service to standard input and read its answer from
//! standard output: `dm expand --local` does.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use common::api::expander::ExpandRequest;
use common::model::{Import, limits};
use common::server::Format;
use common::yaml;
use expandybird::admission::Caller;
use expandybird::flags::ExpandFlags;
use expandybird::service::{Asked, Expander};
use serde_json::{Map, Value};

pub async fn run(expander: &Expander, flags: &ExpandFlags) -> anyhow::Result<ExitCode> {
    match &flags.file {
        Some(file) => files(expander, file, flags).await?,
        None => return request(expander).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard input is local, but the limits of the service apply too. The answer is written as the process returned it.
async fn request(expander: &Expander) -> anyhow::Result<ExitCode> {
    let mut body = Vec::new();
    std::io::stdin()
        .take(limits::REQUEST_BYTES as u64)
        .read_to_end(&mut body)
        .context("cannot read the request")?;
    let asked = Asked {
        caller: Caller::default(),
        request_id: String::new(),
        format: Format::Json,
        body,
    };
    let mut output = std::io::stdout();
    match expander.answer(&asked, &|_| Ok(())).await {
        Ok(answer) => {
            output.write_all(&answer.body)?;
            Ok(match answer.code {
                None => ExitCode::SUCCESS,
                Some(_) => ExitCode::FAILURE,
            })
        }
        Err(error) => {
            serde_json::to_writer(output, &error.0)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

async fn files(expander: &Expander, file: &Path, flags: &ExpandFlags) -> anyhow::Result<()> {
    let content = text(file)?;
    let mut imports = flags
        .imports
        .iter()
        .map(|path| import(path))
        .collect::<Result<Vec<_>, _>>()?;
    add_named_imports(&content, file, &mut imports)?;
    let request = ExpandRequest {
        name: file.display().to_string(),
        content,
        imports,
        env: env(&flags.env)?,
        ..ExpandRequest::default()
    };
    let answer = match expander.expand(request).await {
        Ok(answer) => serde_json::to_value(answer)?,
        Err(error) => bail!("{}{}", place(&error.0), error.0.message),
    };
    print!("{}", yaml::write(&answer)?);
    Ok(())
}

fn place(error: &common::api::error::ErrorBody) -> String {
    let location = error
        .location
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    if location.is_empty() {
        location
    } else {
        format!("{location}: ")
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn import(path: &Path) -> anyhow::Result<Import> {
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    Ok(Import {
        name,
        path: Some(path.to_string_lossy().into_owned()),
        content: text(path)?,
    })
}

/// The `imports` of the configuration, relative to it, each with its schema and that schema's imports.
fn add_named_imports(content: &str, file: &Path, imports: &mut Vec<Import>) -> anyhow::Result<()> {
    // An unreadable text has no imports. The expansion reports what is wrong with it.
    let Ok(document) = yaml::read(content, &yaml::Limits::DEFAULT, yaml::Duplicates::Warn) else {
        return Ok(());
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    for (name, path) in named(&document.value) {
        add(name, &folder.join(path), imports)?;
    }
    Ok(())
}

fn add(name: String, path: &Path, imports: &mut Vec<Import>) -> anyhow::Result<()> {
    if imports.iter().any(|import| import.name == name) {
        return Ok(());
    }
    let shown = path.to_string_lossy().into_owned();
    imports.push(Import {
        content: text(path)?,
        path: Some(shown.clone()),
        name: name.clone(),
    });
    let schema = PathBuf::from(format!("{shown}.schema"));
    if !schema.exists() {
        return Ok(());
    }
    let schema_text = text(&schema)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Ok(document) = yaml::read(&schema_text, &yaml::Limits::DEFAULT, yaml::Duplicates::Warn) {
        for (name, path) in named(&document.value) {
            add(name, &folder.join(path), imports)?;
        }
    }
    imports.push(Import {
        name: format!("{name}.schema"),
        path: Some(schema.to_string_lossy().into_owned()),
        content: schema_text,
    });
    Ok(())
}

/// `imports: [{path, name?}]`.
fn named(value: &Value) -> Vec<(String, String)> {
    let entries = value
        .get("imports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let entry = |entry: &Value| {
        let path = entry.get("path")?.as_str()?;
        let name = entry.get("name").and_then(Value::as_str).unwrap_or(path);
        Some((name.to_owned(), path.to_owned()))
    };
    entries.filter_map(entry).collect()
}

fn env(pairs: &[String]) -> anyhow::Result<Map<String, Value>> {
    let pair = |pair: &String| {
        let (key, value) = pair
            .split_once('=')
            .with_context(|| format!("'{pair}' is not KEY=VALUE"))?;
        Ok((key.to_owned(), Value::from(value)))
    };
    pairs.iter().map(pair).collect()
}
