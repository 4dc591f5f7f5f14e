//! `Chart.yaml`: what a chart says about itself.

mod fields;

use common_chart::semver::Version;
use serde_json::Value;

use fields::{Fields, cleaned};
pub use fields::{text, wrong};

/// What a chart says about itself.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of Chart.yaml")]
pub struct Metadata {
    pub name: String,
    pub home: String,
    pub sources: Vec<String>,
    pub version: String,
    pub description: String,
    pub keywords: Vec<String>,
    pub maintainers: Vec<Maintainer>,
    pub icon: String,
    pub api_version: String,
    pub condition: String,
    pub tags: String,
    pub app_version: String,
    pub deprecated: bool,
    pub annotations: Option<Vec<(String, String)>>,
    pub kube_version: String,
    /// Missing if the chart does not name any: then its subcharts are all used.
    pub dependencies: Option<Vec<Dependency>>,
    pub kind: String,
}

/// Who maintains a chart.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of Chart.yaml")]
pub struct Maintainer {
    pub name: String,
    pub email: String,
    pub url: String,
}

/// A chart that a chart uses.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of Chart.yaml")]
pub struct Dependency {
    pub name: String,
    pub version: String,
    pub repository: String,
    pub condition: String,
    pub tags: Vec<String>,
    pub enabled: bool,
    pub import_values: Vec<Value>,
    pub alias: String,
}

impl Metadata {
    /// Whether the chart has templates for others only.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.kind.eq_ignore_ascii_case("library")
    }

    /// Reads the fields that a document has. Called again for `requirements.yaml`.
    pub(crate) fn read(&mut self, document: &Value) -> Result<(), String> {
        let fields = match document {
            Value::Null => return Ok(()),
            Value::Object(fields) => Fields(fields),
            other => return Err(wrong(other, "v2.Metadata")),
        };
        fields.text("name", &mut self.name)?;
        fields.text("home", &mut self.home)?;
        fields.texts("sources", &mut self.sources)?;
        fields.text("version", &mut self.version)?;
        fields.text("description", &mut self.description)?;
        fields.texts("keywords", &mut self.keywords)?;
        fields.text("icon", &mut self.icon)?;
        fields.text("apiVersion", &mut self.api_version)?;
        fields.text("condition", &mut self.condition)?;
        fields.text("tags", &mut self.tags)?;
        fields.text("appVersion", &mut self.app_version)?;
        fields.truth("deprecated", &mut self.deprecated)?;
        fields.text("kubeVersion", &mut self.kube_version)?;
        fields.text("type", &mut self.kind)?;
        if let Some(annotations) = fields.map("annotations")? {
            let text = |(key, value): (&String, &Value)| Ok((key.clone(), text(value)?));
            self.annotations = Some(
                annotations
                    .iter()
                    .map(text)
                    .collect::<Result<_, String>>()?,
            );
        }
        if let Some(maintainers) = fields.list("maintainers")? {
            self.maintainers = maintainers
                .iter()
                .map(maintainer)
                .collect::<Result<_, _>>()?;
        }
        if let Some(dependencies) = fields.list("dependencies")? {
            let dependencies = dependencies.iter().map(dependency);
            self.dependencies = Some(dependencies.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Cleans the texts, and checks what Helm checks.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let texts = [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ];
        let lists = self.sources.iter_mut().chain(&mut self.keywords);
        for text in texts.into_iter().chain(lists) {
            *text = cleaned(text);
        }
        let refused = |reason: String| Err(format!("validation: {reason}"));
        let (name, version) = (&self.name, &self.version);
        match self.api_version.as_str() {
            "" => self.api_version = "v1".to_owned(),
            "v1" | "v2" => {}
            "v3" => return Err("invalid chart apiVersion".to_owned()),
            _ => return Err("unsupported chart version".to_owned()),
        }
        if name.is_empty() {
            return refused("chart.metadata.name is required".to_owned());
        }
        if name == "." || name == ".." {
            return refused(format!("chart.metadata.name {name:?} is not allowed"));
        }
        if name.contains('/') {
            return refused(format!("chart.metadata.name {name:?} is invalid"));
        }
        if version.is_empty() {
            return refused("chart.metadata.version is required".to_owned());
        }
        if version.parse::<Version>().is_err() {
            return refused(format!("chart.metadata.version {version:?} is invalid"));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return refused("chart.metadata.type must be application or library".to_owned());
        }
        for maintainer in &mut self.maintainers {
            for text in [
                &mut maintainer.name,
                &mut maintainer.email,
                &mut maintainer.url,
            ] {
                *text = cleaned(text);
            }
        }
        check_dependencies(self.dependencies.as_deref_mut().unwrap_or_default()).or_else(refused)
    }
}

fn check_dependencies(dependencies: &mut [Dependency]) -> Result<(), String> {
    let mut met: Vec<String> = Vec::new();
    for dependency in dependencies {
        let Dependency {
            name,
            version,
            repository,
            condition,
            tags,
            alias,
            ..
        } = dependency;
        for text in [&mut *name, version, repository, condition]
            .into_iter()
            .chain(tags)
        {
            *text = cleaned(text);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !alias.chars().all(is_plain) {
            return Err(format!(
                "dependency {name:?} has disallowed characters in the alias"
            ));
        }
        let key = if alias.is_empty() { name } else { alias };
        if met.contains(key) {
            return Err(format!(
                "more than one dependency with name or alias {key:?}"
            ));
        }
        met.push(key.clone());
    }
    Ok(())
}

fn maintainer(document: &Value) -> Result<Maintainer, String> {
    let Value::Object(fields) = document else {
        return Err("maintainers must not contain empty or null nodes".to_owned());
    };
    let (fields, mut maintainer) = (Fields(fields), Maintainer::default());
    fields.text("name", &mut maintainer.name)?;
    fields.text("email", &mut maintainer.email)?;
    fields.text("url", &mut maintainer.url)?;
    Ok(maintainer)
}

fn dependency(document: &Value) -> Result<Dependency, String> {
    let Value::Object(fields) = document else {
        return Err("dependencies must not contain empty or null nodes".to_owned());
    };
    let (fields, mut dependency) = (Fields(fields), Dependency::default());
    fields.text("name", &mut dependency.name)?;
    fields.text("version", &mut dependency.version)?;
    fields.text("repository", &mut dependency.repository)?;
    fields.text("condition", &mut dependency.condition)?;
    fields.texts("tags", &mut dependency.tags)?;
    fields.text("alias", &mut dependency.alias)?;
    fields.truth("enabled", &mut dependency.enabled)?;
    if let Some(values) = fields.list("import-values")? {
        dependency.import_values = values.clone();
    }
    Ok(dependency)
}
