//! Objects of the manager's own cluster: one, or all of a kind in a namespace.
//!
//! An object is a document, without what the API server keeps in it for itself. A ConfigMap is a folder: its keys are files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use common::api::cluster::{Lookup, LookupAnswer, LookupRequest};
use common::api::error::ErrorBody;
use common::manifests::ENDINGS;
use common::model::{Identity, Language, language};
use common::work;
use manager_broker::{Address, File, Folder, Objects, Source, SourceError};
use serde_json::{Map, Value};

use crate::deployer::Deployer;

/// One request to the API server at a time.
const INTERVAL: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(30);
/// Changes in these are not the user's.
const KEPT_BY_SERVER: [&str; 4] = ["resourceVersion", "generation", "managedFields", "selfLink"];

pub struct ObjectsSource {
    pub deployer: Arc<dyn Deployer>,
    pub objects: Objects,
    pub reader: Option<Identity>,
}

#[async_trait]
impl Source for ObjectsSource {
    fn name(&self) -> String {
        Address::Objects(self.objects.clone()).to_string()
    }

    fn interval(&self) -> Duration {
        INTERVAL
    }

    async fn fetch(&self) -> Result<Vec<File>, SourceError> {
        let request = LookupRequest {
            lookups: vec![self.lookup()],
            on_behalf_of: self.reader.clone(),
        };
        let answers = self.deployer.look_up(Arc::new(request), DEADLINE).await;
        let answers = answers.map_err(|error| {
            let body: Box<ErrorBody> = error.into();
            let message = format!("{} cannot be read: {}", self.name(), body.message);
            match body.code.status() {
                500.. => SourceError::Unreachable(message),
                _ => SourceError::Faulty(message),
            }
        })?;
        let found = self.found(answers.into_iter().next())?;
        let objects = self.objects.clone();
        let files = move || {
            found
                .into_iter()
                .flat_map(|one| files(&objects, one))
                .collect()
        };
        Ok(work::large(files).await)
    }
}

impl ObjectsSource {
    fn lookup(&self) -> Lookup {
        Lookup {
            api_version: self.objects.api_version.clone(),
            kind: self.objects.kind.clone(),
            namespace: self.objects.namespace.to_string(),
            name: self.objects.name.clone().unwrap_or_default(),
        }
    }

    /// At least one object.
    fn found(&self, answer: Option<LookupAnswer>) -> Result<Vec<Value>, SourceError> {
        let faulty = |reason: &str| SourceError::Faulty(format!("{}: {reason}", self.name()));
        let answer = answer.ok_or_else(|| faulty("resourcifier did not answer"))?;
        if let Some(error) = &answer.error {
            return Err(faulty(error));
        }
        let found = match (answer.found, &self.objects.name) {
            (None, _) => Vec::new(),
            (Some(object), Some(_)) => vec![object],
            (Some(mut list), None) => match list["items"].take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            },
        };
        match (found.is_empty(), &self.objects.name) {
            (false, _) => Ok(found),
            (true, Some(_)) => Err(faulty("the object does not exist")),
            (true, None) => Err(faulty("the namespace has no object of this kind")),
        }
    }
}

fn files(objects: &Objects, mut object: Value) -> Vec<File> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let (kind, namespace) = (&objects.kind, &objects.namespace);
    let folder = PathBuf::from(format!("{kind}/{namespace}/{name}"));
    if (kind.as_str(), objects.api_version.as_str()) == ("ConfigMap", "v1") {
        return of_config_map(&folder, &object);
    }
    if let Some(object) = object.as_object_mut() {
        tidy(objects, object);
    }
    vec![File {
        path: folder.with_added_extension("json"),
        text: serde_json::to_string_pretty(&object).unwrap_or_default(),
        beside: Folder::Held(Arc::default()),
    }]
}

/// Items of lists do not say what they are. Nothing of a status is configuration.
fn tidy(objects: &Objects, object: &mut Map<String, Value>) {
    let api_version = Value::from(objects.api_version.as_str());
    object.insert("apiVersion".to_owned(), api_version);
    object.insert("kind".to_owned(), Value::from(objects.kind.as_str()));
    object.shift_remove("status");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| !KEPT_BY_SERVER.contains(&key.as_str()));
    }
}

/// Its documents are the keys that end like YAML or JSON. Others are files beside them, and so are files whose name says
/// that they are templates.
fn of_config_map(folder: &Path, object: &Value) -> Vec<File> {
    let data = object["data"].as_object().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let bytes = data
        .iter()
        .map(|(key, value)| (key.clone(), text(value).into_bytes()));
    let beside = Folder::Held(Arc::new(bytes.collect::<BTreeMap<_, _>>()));
    let templates = language::row(Language::TemplateObject);
    let templates = templates.map_or(&[][..], |row| row.own_endings);
    let is_document = |key: &str| {
        let ends = |ending: &&str| key.ends_with(ending);
        ENDINGS.iter().any(ends) && !templates.iter().any(ends)
    };
    let documents = data.iter().filter(|(key, _)| is_document(key));
    let documents = documents.map(|(key, value)| File {
        path: folder.join(key),
        text: text(value),
        beside: beside.clone(),
    });
    documents.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::deployer::fake::FakeDeployer;

    fn source(address: &str, deployer: &Arc<FakeDeployer>) -> ObjectsSource {
        let Ok(Address::Objects(objects)) = address.parse() else {
            panic!("{address}")
        };
        ObjectsSource {
            deployer: deployer.clone(),
            objects,
            reader: None,
        }
    }

    fn reason(fetched: Result<Vec<File>, SourceError>) -> String {
        match fetched.unwrap_err() {
            SourceError::Faulty(reason) => reason,
            SourceError::Unreachable(reason) => format!("unreachable: {reason}"),
        }
    }

    fn plan(name: &str) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "shop", "resourceVersion": "7", "labels": {"a": "b"}},
            "kind": "SFPlan", "spec": {"id": name}, "status": {"seen": true},
        })
    }

    #[tokio::test]
    async fn an_object_is_a_document_without_what_the_api_server_keeps_in_it() {
        let deployer = Arc::new(FakeDeployer::default());
        let all = source(
            "cluster:osb.servicefabrik.io/v1alpha1/SFPlan/shop",
            &deployer,
        );
        let one = source(
            "cluster:osb.servicefabrik.io/v1alpha1/SFPlan/shop/b",
            &deployer,
        );
        assert!(reason(all.fetch().await).contains("has no object of this kind"));
        assert!(reason(one.fetch().await).ends_with("SFPlan/shop/b: the object does not exist"));
        deployer.live.set(Some(vec![plan("a"), plan("b")]));
        let files = all.fetch().await.unwrap();
        let paths: Vec<_> = files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect();
        assert_eq!(paths, ["SFPlan/shop/a.json", "SFPlan/shop/b.json"]);
        let found = one.fetch().await.unwrap();
        assert_eq!(found, files[1..]);
        let read: Value = serde_json::from_str(&found[0].text).unwrap();
        let expected = json!({
            "apiVersion": "osb.servicefabrik.io/v1alpha1", "kind": "SFPlan", "spec": {"id": "b"},
            "metadata": {"name": "b", "namespace": "shop", "labels": {"a": "b"}},
        });
        assert_eq!(read, expected);
        deployer.live.set(None);
        assert!(reason(one.fetch().await).starts_with("unreachable: cluster:"));
    }

    #[tokio::test]
    async fn a_config_map_is_a_folder() {
        let deployer = Arc::new(FakeDeployer::default());
        let source = source("cluster:v1/ConfigMap/shop/catalog", &deployer);
        deployer.live.set(Some(vec![json!({
            "kind": "ConfigMap", "metadata": {"name": "catalog", "namespace": "shop"},
            "data": {"catalog.yaml": "services: []", "db.jinja": "a", "web.template.yaml": "b", "plan.json": "{}"},
        })]));
        let files = source.fetch().await.unwrap();
        let paths: Vec<_> = files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect();
        let mut sorted = paths.clone();
        sorted.sort();
        assert_eq!(
            sorted,
            [
                "ConfigMap/shop/catalog/catalog.yaml",
                "ConfigMap/shop/catalog/plan.json"
            ]
        );
        assert_eq!(files[0].beside.text("db.jinja").unwrap(), "a");
        assert_eq!(files[0].beside.text("web.template.yaml").unwrap(), "b");
    }
}
