//! What a caller wrote, with its secrets hidden: the text stays as it was written, but for the values.

use common::kubernetes_secret;
use common::manifests;
use common::model::{Import, InputConfig};
use common::redact::REDACTED;
use common::yaml::{self, Document, Pointer};
use serde_json::Value;

use super::{Redaction, hide};

impl Redaction {
    /// The values at their places. Files that came along are searched for them, and so are those of Kubernetes objects.
    pub(super) fn input(&self, input: &mut InputConfig) {
        input.content = self.content(&input.content);
        for Import { content, .. } in &mut input.imports {
            if manifests::is_manifests(content) {
                *content = self.content(content);
            } else {
                self.redactor.string(content);
            }
        }
    }

    pub(super) fn content(&self, text: &str) -> String {
        let documents = read(text);
        let pointers = documents.as_ref().and_then(|read| self.pointers(read));
        let (Some(mut documents), Some(pointers)) = (documents, pointers) else {
            return REDACTED.to_owned();
        };
        let masked = yaml::mask(text, &pointers, REDACTED);
        let masked = masked.map(|masked| self.redactor.text(&masked).into_owned());
        if let Some(masked) = masked
            && read(&masked).is_some_and(|documents| is_hidden(&documents, &pointers))
        {
            return masked;
        }
        // What cannot be hidden in the text as it was written is shown as it was read.
        for pointer in &pointers {
            let document = documents.get_mut(pointer.document);
            document
                .and_then(|document| document.value.pointer_mut(&pointer.path))
                .map(hide);
        }
        let written = documents.iter_mut().map(|document| {
            self.redactor.value(&mut document.value);
            yaml::write(&document.value)
        });
        let written: Result<Vec<_>, _> = written.collect();
        written.map_or_else(|_| REDACTED.to_owned(), |written| written.join("---\n"))
    }

    /// Where in a text secrets are given; nothing for one that cannot be read.
    fn pointers(&self, documents: &[Document]) -> Option<Vec<Pointer>> {
        let mut pointers = match (manifests::recognises(documents), documents) {
            (true, _) => of_objects(documents)?,
            (false, []) => Vec::new(),
            (false, [configuration, ..]) => self.of_configuration(&configuration.value),
        };
        pointers.retain(|pointer| find(documents, pointer).is_some());
        Some(pointers)
    }

    fn of_configuration(&self, configuration: &Value) -> Vec<Pointer> {
        let marked = self.secrets.iter().filter_map(|secret| {
            let (index, pointer) = (secret.path.top()?, &secret.pointer);
            let path = format!("/resources/{index}/properties{pointer}");
            Some(Pointer::new(0, path))
        });
        let mut pointers: Vec<_> = marked.collect();
        let resources = configuration["resources"].as_array();
        for (index, resource) in resources.into_iter().flatten().enumerate() {
            let kind = resource["properties"]["kind"].as_str();
            let name = resource["type"].as_str().unwrap_or_default();
            if kubernetes_secret::is_type(name) || kind == Some("Secret") {
                let fields = kubernetes_secret::FIELDS.iter();
                let path = |field| format!("/resources/{index}/properties{field}");
                pointers.extend(fields.map(|field| Pointer::new(0, path(field))));
            }
        }
        pointers
    }
}

fn read(text: &str) -> Option<Vec<Document>> {
    yaml::read_all(text, &yaml::Limits::DEFAULT, yaml::Duplicates::Warn).ok()
}

/// The values of the Secrets among Kubernetes objects.
fn of_objects(documents: &[Document]) -> Option<Vec<Pointer>> {
    let objects = manifests::objects("", documents.to_vec()).ok()?;
    let secrets = objects
        .into_iter()
        .filter(|object| kubernetes_secret::is_one(&object.kind, Some(&object.value)));
    let fields = secrets.flat_map(|secret| {
        let Pointer { document, path } = secret.place.pointer;
        let fields = kubernetes_secret::FIELDS.into_iter();
        fields.map(move |field| Pointer::new(document, format!("{path}{field}")))
    });
    Some(fields.collect())
}

fn find<'a>(documents: &'a [Document], pointer: &Pointer) -> Option<&'a Value> {
    documents
        .get(pointer.document)?
        .value
        .pointer(&pointer.path)
}

fn is_hidden(documents: &[Document], pointers: &[Pointer]) -> bool {
    let mut values = pointers.iter().map(|pointer| find(documents, pointer));
    values.all(|value| value.is_some_and(is_all_hidden))
}

fn is_all_hidden(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim_end() == REDACTED,
        Value::Array(items) => items.iter().all(is_all_hidden),
        Value::Object(map) => map.values().all(is_all_hidden),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTS: &str = "# ours\napiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: # short\n  pin: \"12\"\n---\n\
        apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: b}, data: {a: eA==}}\n\
        - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: \"12\"}}\n";

    #[test]
    fn the_secrets_among_objects_are_hidden_and_all_else_stays() {
        let expected = OBJECTS
            .replacen("\"12\"", REDACTED, 1)
            .replace("eA==", REDACTED);
        assert_eq!(Redaction::default().content(OBJECTS), expected);
        let mut input = InputConfig {
            content: "resources: []".to_owned(),
            imports: vec![Import {
                name: "app.yaml".to_owned(),
                path: None,
                content: OBJECTS.to_owned(),
            }],
        };
        Redaction::default().input(&mut input);
        assert_eq!(input.imports[0].content, expected);
    }

    #[test]
    fn objects_that_cannot_be_listed_are_hidden_whole() {
        let text = "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\n{kind: Secret, data: {a: eA==}}";
        assert_eq!(Redaction::default().content(text), REDACTED);
    }
}
