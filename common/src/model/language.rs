//! The languages of templates: one table for all programs.
//!
//! A new language is a row of [`TABLE`], an engine in expandybird that renders it, and its tests.

use std::fmt;

use crate::manifests;

/// A language that templates are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// A file with `GenerateConfig(context)`.
    Python,
    /// A file that prints a configuration.
    Jinja,
    /// Go's `text/template`.
    GoTemplate,
    /// A folder with a `Chart.yaml`: Kubernetes objects in `manifests/`, or a Helm chart with `templates/`.
    Package,
    /// A packed Helm chart. Its content is base 64.
    Chart,
    /// An object of the kind Template: Kubernetes objects with parameters.
    TemplateObject,
    /// A `ServiceBrokerConfig`: the plans of a service broker. `FILE#SERVICE/PLAN` is the type of one.
    BrokerConfig,
    /// A plan of the Service Fabrik Inter-operator, with its service.
    Plan,
    /// Files of Kubernetes objects, as kubectl takes them.
    Manifests,
}

/// The files of a template in a language, apart from what its schema imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One file.
    File,
    /// A folder: its main file is the template, and all files below the folder belong to it.
    Folder,
}

/// What the programs know about a language.
#[derive(Debug)]
pub struct Row {
    /// The language of this row.
    pub language: Language,
    /// The name for people, as in errors.
    pub name: &'static str,
    /// One file or a folder.
    pub form: Form,
    /// The endings of a template's file name. The first one is the ending that registries use. For a folder, the name
    /// of its main file.
    pub endings: &'static [&'static str],
    /// Distinguishes files of the language from others with the same ending.
    pub recognises: Option<fn(&str) -> bool>,
    /// Endings that no other language has, where `recognises` decides about `endings`. Registries use these.
    pub own_endings: &'static [&'static str],
}

/// If several rows match a file, the first one wins.
pub const TABLE: [Row; 9] = [
    Row {
        language: Language::Python,
        name: "Python",
        form: Form::File,
        endings: &[".py"],
        recognises: None,
        own_endings: &[],
    },
    Row {
        language: Language::Package,
        name: "package",
        form: Form::Folder,
        endings: &["Chart.yaml"],
        recognises: None,
        own_endings: &[],
    },
    Row {
        language: Language::TemplateObject,
        name: "Template object",
        form: Form::File,
        endings: &manifests::ENDINGS,
        recognises: Some(manifests::is_template_object),
        own_endings: &[".template.yaml", ".template.yml", ".template.json"],
    },
    Row {
        language: Language::BrokerConfig,
        name: "service broker configuration",
        form: Form::File,
        endings: &manifests::ENDINGS,
        recognises: Some(manifests::is_broker_config),
        own_endings: &[".broker.yaml", ".broker.yml", ".broker.json"],
    },
    Row {
        language: Language::Plan,
        name: "Inter-operator plan",
        form: Form::File,
        endings: &manifests::ENDINGS,
        recognises: Some(manifests::is_plan),
        own_endings: &[".sfplan.yaml", ".sfplan.yml", ".sfplan.json"],
    },
    Row {
        language: Language::Manifests,
        name: "Kubernetes manifests",
        form: Form::File,
        endings: &manifests::ENDINGS,
        recognises: Some(manifests::is_manifests),
        own_endings: &[],
    },
    // YAML files are Jinja: Google's Deployment Manager rendered them, and text without braces stays the same.
    Row {
        language: Language::Jinja,
        name: "Jinja",
        form: Form::File,
        endings: &[".jinja", ".yaml"],
        recognises: None,
        own_endings: &[],
    },
    Row {
        language: Language::GoTemplate,
        name: "Go template",
        form: Form::File,
        endings: &[".gotmpl"],
        recognises: None,
        own_endings: &[],
    },
    Row {
        language: Language::Chart,
        name: "Helm chart",
        form: Form::File,
        endings: &[".tgz"],
        recognises: None,
        own_endings: &[],
    },
];

/// The template among the files of a version's folder in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    /// The language of the file.
    pub row: &'static Row,
    /// The name of the file in the folder.
    pub name: String,
}

/// A folder with two templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoTemplates {
    /// The name of one.
    pub first: String,
    /// The name of the other.
    pub second: String,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.language == other.language
    }
}

impl Eq for Row {}

impl Row {
    fn has_name(&self, path: &str) -> bool {
        let mut endings = self.endings.iter();
        match self.form {
            Form::File => endings.any(|ending| path.ends_with(ending)),
            Form::Folder => endings.any(|name| path.rsplit('/').next() == Some(name)),
        }
    }

    /// Whether the name alone says that a file is in the language.
    fn owns_name(&self, path: &str) -> bool {
        let mut endings = self.own_endings.iter();
        endings.any(|ending| path.ends_with(ending))
    }

    /// The file names of a template in a registry.
    fn files_of(&self, template: &str) -> Vec<String> {
        let named = |ending: &&str| match self.form {
            Form::File => format!("{template}{ending}"),
            Form::Folder => (*ending).to_owned(),
        };
        match self.own_endings {
            [] => self.endings.iter().take(1).map(named).collect(),
            own => own.iter().map(named).collect(),
        }
    }

    /// First file names that only one language has, then folders, then languages that only the content identifies.
    fn rank(&self) -> u8 {
        match (self.form, self.recognises) {
            _ if !self.own_endings.is_empty() => 0,
            (Form::File, None) => 0,
            (Form::Folder, _) => 1,
            (Form::File, Some(_)) => 2,
        }
    }
}

/// The language of a file, by its name and its content.
pub fn of_file(path: &str, content: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| {
        let is_recognised = || row.recognises.is_none_or(|recognises| recognises(content));
        row.owns_name(path) || row.has_name(path) && is_recognised()
    })
}

/// A type of which a file has several, such as `broker.yaml#SERVICE/PLAN`: the file, and the part of it.
pub fn part(type_name: &str) -> Option<(&str, &str)> {
    let (file, part) = type_name.split_once('#')?;
    (!file.is_empty() && !part.is_empty()).then_some((file, part))
}

/// What the programs know about one language.
pub fn row(language: Language) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.language == language)
}

/// Whether this is the name of a template file.
pub fn is_template_name(name: &str) -> bool {
    let mut files = TABLE.iter().filter(|row| row.form == Form::File);
    files.any(|row| row.has_name(name))
}

/// The endings of template files, as a list in words.
pub fn endings() -> impl fmt::Display {
    let files = TABLE.iter().filter(|row| row.form == Form::File);
    let mut all: Vec<&str> = Vec::new();
    for ending in files.flat_map(|row| row.endings) {
        if !all.contains(ending) {
            all.push(ending);
        }
    }
    all.join(", ")
}

/// The possible file names of a template in a registry, in the order of precedence.
pub fn files_of(template: &str) -> Vec<TemplateFile> {
    let mut rows: Vec<&'static Row> = TABLE.iter().collect();
    rows.sort_by_key(|row| row.rank());
    let files = |row: &'static Row| {
        let names = row.files_of(template).into_iter();
        names.map(move |name| TemplateFile { row, name })
    };
    rows.into_iter().flat_map(files).collect()
}

/// The template in a version's folder. `None` if the folder has no template.
///
/// # Errors
/// There are two of the same precedence.
pub fn find(
    template: &str,
    has: impl Fn(&str) -> bool,
) -> Result<Option<TemplateFile>, TwoTemplates> {
    let mut found = files_of(template)
        .into_iter()
        .filter(|file| has(&file.name));
    match (found.next(), found.next()) {
        (Some(first), Some(second)) if first.row.rank() == second.row.rank() => Err(TwoTemplates {
            first: first.name,
            second: second.name,
        }),
        (first, _) => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_the_language_that_its_name_and_content_say() {
        const OBJECT: &str = "{apiVersion: v1, kind: Pod}";
        const TEMPLATE: &str = "{\"kind\": \"Template\", \"apiVersion\": \"v1\", \"objects\": []}";
        const BROKER: &str = "kind: Role\n---\napiVersion: servicebroker.couchbase.com/v1alpha1\nkind: ServiceBrokerConfig\n";
        const PLAN: &str = "apiVersion: osb.servicefabrik.io/v1alpha1\nkind: SFService\n---\napiVersion: osb.servicefabrik.io/v1alpha1\nkind: SFPlan\n";
        const OPENSHIFT: &str = "apiVersion: template.openshift.io/v1\nkind: Template\n";
        for (path, content, language) in [
            ("a.py", OBJECT, Some(Language::Python)),
            ("a.jinja", OBJECT, Some(Language::Jinja)),
            ("a.gotmpl", OBJECT, Some(Language::GoTemplate)),
            ("a.yaml", "resources: []", Some(Language::Jinja)),
            ("a.yaml", OBJECT, Some(Language::Manifests)),
            ("https://host/a.yml", OBJECT, Some(Language::Manifests)),
            ("a.json", OBJECT, Some(Language::Manifests)),
            ("a.json", TEMPLATE, Some(Language::TemplateObject)),
            ("a.yml", TEMPLATE, Some(Language::TemplateObject)),
            ("a.yaml", OPENSHIFT, Some(Language::TemplateObject)),
            ("a.template.yaml", "{}", Some(Language::TemplateObject)),
            ("a.yaml", BROKER, Some(Language::BrokerConfig)),
            ("a.broker.yaml", "{}", Some(Language::BrokerConfig)),
            ("a.yaml", PLAN, Some(Language::Plan)),
            ("a.sfplan.yaml", "{}", Some(Language::Plan)),
            ("a.jinja", TEMPLATE, Some(Language::Jinja)),
            ("a.yml", "resources: []", None),
            ("redis.tgz", "H4sI", Some(Language::Chart)),
            ("redis/Chart.yaml", OBJECT, Some(Language::Package)),
            ("Chart.yaml", "", Some(Language::Package)),
            ("OtherChart.yaml", "", Some(Language::Jinja)),
            ("a.txt", OBJECT, None),
        ] {
            let found = of_file(path, content).map(|row| row.language);
            assert_eq!(found, language, "{path}: {content}");
        }
    }

    #[test]
    fn a_version_has_one_template_and_what_only_content_tells_comes_last() {
        for (files, expected) in [
            (&["web.py"][..], Ok(Some("web.py"))),
            (
                &["web.jinja", "web.yaml", "Chart.yaml"],
                Ok(Some("web.jinja")),
            ),
            (&["Chart.yaml", "web.yaml"], Ok(Some("Chart.yaml"))),
            (&["web.yaml"], Ok(Some("web.yaml"))),
            (
                &["web.template.json", "web.yaml"],
                Ok(Some("web.template.json")),
            ),
            (&["web.template.yaml", "web.jinja"], Err(())),
            (&["other.py", "web.txt"], Ok(None)),
            (&["web.jinja", "web.py"], Err(())),
        ] {
            let found = find("web", |name| files.contains(&name));
            let found = found.map(|found| found.map(|file| file.name));
            assert_eq!(
                found.as_ref().map(Option::as_deref).map_err(|_| ()),
                expected,
                "{files:?}"
            );
        }
    }

    #[test]
    fn every_language_has_a_row_of_its_own() {
        for (index, row) in TABLE.iter().enumerate() {
            assert!(!row.endings.is_empty(), "{}", row.name);
            assert!(!TABLE[..index].contains(row), "{}", row.name);
        }
        assert_eq!(
            endings().to_string(),
            ".py, .yaml, .yml, .json, .jinja, .gotmpl, .tgz"
        );
    }
}
