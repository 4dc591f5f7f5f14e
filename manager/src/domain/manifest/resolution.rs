//! What a manifest's template references resolved to. It is recorded completely, so that later operations can reuse it
//! or compare.

use std::collections::BTreeMap;

use common::model::{Import, ManifestName, ResolvedType, Scope, TypeName};
use serde::{Deserialize, Serialize};

/// A template reference with the files that it resolved to. It is stored, so a change here changes the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    pub resolved: ResolvedType,
    /// The registry and collection of short references in the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    pub imports: Vec<Import>,
}

/// Everything that a manifest resolved. Empty if there is no manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    pub manifest: Option<ManifestName>,
    templates: BTreeMap<TypeName, Recorded>,
}

impl Record {
    pub fn new(manifest: ManifestName, templates: Vec<Recorded>) -> Self {
        let keyed = |template: Recorded| (template.resolved.type_name.clone(), template);
        Self {
            manifest: Some(manifest),
            templates: templates.into_iter().map(keyed).collect(),
        }
    }

    pub fn get(&self, reference: &TypeName) -> Option<&Recorded> {
        self.templates.get(reference)
    }
}

/// A sentence for each reference that resolves differently now.
pub fn changes(before: &[ResolvedType], now: &[ResolvedType]) -> Vec<String> {
    let earlier: BTreeMap<_, _> = before.iter().map(|old| (&old.type_name, old)).collect();
    let pairs = now
        .iter()
        .filter_map(|new| Some((*earlier.get(&new.type_name)?, new)));
    pairs.filter_map(|(old, new)| change(old, new)).collect()
}

fn change(old: &ResolvedType, new: &ResolvedType) -> Option<String> {
    let reference = &new.type_name;
    match (&old.version, &new.version) {
        (Some(old), Some(new)) if old != new => {
            Some(format!("{reference} is now {new} (was {old})"))
        }
        _ if old.sha256 == new.sha256 => None,
        (Some(_), Some(version)) => Some(format!(
            "ATTENTION: {reference} still is {version}, but {} of {version} changed since it was deployed: a published \
             version must not change; ask its publisher, or keep what was deployed with locked=true",
            changed_files(old, new)
        )),
        _ => Some(format!("{reference} has changed since it was deployed")),
    }
}

/// The files that differ, if both sides know theirs.
fn changed_files(old: &ResolvedType, new: &ResolvedType) -> String {
    let earlier: BTreeMap<_, _> = old
        .files
        .iter()
        .map(|file| (&file.name, &file.sha256))
        .collect();
    let is_changed = |name: &String, sha256: &String| earlier.get(name) != Some(&sha256);
    let mut changed: Vec<&str> = new
        .files
        .iter()
        .filter(|file| is_changed(&file.name, &file.sha256))
        .map(|file| file.url.rsplit('/').next().unwrap_or(&file.url))
        .collect();
    let kept = |name: &String| new.files.iter().any(|file| file.name == *name);
    let gone = old.files.iter().filter(|file| !kept(&file.name));
    changed.extend(gone.map(|file| file.url.rsplit('/').next().unwrap_or(&file.url)));
    match old.files.is_empty() || changed.is_empty() {
        true => "files".to_owned(),
        false => changed.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(version: Option<&str>, schema: &str) -> Vec<ResolvedType> {
        let file = |name: &str, sha256: &str| json!({"name": name, "url": format!("https://host/{name}"), "sha256": sha256});
        let files = json!([
            file("redis.jinja", "sha256:1"),
            file("redis.jinja.schema", schema)
        ]);
        let resolved = json!({
            "type": "redis:v1", "version": version, "url": "https://host/redis.jinja", "sha256": schema, "files": files,
        });
        serde_json::from_value(json!([resolved])).unwrap()
    }

    #[test]
    fn what_resolves_to_the_same_is_not_told() {
        let same = resolved(Some("v1.0.1"), "sha256:2");
        assert!(changes(&same, &same).is_empty());
        assert!(changes(&[], &same).is_empty(), "nor what is new");
        assert!(changes(&same, &[]).is_empty(), "nor what is gone");
    }

    #[test]
    fn another_version_is_told_with_both() {
        let (old, new) = (
            resolved(Some("v1.0.1"), "sha256:2"),
            resolved(Some("v1.0.2"), "sha256:3"),
        );
        assert_eq!(changes(&old, &new), ["redis:v1 is now v1.0.2 (was v1.0.1)"]);
    }

    #[test]
    fn a_version_that_changed_is_told_louder_with_its_files() {
        let (old, new) = (
            resolved(Some("v1.0.1"), "sha256:2"),
            resolved(Some("v1.0.1"), "sha256:3"),
        );
        let reported = changes(&old, &new).remove(0);
        let expected =
            "ATTENTION: redis:v1 still is v1.0.1, but redis.jinja.schema of v1.0.1 changed";
        assert!(reported.starts_with(expected), "{reported}");
        assert!(reported.contains("must not change"), "{reported}");
    }

    #[test]
    fn a_file_behind_a_url_may_change_and_is_told() {
        let (old, new) = (resolved(None, "sha256:2"), resolved(None, "sha256:3"));
        assert_eq!(
            changes(&old, &new),
            ["redis:v1 has changed since it was deployed"]
        );
    }
}
