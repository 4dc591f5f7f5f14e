//! The example of a version: the configuration that deploys an instance, with the files of this version or another.

use std::rc::Rc;

use common::registry::{SCHEMA, package};
use common::yaml;
use serde_json::Value;

use super::contents::{parsed, unreadable};
use super::{TemplateVersion, VersionError};
use crate::bundle::files::{Files, ReadError, beside};
use crate::bundle::{Bundle, Bundler, imports};

/// The configuration that deploys an instance.
pub const EXAMPLE: &str = "example.yaml";

/// The example of a version.
struct Example {
    content: String,
    shown: String,
    configuration: Value,
    /// The resources that are instances of the version: name and type.
    instances: Vec<(String, String)>,
}

impl TemplateVersion {
    /// The example with the version's own files, so that no registry is needed.
    pub fn bundle(&self) -> Result<Bundle, VersionError> {
        self.bundled(self, &self.files)
    }

    /// The same example with the files of a different version.
    pub fn bundle_by(&self, other: &Self) -> Result<Bundle, VersionError> {
        let schema = format!("{}{SCHEMA}", self.file);
        let is_other = |path: &String| *path != self.file && *path != schema;
        let beside = self.bundle()?.imports.into_iter().filter_map(|import| {
            let path = import.path.filter(is_other)?;
            Some((path, import.content))
        });
        let beside = Rc::new(Files::Archive(beside.collect()));
        let files = Rc::new(Files::Over(Rc::clone(&other.files), beside));
        self.bundled(other, &files)
    }

    fn bundled(&self, by: &Self, files: &Rc<Files>) -> Result<Bundle, VersionError> {
        let example = self.example()?;
        let mut bundler = Bundler::new(example.content, &example.shown, EXAMPLE, files)?;
        for (_, type_name) in example.instances {
            // The imports of the example are included already.
            if self.means(&type_name) {
                bundler.want(files, type_name, by.file.clone(), &example.shown);
            }
        }
        for path in &by.manifests {
            bundler.want(files, path.clone(), path.clone(), &by.file);
        }
        Ok(bundler.finish()?)
    }

    /// The example with this reference as the type: the same template in a different registry is a different type.
    pub fn bundle_of(&self, reference: &str) -> Result<Bundle, VersionError> {
        let mut example = self.example()?;
        let resources = example.configuration.get_mut("resources");
        let resources = resources.and_then(Value::as_array_mut);
        for resource in resources.into_iter().flatten() {
            let name = resource.get("name").and_then(Value::as_str);
            let is_instance = example
                .instances
                .iter()
                .any(|(own, _)| Some(own.as_str()) == name);
            if let Some(Value::String(type_name)) = resource.get_mut("type").filter(|_| is_instance)
            {
                reference.clone_into(type_name);
            }
        }
        let content = yaml::write(&example.configuration).unwrap_or(example.content);
        let bundler = Bundler::new(content, &example.shown, EXAMPLE, &self.files)?;
        Ok(bundler.finish()?)
    }

    fn example(&self) -> Result<Example, VersionError> {
        let shown = self.files.shown(EXAMPLE);
        let content = match self.files.read(EXAMPLE) {
            Ok(content) => content,
            Err(ReadError::Missing) if !self.manifests.is_empty() => {
                package::example(&self.template, &self.file)
            }
            Err(ReadError::Missing) => return Err(VersionError::NoExample(shown)),
            Err(reason) => return Err(unreadable(shown, reason).into()),
        };
        let configuration = parsed(&shown, &content)?;
        let imported = imports::declared(&content, &shown)?.into_iter();
        let imported: Vec<String> = imported
            .filter(|import| beside(EXAMPLE, &import.path) == self.file)
            .map(|import| import.name.unwrap_or(import.path))
            .collect();
        let is_instance = |name: &str| self.means(name) || imported.iter().any(|own| own == name);
        let resources = configuration.get("resources").and_then(Value::as_array);
        let text = |resource: &Value, key: &str| Some(resource.get(key)?.as_str()?.to_owned());
        let instances: Vec<_> = resources
            .into_iter()
            .flatten()
            .filter_map(|resource| Some((text(resource, "name")?, text(resource, "type")?)))
            .filter(|(_, type_name)| is_instance(type_name))
            .collect();
        if instances.is_empty() {
            let version = self.version.map(|version| format!(":{version}"));
            let named = format!("{}{}", self.template, version.unwrap_or_default());
            return Err(VersionError::NoInstance(named));
        }
        Ok(Example {
            content,
            shown,
            configuration,
            instances,
        })
    }

    /// The names of the instances in the example.
    pub(super) fn instances(&self) -> Result<Vec<String>, VersionError> {
        let instances = self.example()?.instances.into_iter();
        Ok(instances.map(|(name, _)| name).collect())
    }
}
