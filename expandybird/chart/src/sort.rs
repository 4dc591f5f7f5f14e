//! From the output of templates to manifests and hooks: the split, and the order by kind.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::error::ChartError;
use crate::hook::{self, Hook};
use crate::manifest::{Manifest, read};

/// The order in which Helm installs objects. Other kinds come after these, by their names.
const ORDER: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// The place of a kind in the order of installation. Kinds without a place are last, by their names.
#[must_use]
pub fn kind_rank(kind: &str) -> (usize, &str) {
    match ORDER.iter().position(|known| *known == kind) {
        Some(rank) => (rank, ""),
        None => (ORDER.len(), kind),
    }
}

/// What the templates wrote, in order.
#[derive(Default)]
pub struct Sorted {
    pub manifests: Vec<Manifest>,
    pub hooks: Vec<Hook>,
    pub warnings: Vec<String>,
}

/// Splits the outputs, which are by the paths of their templates.
pub fn sorted(outputs: &BTreeMap<String, Vec<u8>>) -> Result<Sorted, ChartError> {
    let mut sorted = Sorted::default();
    for (path, output) in outputs {
        for (line, part) in parts(output) {
            let (manifest, head) = read(path, line, part)?;
            match hook::read(manifest, &head) {
                hook::Read::Manifest(manifest) => sorted.manifests.push(manifest),
                hook::Read::Hook(hook) => sorted.hooks.push(hook),
                hook::Read::Dropped(words) => sorted.warnings.push(format!(
                    "{path}: the object with {}: {words:?} is left out, as Helm does; write events that Helm has",
                    hook::ANNOTATION
                )),
            }
        }
    }
    let rank = |manifest: &Manifest| {
        let (rank, kind) = kind_rank(&manifest.kind);
        (rank, kind.to_owned())
    };
    sorted.manifests.sort_by_cached_key(rank);
    sorted.hooks.sort_by_cached_key(|hook| rank(&hook.manifest));
    Ok(sorted)
}

static SEPARATOR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)^---[ \t]*").ok());

/// The parts of a text, each with its first line, from 1.
pub fn parts(text: &[u8]) -> Vec<(usize, &[u8])> {
    let whole = trimmed(text);
    let Some(separator) = SEPARATOR.as_ref() else {
        return Vec::new();
    };
    let parts = separator.split(whole).map(trimmed);
    let parts = parts.filter(|part| !part.is_empty());
    // The lines of all parts together are counted once: there may be thousands of parts.
    let (mut line, mut counted) = (1, 0);
    let located = parts.map(|part| {
        let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        let since = text.get(counted..start).unwrap_or_default();
        line += since.iter().filter(|&&byte| byte == b'\n').count();
        counted = start;
        (line, part)
    });
    located.collect()
}

/// The text without white space before it.
fn trimmed(text: &[u8]) -> &[u8] {
    match std::str::from_utf8(text) {
        Ok(text) => text.trim_start().as_bytes(),
        Err(_) => text.trim_ascii_start(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of these pieces in all orders of five.
    #[test]
    fn each_part_has_the_line_at_which_it_begins() {
        let pieces = ["---\n", "--- \t", "\n", "  a: 1\n", "b"];
        for number in 0..pieces.len().pow(5) {
            let digits = (0..5).map(|place| number / pieces.len().pow(place) % pieces.len());
            let text: String = digits.map(|digit| pieces[digit]).collect();
            for (line, part) in parts(text.as_bytes()) {
                let start = part.as_ptr().addr() - text.as_ptr().addr();
                let before = text[..start].matches('\n').count();
                assert_eq!(line, 1 + before, "{text:?}");
            }
        }
    }
}
