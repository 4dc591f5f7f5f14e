//! Where a reference leads, and what is made of the files there.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use common::manifests;
use common::model::{
    Import, Language, Provenance, ResolvedFile, ResolvedType, Scope, TypeName, language,
};
use common::registry::chart::About;
use common::registry::{FilePath, PACKED};
use common::work::{self, Size};
use expandybird_templateobject::{Template, schema};
use serde_json::Value;

use super::{ResolvedTemplate, TemplateKey};
use crate::RegistryError;
use crate::adapter::Files;
use crate::catalog::chart::ChartFolder;
use crate::catalog::example;
use crate::catalog::fetch::{self, Role, TemplateFile};
use crate::catalog::package::Package;

/// The target of a reference.
pub struct Found {
    pub files: Arc<dyn Files>,
    pub template: FilePath,
    /// What the template is made from, if there is no template file.
    pub source: Source,
    pub version: Option<String>,
    pub scope: Option<Scope>,
    /// The registry, for messages.
    pub registry: String,
    pub key: Option<TemplateKey>,
    pub known: Option<Arc<Vec<TemplateFile>>>,
}

/// Where the files of a template are.
pub enum Source {
    File,
    Package(Package),
    Chart(ChartFolder),
}

impl Found {
    pub fn resolved(&self, type_name: &TypeName, files: &[TemplateFile]) -> ResolvedTemplate {
        let schema = self.template.with_ending(fetch::SCHEMA);
        let name = |path: &FilePath| match path {
            path if *path == self.template => type_name.to_string(),
            path if *path == schema => format!("{type_name}{}", fetch::SCHEMA),
            path => self.files.path_of(path),
        };
        let is_given = |file: &&TemplateFile| matches!(file.role, Role::Given | Role::Packed);
        let travels = |file: &&TemplateFile| matches!(file.role, Role::Given | Role::Made);
        let is_provenance = |file: &&TemplateFile| file.role == Role::Provenance;
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
            sha256: file.sha256.clone(),
        };
        ResolvedTemplate {
            resolved: ResolvedType {
                type_name: type_name.clone(),
                version: self.version.clone(),
                url,
                sha256: fetch::sha256(files),
                files: files.iter().filter(is_given).map(record).collect(),
                provenance: files
                    .iter()
                    .find(is_provenance)
                    .map(|file| self.provenance(file)),
            },
            imports: files.iter().filter(travels).map(import).collect(),
            scope: self.scope.clone(),
            warning: self.warning(),
        }
    }

    fn provenance(&self, file: &TemplateFile) -> Provenance {
        Provenance {
            url: self.files.url_of(&file.path),
            sha256: file.sha256.clone(),
            verified: false,
        }
    }

    fn warning(&self) -> Option<String> {
        let staleness = self.files.stale()?;
        let registry = &self.registry;
        Some(format!("registry {registry} is unreachable; {staleness}"))
    }

    pub fn portable(&self, text: String, type_name: &TypeName) -> String {
        let file = self.template.names().last().unwrap_or_default();
        example::portable(text, type_name, file, self.scope.as_ref())
    }

    /// A package has no properties, so its example is known.
    pub fn example(&self, type_name: &TypeName, files: &[TemplateFile]) -> Option<String> {
        let is_made = |file: &TemplateFile| file.role == Role::Made && !is_chart(&file.path);
        let is_package = files.iter().any(is_made);
        let template = type_name.as_str().rsplit('/').next()?;
        let name = template.split(':').next()?;
        is_package.then(|| common::registry::package::example(name, type_name.as_str()))
    }

    /// The schema beside the template. A Template object without one has that of its parameters.
    pub async fn schema(&self, files: &[TemplateFile]) -> Result<Option<Value>, RegistryError> {
        let path = self.template.with_ending(fetch::SCHEMA);
        if let Some(schema) = files.iter().find(|file| file.path == path) {
            return fetch::parse_schema(&*self.files, schema).map(Some);
        }
        let template = files.iter().find(|file| file.path == self.template);
        Ok(match template {
            Some(template) => of_parameters(template).await,
            None => None,
        })
    }

    /// What a packed chart says about itself. `None` for other templates, and for charts with a schema beside them.
    pub async fn about(&self, files: &[TemplateFile]) -> Result<Option<About>, RegistryError> {
        let schema = self.template.with_ending(fetch::SCHEMA);
        let chart = files.first().filter(|first| is_chart(&first.path));
        let Some(chart) = chart.filter(|_| files.iter().all(|file| file.path != schema)) else {
            return Ok(None);
        };
        let content = chart.content.clone();
        let read = work::large(move || {
            // It was encoded here.
            let packed = BASE64_STANDARD.decode(content).unwrap_or_default();
            About::read(&packed)
        });
        let about = read.await.map_err(|error| RegistryError::Chart {
            chart: self.files.path_of(&chart.path),
            error,
        })?;
        Ok(Some(about))
    }
}

/// `None` for other templates, and for a Template that is not valid: its instances say why.
async fn of_parameters(file: &TemplateFile) -> Option<Value> {
    let (path, text) = (file.path.to_string(), file.content.clone());
    let read = move || {
        let row = language::of_file(&path, &text)?;
        let is_object = row.language == Language::TemplateObject;
        let document = is_object.then(|| manifests::read_template_object(&text).ok())??;
        Some(schema(&Template::read(document).ok()?))
    };
    work::sized(Size::bytes(file.content.len()), read).await
}

fn is_chart(path: &FilePath) -> bool {
    path.as_str().ends_with(PACKED)
}
