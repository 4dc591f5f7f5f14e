//! The Kubernetes objects of manifests, and what they are called as resources.
//!
//! A resource is named as its object; where several objects have one name, each gets its kind behind it, and where that is
//! not enough, its namespace and its API's group.

use std::collections::HashMap;

use crate::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value};

use super::PackageError;

#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub kind: String,
    pub value: Value,
    name: String,
    namespace: Option<String>,
    group: String,
}

/// The objects of a file, in their order; what stands in a List is as if it stood by itself.
pub fn read(file: &str, text: &str) -> Result<Vec<Object>, PackageError> {
    let documents = yaml::read_all(text, &Limits::DEFAULT, Duplicates::Error);
    let documents = documents.map_err(|source| PackageError::Yaml {
        file: file.to_owned(),
        source: Box::new(source),
    })?;
    let mut found = Vec::new();
    for (number, document) in documents.into_iter().enumerate() {
        let place = format!("document {}", number + 1);
        if !document.value.is_null() {
            unfold(document.value, place, &mut found).map_err(|(place, reason)| {
                PackageError::Object {
                    file: file.to_owned(),
                    place,
                    reason,
                }
            })?;
        }
    }
    Ok(found)
}

/// Recurses as deep as YAML is read, which is bounded. A fault names its place.
fn unfold(value: Value, place: String, found: &mut Vec<Object>) -> Result<(), (String, String)> {
    let Value::Object(mut map) = value else {
        return Err((place, "it is no map".to_owned()));
    };
    let is_list = text(&map, "kind").is_some_and(|kind| kind.ends_with("List"));
    if !is_list || !map.get("items").is_some_and(Value::is_array) {
        let object = Object::of(map).map_err(|reason| (place, reason))?;
        found.push(object);
        return Ok(());
    }
    let items = match map.remove("items") {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let mut items = items.into_iter().enumerate();
    items.try_for_each(|(index, item)| unfold(item, format!("{place}, items[{index}]"), found))
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = map.get(key).and_then(Value::as_str);
    text.filter(|text| !text.is_empty())
}

impl Object {
    fn of(map: Map<String, Value>) -> Result<Self, String> {
        let stated = |key: &str| text(&map, key).ok_or_else(|| format!("it has no {key}"));
        let (version, kind) = (stated("apiVersion")?, stated("kind")?);
        // Anything else could mean a template.
        if !kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("its kind {kind:?} is no kind of objects"));
        }
        let metadata = map.get("metadata").and_then(Value::as_object);
        let metadata = |key: &str| metadata.and_then(|metadata| text(metadata, key));
        let name = metadata("name").ok_or("it has no metadata.name")?;
        Ok(Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: metadata("namespace").map(str::to_owned),
            group: version
                .rsplit_once('/')
                .map_or("", |(group, _)| group)
                .to_owned(),
            value: Value::Object(map),
        })
    }

    /// The longer, the more it says.
    fn called(&self, length: usize) -> String {
        let kind = self.kind.to_ascii_lowercase();
        let around = [self.namespace.as_deref().unwrap_or_default(), &self.group];
        let parts = [self.name.as_str(), &kind].into_iter().chain(around);
        let parts: Vec<_> = parts.take(length).filter(|part| !part.is_empty()).collect();
        parts.join("-")
    }
}

const LONGEST: usize = 4;

/// Each with a name that no other one has; an object that is there twice is the error.
pub fn named(objects: Vec<Object>) -> Result<Vec<(String, Object)>, String> {
    let mut lengths = vec![1; objects.len()];
    for _ in 0..LONGEST {
        let names = names(&objects, &lengths);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *counts.entry(name).or_default() += 1;
        }
        let alike: Vec<bool> = names.iter().map(|name| counts[name.as_str()] > 1).collect();
        if !alike.contains(&true) {
            return Ok(names.into_iter().zip(objects).collect());
        }
        for (length, alike) in lengths.iter_mut().zip(&alike) {
            *length += usize::from(*alike && *length < LONGEST);
        }
    }
    let names = names(&objects, &lengths);
    let repeated = |(index, name): (usize, &String)| names[..index].contains(name);
    let twice = names.iter().enumerate().find(|&pair| repeated(pair));
    match twice {
        Some((_, name)) => Err(name.clone()),
        None => Ok(names.into_iter().zip(objects).collect()),
    }
}

fn names(objects: &[Object], lengths: &[usize]) -> Vec<String> {
    let pairs = objects.iter().zip(lengths);
    pairs
        .map(|(object, &length)| object.called(length))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, metadata: &str) -> String {
        format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {metadata}\n")
    }

    fn called(text: &str) -> Result<Vec<String>, String> {
        let named = named(read("m.yaml", text).unwrap())?;
        Ok(named.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn objects_that_are_called_alike_get_what_tells_them_apart() {
        let one = object("Service", "{name: web}");
        for (rest, names) in [
            (object("Service", "{name: db}"), vec!["web", "db"]),
            (
                object("Deployment", "{name: web}"),
                vec!["web-service", "web-deployment"],
            ),
            (
                object("Deployment", "{name: web}") + &object("Secret", "{name: web-service}"),
                vec!["web-service", "web-deployment", "web-service-secret"],
            ),
            (
                object("Service", "{name: web, namespace: a}"),
                vec!["web-service", "web-service-a"],
            ),
            (
                object("Service", "{name: web}").replace("v1", "serving.dev/v1"),
                vec!["web-service", "web-service-serving.dev"],
            ),
        ] {
            let text = format!("{one}{rest}");
            assert_eq!(
                called(&text),
                Ok(names.into_iter().map(str::to_owned).collect()),
                "{text}"
            );
        }
        assert_eq!(
            called(&format!("{one}{one}")),
            Err("web-service".to_owned())
        );
    }

    #[test]
    fn empty_documents_are_skipped_and_lists_are_unfolded() {
        let text = "# nothing\n---\n---\napiVersion: v1\nkind: List\nitems:\n\
                    - {apiVersion: v1, kind: Secret, metadata: {name: a, namespace: own}}\n\
                    - {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}\n";
        let found = read("m.yaml", text).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|o| (o.kind.as_str(), o.name.as_str()))
            .collect();
        assert_eq!(told, [("Secret", "a"), ("ConfigMap", "b")]);
        assert_eq!(found[0].value["metadata"]["namespace"], "own");
        assert_eq!(read("m.yaml", "# nothing\n").unwrap(), []);
    }

    #[test]
    fn what_is_no_object_is_told_with_its_place() {
        let good = object("Secret", "{name: a}");
        for (text, told) in [
            (format!("{good}---\njust text\n"), ["document 2", "no map"]),
            (
                good.replace("kind: Secret\n", ""),
                ["document 1", "no kind"],
            ),
            (
                good.replace("apiVersion: v1\n", ""),
                ["document 1", "no apiVersion"],
            ),
            (
                good.replace("name: a", "generateName: a"),
                ["document 1", "no metadata.name"],
            ),
            (
                good.replace("Secret", "'redis:v1'"),
                ["document 1", "\"redis:v1\""],
            ),
            (
                "{apiVersion: v1, kind: List, items: [{kind: Secret}]}".to_owned(),
                ["items[0]", "no apiVersion"],
            ),
            (format!("{good}  a: b: c\n"), ["m.yaml", "line"]),
            (format!("{good}kind: Secret\n"), ["m.yaml", "kind"]),
        ] {
            let error = read("dir/m.yaml", &text).unwrap_err().to_string();
            for told in told {
                assert!(error.contains(told), "{text}: {told} is not in: {error}");
            }
        }
    }
}
