//! What the files in `crds/` define.

use common_chart::File;
use serde_json::Value;

use crate::sort::parts;
use crate::yaml;

/// `GROUP/VERSION` and `GROUP/VERSION/KIND` of all that is defined and served. Files that cannot be read define nothing.
pub fn served(files: &[File]) -> Vec<String> {
    let parts = files.iter().flat_map(|file| parts(&file.data));
    let documents = parts.filter_map(|(_, part)| yaml::read(part).ok());
    documents.flat_map(|document| versions(&document)).collect()
}

fn versions(document: &Value) -> Vec<String> {
    let spec = &document["spec"];
    let (Some(group), Some(kind)) = (spec["group"].as_str(), spec["names"]["kind"].as_str()) else {
        return Vec::new();
    };
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    let names = served.filter_map(|version| version["name"].as_str());
    let both = names.map(|name| [format!("{group}/{name}"), format!("{group}/{name}/{kind}")]);
    both.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_versions_are_found_in_all_documents() {
        let file = File::new(
            "web/crds/all.yaml",
            "# first\n---\nspec: {group: a.b, names: {kind: A}, versions: [{name: v1, served: true}, {name: v2, served: false}]}\n---\nspec: {group: a.b, names: {kind: B}, versions: [{name: v1, served: true}]}\n",
        );
        let expected = ["a.b/v1", "a.b/v1/A", "a.b/v1", "a.b/v1/B"];
        assert_eq!(served(&[file]), expected);
    }
}
