//! Which live objects the other templates of a plan see.

use expandybird_chart::yaml;
use serde_json::Value;

use crate::action::Action;
use crate::error::PlanError;

/// Live objects of one plan. Each is a request to the cluster.
const MOST: usize = 64;

/// A live object that templates see under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the variable.
    pub key: String,
    /// As in manifests.
    pub api_version: String,
    /// As in manifests.
    pub kind: String,
    /// Its `metadata.name`.
    pub name: String,
    /// That of the instance if it is absent.
    pub namespace: Option<String>,
}

/// The sources that the template named. One without a name is none.
///
/// # Errors
/// It is not a map of such entries.
pub fn sources(text: &str) -> Result<Vec<Source>, PlanError> {
    let failed = |reason: String| PlanError::output(Action::Sources, reason);
    let read = yaml::read(text.as_bytes());
    let read = read.map_err(|error| failed(format!("unable to unmarshal from yaml: {error}")))?;
    let entries = match &read {
        Value::Null => return Ok(Vec::new()),
        Value::Object(entries) => entries,
        other => {
            let kind = yaml::kind(other);
            return Err(failed(format!(
                "unable to unmarshal from yaml: a {kind} is not a map"
            )));
        }
    };
    if entries.len() > MOST {
        return Err(failed(format!("it names more than {MOST} objects")));
    }
    let mut found = Vec::new();
    for (key, entry) in entries {
        found.extend(source(key, entry).map_err(|reason| failed(format!("{key}: {reason}")))?);
    }
    Ok(found)
}

fn source(key: &str, entry: &Value) -> Result<Option<Source>, String> {
    let entry = match entry {
        Value::Null => return Ok(None),
        Value::Object(entry) => entry,
        _ => return Err("it must be a map of apiVersion, kind, name and namespace".to_owned()),
    };
    let text = |field: &str| match entry.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        // A name of digits only is a number in YAML.
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(format!("{field} must be a text")),
    };
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    let (name, namespace) = (text("name")?, text("namespace")?);
    if name.is_empty() {
        return Ok(None);
    }
    if api_version.is_empty() || kind.is_empty() {
        return Err("apiVersion and kind are required".to_owned());
    }
    Ok(Some(Source {
        key: key.to_owned(),
        api_version,
        kind,
        name,
        namespace: Some(namespace).filter(|namespace| !namespace.is_empty()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_a_name_is_no_source() {
        let text = "a: {apiVersion: v1, kind: Secret, name: s, namespace: ns}\nb: {apiVersion: v1, kind: Pod, name: ''}\nc:\nd: {apiVersion: v1, kind: Pod, name: 12}\n";
        let found = sources(text).unwrap();
        let keys: Vec<_> = found
            .iter()
            .map(|one| (one.key.as_str(), one.name.as_str()))
            .collect();
        assert_eq!(keys, [("a", "s"), ("d", "12")]);
        assert_eq!(found[1].namespace, None);
    }

    #[test]
    fn other_forms_are_refused() {
        let many: String = (0..65).map(|n| format!("k{n}: {{}}\n")).collect();
        for (text, reason) in [
            ("[a]", "unable to unmarshal from yaml: a array is not a map"),
            ("a: [", "unable to unmarshal from yaml:"),
            ("a: text", "a: it must be a map"),
            ("a: {name: s}", "a: apiVersion and kind are required"),
            (
                "a: {name: {}, kind: b, apiVersion: v1}",
                "a: name must be a text",
            ),
            (&many, "more than 64 objects"),
        ] {
            let error = sources(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
