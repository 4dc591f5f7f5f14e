//! The grammar of template references. It does not know whether a template exists.
//!
//! ```text
//! http(s)://host/path/file with the ending of a language
//! github.com/<owner>/<repository>/[<collection>/]<template>:<version>
//! [<registered registry>/][<collection>/]<template>:<version>
//! helm:…, oci://…                                               a Helm chart
//! ```
//!
//! Only a collection may come between registry and template (docs/reference/registries.md). A first part that is the
//! name of a registered registry means that registry, not a collection.

use common::address::without_user;
use common::model::registry::scope::is_part;
use common::model::{Version, language};
use url::Url;

use super::chart::{self, ChartReference};

/// The parts of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    Url {
        /// The folder, with a `/` at its end.
        base: Url,
        /// The template's file name, percent-decoded.
        file: String,
    },
    Github {
        owner: String,
        repository: String,
        template: TemplateVersion,
    },
    Registered {
        /// Absent: the default registry.
        registry: Option<String>,
        template: TemplateVersion,
    },
    Chart(ChartReference),
}

/// The part of a reference that every registry understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVersion {
    /// Absent: the unnamed collection at the root of the registry.
    pub collection: Option<String>,
    pub template: String,
    pub version: Version,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a template reference: {reason}")]
pub struct ReferenceError {
    text: String,
    reason: String,
}

const GITHUB: &str = "github.com/";

impl Reference {
    /// Whether a text is meant as a template reference. It may be malformed.
    pub fn is_meant(text: &str) -> bool {
        is_url(text)
            || chart::is_meant(text)
            || text.starts_with(GITHUB)
            || text
                .rsplit_once(':')
                .is_some_and(|(path, version)| is_version(version) && path.split('/').all(is_part))
    }

    /// Whether the reference has so many parts that the first one must be a registered registry.
    pub fn is_of_registry(text: &str) -> bool {
        let is_other = is_url(text) || chart::is_meant(text) || text.starts_with(GITHUB);
        !is_other && versioned(text).is_ok_and(|(parts, _)| parts.len() == 3)
    }

    /// `registered` are the names of registered registries.
    pub fn parse(text: &str, registered: &[&str]) -> Result<Self, ReferenceError> {
        let parsed = match text.strip_prefix(GITHUB) {
            _ if is_url(text) => parse_url(text),
            _ if chart::is_meant(text) => chart::parse(text).map(Reference::Chart),
            Some(rest) => parse_github(rest),
            None => parse_registered(text, registered),
        };
        parsed.map_err(|reason| ReferenceError {
            text: without_user(text).chars().take(200).collect(),
            reason,
        })
    }
}

fn is_url(text: &str) -> bool {
    let scheme = |prefix: &str| {
        text.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    scheme("http://") || scheme("https://")
}

fn is_version(text: &str) -> bool {
    text.parse::<Version>().is_ok()
}

fn parse_url(text: &str) -> Result<Reference, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a type must not contain credentials; remove them from the URL".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the URL must end with the file's name, without '?' and '#'".to_owned());
    }
    let last = url
        .path_segments()
        .and_then(|mut segments| segments.next_back())
        .unwrap_or_default();
    let file = percent_decoded(last).ok_or("the file's name is not UTF-8")?;
    if !language::is_template_name(&file) || file.starts_with('.') {
        return Err(format!(
            "the URL must name a file that ends with {}",
            language::endings()
        ));
    }
    let base = url.join(".").map_err(|error| error.to_string())?;
    Ok(Reference::Url { base, file })
}

fn percent_decoded(text: &str) -> Option<String> {
    percent_encoding::percent_decode_str(text)
        .decode_utf8()
        .ok()
        .map(|text| text.into_owned())
}

fn parse_github(rest: &str) -> Result<Reference, String> {
    const GRAMMAR: &str =
        "write it like github.com/<owner>/<repository>/[<collection>/]<template>:<version>";
    let (parts, version) = versioned(rest)?;
    let (owner, repository, collection, template) = match parts[..] {
        [owner, repository, template] => (owner, repository, None, template),
        [owner, repository, collection, template] => {
            (owner, repository, Some(collection), template)
        }
        _ => return Err(GRAMMAR.to_owned()),
    };
    Ok(Reference::Github {
        owner: owner.to_owned(),
        repository: repository.to_owned(),
        template: TemplateVersion {
            collection: collection.map(str::to_owned),
            template: template.to_owned(),
            version,
        },
    })
}

fn parse_registered(text: &str, registered: &[&str]) -> Result<Reference, String> {
    const GRAMMAR: &str =
        "write it like [<collection>/]<template>:<version>, or begin it with a registry's name";
    let (parts, version) = versioned(text)?;
    let (registry, rest) = match parts.split_first() {
        Some((first, rest)) if !rest.is_empty() && registered.contains(first) => {
            (Some((*first).to_owned()), rest)
        }
        _ => (None, &parts[..]),
    };
    let (collection, template) = match *rest {
        [template] => (None, template),
        [collection, template] => (Some(collection.to_owned()), template),
        _ => return Err(GRAMMAR.to_owned()),
    };
    let template = template.to_owned();
    Ok(Reference::Registered {
        registry,
        template: TemplateVersion {
            collection,
            template,
            version,
        },
    })
}

/// The parts and the version of `a/b/c:v1`.
fn versioned(text: &str) -> Result<(Vec<&str>, Version), String> {
    let (path, version) = text
        .rsplit_once(':')
        .ok_or("it has no version; end it with one, such as ':v1'")?;
    let version = version
        .parse::<Version>()
        .map_err(|error| error.to_string())?;
    let parts: Vec<_> = path.split('/').collect();
    match parts.iter().find(|part| !is_part(part)) {
        Some(part) => Err(format!("{part:?} is not a name that a registry can have")),
        None => Ok((parts, version)),
    }
}

#[cfg(test)]
mod tests;
