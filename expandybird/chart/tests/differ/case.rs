//! One chart with the values of its user: a text with all files, or made at random.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// A chart and values.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub files: BTreeMap<String, Vec<u8>>,
    pub values: Value,
}

/// The file of a case that has the values of the user.
const USER_VALUES: &str = "user-values.yaml";

impl Case {
    /// The chart in a folder, with its defaults.
    pub fn folder(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut pending = vec![folder.to_owned()];
        while let Some(place) = pending.pop() {
            if place.is_dir() {
                let entries = std::fs::read_dir(&place).expect("it is readable");
                pending.extend(entries.map(|entry| entry.expect("it is readable").path()));
                continue;
            }
            let path = place.strip_prefix(folder).expect("it is within");
            let data = std::fs::read(&place).expect("it is readable");
            files.insert(path.display().to_string(), data);
        }
        Self {
            name: folder.display().to_string(),
            files,
            values: Value::Object(serde_json::Map::new()),
        }
    }

    /// Reads `-- PATH --`, each with the lines that follow.
    pub fn read(name: &str, text: &str) -> Self {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut current = String::new();
        for line in text.split_inclusive('\n') {
            let header = line
                .trim_end()
                .strip_prefix("-- ")
                .and_then(|rest| rest.strip_suffix(" --"));
            match header {
                Some(path) => {
                    current = path.to_owned();
                    files.entry(current.clone()).or_default();
                }
                None => files
                    .entry(current.clone())
                    .or_default()
                    .extend(line.as_bytes()),
            }
        }
        files.remove("");
        let values = files.remove(USER_VALUES).unwrap_or_default();
        let values = expandybird_chart::yaml::read(&values).expect("the values are YAML");
        Self {
            name: name.to_owned(),
            files,
            values,
        }
    }
}
