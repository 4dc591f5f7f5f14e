//! Where `dm process` finds its Template: a file, a URL, standard input, or the manager's store.

use std::path::Path;
use std::time::Duration;

use common::client::http;
use common::manifests;
use common::model::{Namespace, TemplateName};
use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use crate::bundle::BundleError;
use crate::bundle::files::{self, FILE_BYTES, ReadError};
use crate::client::session::Session;
use crate::client::target::split;
use crate::error::{ExitCode, Failure};

/// How long a server of files may take.
const FETCH: Duration = Duration::from_secs(60);

/// The text of a file, of a URL, or with `-` of standard input.
pub async fn text(file: &str, session: &mut Session<'_, '_>) -> Result<String, Failure> {
    let read = match file {
        "-" => files::text(&mut *session.terminal.stdin),
        url if url.starts_with("http://") || url.starts_with("https://") => fetched(url).await,
        file => {
            let (folder, name) = split(Path::new(file));
            folder.read(&name)
        }
    };
    let unreadable = |reason| BundleError::File {
        file: file.to_owned(),
        reason,
        asked: String::new(),
    };
    Ok(read.map_err(unreadable)?)
}

/// The answer of a server, at most as long as a file.
async fn fetched(url: &str) -> Result<String, ReadError> {
    let other = |error: &dyn std::error::Error| ReadError::Other(error.to_string());
    let client = http::builder().timeout(FETCH).build();
    let client = client.map_err(|error| other(&error))?;
    let sent = client.get(url).send().await;
    let answer = sent.and_then(|answer| answer.error_for_status());
    let mut answer = answer.map_err(|error| other(&error))?;
    let mut bytes = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| other(&error))? {
        if bytes.len() + part.len() > FILE_BYTES {
            return Err(ReadError::TooLarge);
        }
        bytes.extend_from_slice(&part);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::NotText)
}

/// The first Template of a text.
pub fn first_template(
    text: &str,
    file: &str,
    session: &mut Session<'_, '_>,
) -> Result<Value, Failure> {
    let mut templates = documents(text, file)?
        .into_iter()
        .filter(manifests::is_template);
    let first = templates.next();
    let others = templates.count();
    if others > 0 {
        let count = others + 1;
        session.terminal.note(&format!(
            "warning: {count} input templates found, but only the first will be processed"
        ));
    }
    let nothing = || {
        Failure::failed(format!(
            "{file} has no Template; it needs kind: Template, and apiVersion: v1 or template.openshift.io/v1"
        ))
    };
    first.ok_or_else(nothing)
}

fn documents(text: &str, file: &str) -> Result<Vec<Value>, Failure> {
    if let Ok(document) = manifests::read_template_object(text) {
        return Ok(vec![document]);
    }
    let documents = yaml::read_all(text, &Limits::DEFAULT, Duplicates::Error);
    let documents = documents.map_err(|error| BundleError::Malformed {
        place: format!("{file}:{}:{}", error.location.line, error.location.column),
        reason: error.kind.to_string(),
        excerpt: error.excerpt(),
    })?;
    Ok(documents.into_iter().map(|one| one.value).collect())
}

/// A stored Template: `name`, `template/name`, `ns/template/name` or `ns//name`.
pub async fn stored(
    text: &str,
    namespace: Option<Namespace>,
    session: &Session<'_, '_>,
) -> Result<Value, Failure> {
    let parts: Vec<_> = text.split('/').collect();
    let (stated, kind, name) = match parts[..] {
        [name] => (None, "template", name),
        [kind, name] => (None, kind, name),
        [namespace, "", name] => (Some(namespace), "template", name),
        [namespace, kind, name] => (Some(namespace), kind, name),
        _ => (None, text, ""),
    };
    if !matches!(kind, "template" | "templates") {
        let reason = format!("unable to process invalid resource {text:?}");
        return Err(Failure::usage(reason));
    }
    let stated = stated.map(Namespace::parse).transpose()?;
    let namespace = stated.or(namespace);
    let name = TemplateName::parse(name)?;
    let found = session.client.stored_template(namespace.as_ref(), &name);
    found.await.map_err(|error| {
        let failure = Failure::from(error);
        match failure.exit_code() {
            ExitCode::NotFound => {
                Failure::not_found(format!("template {text:?} could not be found"))
            }
            _ => failure,
        }
    })
}
