//! Where a reference leads, and what is made of the files there.

use std::sync::Arc;

use common::canonical::digest_bytes;
use common::model::{Import, ResolvedFile, ResolvedType, Scope, TypeName};
use common::registry::FilePath;
use serde_json::Value;

use super::{ResolvedTemplate, TemplateKey};
use crate::RegistryError;
use crate::adapter::Files;
use crate::catalog::example;
use crate::catalog::fetch::{self, Role, TemplateFile};
use crate::catalog::package::Package;
use crate::open_registries::DEFAULT;

/// The target of a reference.
pub struct Found {
    pub files: Arc<dyn Files>,
    pub template: FilePath,
    /// The package of the template, if there is no template file.
    pub package: Option<Package>,
    pub version: Option<String>,
    pub scope: Option<Scope>,
    pub key: Option<TemplateKey>,
    pub known: Option<Arc<Vec<TemplateFile>>>,
}

impl Found {
    pub fn resolved(&self, type_name: &TypeName, files: &[TemplateFile]) -> ResolvedTemplate {
        let schema = self.template.with_ending(fetch::SCHEMA);
        let name = |path: &FilePath| match path {
            path if *path == self.template => type_name.to_string(),
            path if *path == schema => format!("{type_name}{}", fetch::SCHEMA),
            path => self.files.path_of(path),
        };
        let is_given = |file: &&TemplateFile| file.role != Role::Made;
        let url = match files.iter().find(is_given) {
            Some(first) => self.files.url_of(&first.path),
            None => self.files.url_of(&self.template),
        };
        let import = |file: &TemplateFile| Import {
            name: name(&file.path),
            path: Some(self.files.path_of(&file.path)),
            content: file.content.clone(),
        };
        let record = |file: &TemplateFile| ResolvedFile {
            name: name(&file.path),
            url: self.files.url_of(&file.path),
            sha256: digest_bytes(file.content.as_bytes()).to_string(),
        };
        ResolvedTemplate {
            resolved: ResolvedType {
                type_name: type_name.clone(),
                version: self.version.clone(),
                url,
                sha256: fetch::sha256(files),
                files: files.iter().filter(is_given).map(record).collect(),
            },
            imports: files.iter().map(import).collect(),
            scope: self.scope.clone(),
            warning: self.warning(),
        }
    }

    fn warning(&self) -> Option<String> {
        let staleness = self.files.stale()?;
        let registry = match &self.scope {
            Some(scope) => scope.registry.clone(),
            None if self.version.is_some() => DEFAULT.to_owned(),
            None => self.files.url_of(&FilePath::root()),
        };
        Some(format!("registry {registry} is unreachable; {staleness}"))
    }

    pub fn portable(&self, text: String, type_name: &TypeName) -> String {
        let file = self.template.names().last().unwrap_or_default();
        example::portable(text, type_name, file, self.scope.as_ref())
    }

    /// A package has no properties, so its example is known.
    pub fn example(&self, type_name: &TypeName, files: &[TemplateFile]) -> Option<String> {
        let is_package = files.iter().any(|file| file.role == Role::Made);
        let template = type_name.as_str().rsplit('/').next()?;
        let name = template.split(':').next()?;
        is_package.then(|| common::registry::package::example(name, type_name.as_str()))
    }

    pub fn schema(&self, files: &[TemplateFile]) -> Result<Option<Value>, RegistryError> {
        let path = self.template.with_ending(fetch::SCHEMA);
        let schema = files.iter().find(|file| file.path == path);
        schema
            .map(|schema| fetch::parse_schema(&*self.files, schema))
            .transpose()
    }
}
