//! One chart with the values of its user: a text with all files, or made at random.

use std::collections::BTreeMap;

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
