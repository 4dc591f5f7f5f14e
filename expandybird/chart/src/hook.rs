//! Hooks: manifests that run at an event, and are no part of the release.

use crate::manifest::{Head, Manifest};

/// The annotation that makes a hook.
pub const ANNOTATION: &str = "helm.sh/hook";
const WEIGHT: &str = "helm.sh/hook-weight";
const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as in annotations")]
pub enum Event {
    PreInstall,
    PostInstall,
    PreDelete,
    PostDelete,
    PreUpgrade,
    PostUpgrade,
    PreRollback,
    PostRollback,
    Test,
}

impl Event {
    const ALL: [Self; 9] = [
        Self::PreInstall,
        Self::PostInstall,
        Self::PreDelete,
        Self::PostDelete,
        Self::PreUpgrade,
        Self::PostUpgrade,
        Self::PreRollback,
        Self::PostRollback,
        Self::Test,
    ];

    /// The word in annotations.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }

    fn find(word: &str) -> Option<Self> {
        match word {
            "test-success" => Some(Self::Test),
            word => Self::ALL.into_iter().find(|event| event.text() == word),
        }
    }
}

/// A manifest that runs at events.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The object.
    pub manifest: Manifest,
    /// When it runs.
    pub events: Vec<Event>,
    /// Hooks of one event run in the order of their weights, then of their names.
    pub weight: i64,
    /// When it is deleted, in Helm's words.
    pub delete_policies: Vec<String>,
}

/// What the annotations of a manifest make of it.
pub enum Read {
    Manifest(Manifest),
    Hook(Hook),
    /// An event is unknown: Helm drops the object. The words are for a warning.
    Dropped(String),
}

/// Reads the annotations of a manifest.
pub fn read(manifest: Manifest, head: &Head) -> Read {
    let Some(words) = head.annotation(ANNOTATION) else {
        return Read::Manifest(manifest);
    };
    let events = listed(words).map(|word| Event::find(&word));
    let Some(events) = events.collect::<Option<Vec<_>>>() else {
        return Read::Dropped(words.to_owned());
    };
    let weight = head.annotation(WEIGHT).unwrap_or_default();
    let policies = head.annotation(DELETE_POLICY);
    Read::Hook(Hook {
        manifest,
        events,
        weight: weight.parse().unwrap_or(0),
        delete_policies: policies.into_iter().flat_map(listed).collect(),
    })
}

fn listed(words: &str) -> impl Iterator<Item = String> {
    words.split(',').map(|word| word.trim().to_lowercase())
}
