//! The kinds that a cluster serves, and which of them a type means.

pub(super) mod openshift;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use common::model::ObjectRef;
use serde_json::Value;

use crate::kubectl::ServedKind;

/// A kind as a type or an object names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub api_version: Option<String>,
    pub kind: String,
}

impl Wanted {
    /// Reads a type: `Deployment`, `apps/v1/Deployment` or `apps/v1:Deployment`.
    pub fn parse(type_name: &str) -> Self {
        match type_name.rsplit_once([':', '/']) {
            Some((api_version, kind)) if !api_version.is_empty() => Self {
                api_version: Some(api_version.to_owned()),
                kind: kind.to_owned(),
            },
            _ => Self {
                api_version: None,
                kind: type_name.to_owned(),
            },
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.api_version {
            Some(api_version) => write!(f, "{api_version}/{}", self.kind),
            None => f.write_str(&self.kind),
        }
    }
}

/// Why a type means no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    #[error("the cluster serves no kind {wanted}{}", suggestion(.near))]
    Unknown { wanted: String, near: Vec<String> },
    #[error("the cluster serves no kind {wanted}, which is one of OpenShift: {instead}")]
    OpenShift {
        wanted: String,
        instead: &'static str,
    },
    #[error("several API groups serve the kind {kind}: write one of {}", .choices.join(", "))]
    Ambiguous { kind: String, choices: Vec<String> },
}

fn suggestion(near: &[String]) -> String {
    if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", near.join(" or "))
    }
}

/// What the cluster serves, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Each kind of each group, in the version that the cluster prefers.
    preferred: BTreeMap<String, Vec<ServedKind>>,
    /// Versions that were requested by name. Those without kinds are not served.
    versions: BTreeMap<String, Vec<ServedKind>>,
}

/// The maximum edit distance of a suggestion.
const NEAR: usize = 3;
const SUGGESTIONS: usize = 3;

impl Catalog {
    pub fn new(preferred: Vec<ServedKind>) -> Self {
        let mut by_kind: BTreeMap<String, Vec<ServedKind>> = BTreeMap::new();
        for kind in preferred {
            by_kind.entry(kind.kind.clone()).or_default().push(kind);
        }
        Self {
            preferred: by_kind,
            versions: BTreeMap::new(),
        }
    }

    /// Adds all kinds of a version that is not the preferred one.
    pub fn add_version(&mut self, api_version: &str, kinds: Vec<ServedKind>) {
        self.versions.insert(api_version.to_owned(), kinds);
    }

    /// Whether the cluster was already asked for this version.
    pub fn knows_version(&self, api_version: &str) -> bool {
        self.versions.contains_key(api_version)
    }

    /// Adds the kinds that a CustomResourceDefinition is going to define. Kinds that are already served do not change.
    pub fn add_definition(&mut self, definition: &Value) {
        for kind in defined_kinds(definition) {
            let known = self.preferred.entry(kind.kind.clone()).or_default();
            let is_new = !known.iter().any(|other| other.group() == kind.group());
            if is_new {
                known.push(kind.clone());
            }
            let version = self.versions.entry(kind.api_version.clone()).or_default();
            if !version.iter().any(|other| other.kind == kind.kind) {
                version.push(kind);
            }
        }
    }

    /// Every kind, in the version that the cluster prefers.
    pub fn kinds(&self) -> impl Iterator<Item = &ServedKind> {
        self.preferred.values().flatten()
    }

    /// The kind that a type or an object means.
    pub fn find(&self, wanted: &Wanted) -> Result<&ServedKind, KindError> {
        match &wanted.api_version {
            Some(api_version) => self
                .in_version(api_version, &wanted.kind)
                .ok_or_else(|| self.unknown(wanted)),
            None => self.best(wanted),
        }
    }

    fn in_version(&self, api_version: &str, kind: &str) -> Option<&ServedKind> {
        let preferred = self
            .preferred
            .get(kind)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let others = self
            .versions
            .get(api_version)
            .map(Vec::as_slice)
            .unwrap_or_default();
        preferred
            .iter()
            .chain(others)
            .find(|served| served.api_version == api_version && served.kind == kind)
    }

    /// The kind of a recorded object, in a version that is served now.
    pub fn current(&self, object: &ObjectRef) -> Option<&ServedKind> {
        let exact = self.in_version(&object.api_version, &object.kind);
        exact.or_else(|| {
            self.preferred
                .get(&object.kind)?
                .iter()
                .find(|served| served.group() == object.group())
        })
    }

    /// The recorded object in a version that is served now. `None` if its kind is not served any more.
    pub fn served(&self, object: &ObjectRef) -> Option<ObjectRef> {
        Some(ObjectRef {
            api_version: self.current(object)?.api_version.clone(),
            ..object.clone()
        })
    }

    /// The core group first, then Kubernetes' own groups, then others. Stable before beta before alpha.
    fn best(&self, wanted: &Wanted) -> Result<&ServedKind, KindError> {
        let served = self
            .preferred
            .get(&wanted.kind)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let precedence =
            |kind: &&ServedKind| (origin(kind.group()), instability(&kind.api_version));
        let Some(best) = served.iter().min_by_key(precedence) else {
            return Err(self.unknown(wanted));
        };
        let rivals: BTreeSet<&str> = served
            .iter()
            .filter(|kind| origin(kind.group()) == origin(best.group()))
            .map(ServedKind::group)
            .collect();
        if rivals.len() > 1 && origin(best.group()) == Origin::Foreign {
            let choices = served
                .iter()
                .map(|kind| format!("{}/{}", kind.api_version, kind.kind))
                .collect();
            return Err(KindError::Ambiguous {
                kind: wanted.kind.clone(),
                choices,
            });
        }
        Ok(best)
    }

    fn unknown(&self, wanted: &Wanted) -> KindError {
        if let Some(instead) = openshift::instead(wanted) {
            return KindError::OpenShift {
                wanted: wanted.to_string(),
                instead,
            };
        }
        let elsewhere = self.preferred.get(&wanted.kind).into_iter().flatten();
        let mut near: Vec<String> = elsewhere
            .map(|kind| format!("{}/{}", kind.api_version, kind.kind))
            .collect();
        if near.is_empty() {
            near = self.similar(&wanted.kind);
        }
        KindError::Unknown {
            wanted: wanted.to_string(),
            near,
        }
    }

    /// Kinds with a similar name, or with this plural.
    fn similar(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let limit = NEAR.min(text.chars().count() / 3 + 1);
        let length = text.chars().count();
        // The comparison takes the product of both lengths, so names of very different lengths are skipped.
        let to = |other: &str| match other.chars().count().abs_diff(length) > limit {
            true => usize::MAX,
            false => distance(&text, other),
        };
        let distance_to = |kind: &ServedKind| to(&kind.kind.to_lowercase()).min(to(&kind.resource));
        let all = self
            .preferred
            .values()
            .flatten()
            .map(|kind| (distance_to(kind), kind.kind.clone()));
        let near: BTreeSet<_> = all.filter(|(distance, _)| *distance <= limit).collect();
        let mut names: Vec<String> = near.into_iter().map(|(_, kind)| kind).collect();
        names.truncate(SUGGESTIONS);
        names
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Core,
    Kubernetes,
    Foreign,
}

fn origin(group: &str) -> Origin {
    match group {
        "" => Origin::Core,
        group if !group.contains('.') || group.ends_with(".k8s.io") => Origin::Kubernetes,
        _ => Origin::Foreign,
    }
}

fn instability(api_version: &str) -> u8 {
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    if version.contains("alpha") {
        2
    } else {
        u8::from(version.contains("beta"))
    }
}

/// The best version first.
fn defined_kinds(definition: &Value) -> Vec<ServedKind> {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (Some(group), Some(kind), Some(resource)) = (
        text(&spec["group"]),
        text(&spec["names"]["kind"]),
        text(&spec["names"]["plural"]),
    ) else {
        return Vec::new();
    };
    let versions = spec["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["served"] != false);
    let mut kinds: Vec<ServedKind> = versions
        .filter_map(|version| {
            let api_version = format!("{group}/{}", version["name"].as_str()?);
            let namespaced = spec["scope"] != "Cluster";
            Some(ServedKind {
                api_version,
                kind: kind.clone(),
                resource: resource.clone(),
                namespaced,
                applicable: true,
            })
        })
        .collect();
    kinds.sort_by_key(|kind| instability(&kind.api_version));
    kinds
}

/// Levenshtein's distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
