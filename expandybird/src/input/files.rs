//! The files of a request, found by name and by path.
//!
//! Responsible for which import a name in a configuration, a schema or a template means. It does not know the contents
//! of files, but for the ids of plans.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use common::manifests;
use common::model::{Import, language};
use expandybird_sfplan::ids;

/// A type that begins so is a plan of the Inter-operator, by its id.
pub const PLAN_TYPE: &str = "sfplan:";

/// All imports of one request.
#[derive(Debug, Clone, Default)]
pub struct Files {
    imports: Arc<[Import]>,
    by_name: HashMap<String, usize>,
    by_path: HashMap<String, usize>,
}

/// Two imports with the same name and different contents: the name is ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two imports with different contents are named '{0}'; give each a name of its own")]
pub struct AmbiguousImport(pub String);

impl Files {
    pub fn new(imports: Vec<Import>) -> Result<Self, AmbiguousImport> {
        let mut by_name: HashMap<String, usize> = HashMap::new();
        let mut by_path = HashMap::new();
        for (index, import) in imports.iter().enumerate() {
            let first = *by_name.entry(import.name.clone()).or_insert(index);
            if imports[first].content != import.content {
                return Err(AmbiguousImport(import.name.clone()));
            }
            by_path.entry(normal(import.path())).or_insert(index);
        }
        Ok(Self {
            imports: imports.into(),
            by_name,
            by_path,
        })
    }

    pub fn all(&self) -> &[Import] {
        &self.imports
    }

    /// The import with exactly this name: a type with that name is a template.
    pub fn named(&self, name: &str) -> Option<&Import> {
        self.by_name.get(name).map(|&index| &self.imports[index])
    }

    /// The template of a type: the import of this name, or the file that has the type as a part. That one is named like
    /// the type.
    pub fn template(&self, type_name: &str) -> Option<Cow<'_, Import>> {
        if let Some(import) = self.named(type_name) {
            return Some(Cow::Borrowed(import));
        }
        let file = match type_name.strip_prefix(PLAN_TYPE) {
            Some(id) => self.imports.iter().find(|file| has_plan(file, id))?,
            None => self.named(language::part(type_name)?.0)?,
        };
        Some(Cow::Owned(Import {
            name: type_name.to_owned(),
            path: Some(file.path().to_owned()),
            content: file.content.clone(),
        }))
    }

    /// By name, by path, or relative to the file at `base`: how templates include files.
    pub fn included(&self, wanted: &str, base: &str) -> Option<&Import> {
        self.anywhere(wanted)
            .or_else(|| self.at_path(&beside(base, wanted)))
    }

    /// Relative to the file at `base`, or by name or path: how schemas import files.
    pub fn required(&self, wanted: &str, base: &str) -> Option<&Import> {
        self.at_path(&beside(base, wanted))
            .or_else(|| self.anywhere(wanted))
    }

    /// The schema of a template, by the template's name or path.
    pub fn schema_of(&self, template: &Import) -> Option<&Import> {
        let by_name = format!("{}.schema", template.name);
        let by_path = format!("{}.schema", template.path());
        self.anywhere(&by_name).or_else(|| self.anywhere(&by_path))
    }

    /// The files in the folder of a template, by their paths in it, in the order of the paths.
    pub fn beside(&self, template: &Import) -> Vec<(&str, &Import)> {
        let folder = match template.path().rsplit_once('/') {
            Some((folder, _)) => format!("{}/", normal(folder)),
            None => String::new(),
        };
        let within = self.by_path.iter().filter_map(|(path, &index)| {
            let path = path.strip_prefix(folder.as_str())?;
            Some((path, &self.imports[index]))
        });
        let mut found: Vec<_> = within.collect();
        found.sort_unstable_by_key(|(path, _)| *path);
        found
    }

    fn anywhere(&self, wanted: &str) -> Option<&Import> {
        self.named(wanted).or_else(|| self.at_path(wanted))
    }

    fn at_path(&self, path: &str) -> Option<&Import> {
        let index = self.by_path.get(&normal(path))?;
        self.imports.get(*index)
    }
}

fn has_plan(file: &Import, id: &str) -> bool {
    let plans = file.content.contains("SFPlan");
    plans && manifests::read_plan(&file.content).is_ok_and(|all| ids(&all).any(|one| one == id))
}

/// The path of a file next to `base`.
fn beside(base: &str, wanted: &str) -> String {
    match base.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{wanted}"),
        None => wanted.to_owned(),
    }
}

/// Removes `.` and resolves `..` as far as there are folders. A URL keeps its two slashes.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts
                .last()
                .is_some_and(|&last| last != ".." && !last.is_empty()) =>
            {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(imports: &[(&str, &str)]) -> Files {
        let import = |&(name, path): &(&str, &str)| Import {
            name: name.into(),
            path: Some(path.into()),
            content: path.into(),
        };
        Files::new(imports.iter().map(import).collect()).unwrap()
    }

    #[test]
    fn a_file_is_found_by_name_by_path_and_beside_its_user() {
        let files = files(&[("a.jinja", "lib/a.jinja"), ("m", "lib/macros/m.jinja")]);
        for wanted in ["a.jinja", "lib/a.jinja", "./lib/a.jinja", "../lib/a.jinja"] {
            let found = files.included(wanted, "lib/b.jinja");
            assert_eq!(found.map(Import::path), Some("lib/a.jinja"), "{wanted}");
        }
        let beside = files.included("macros/m.jinja", "lib/a.jinja");
        assert_eq!(beside.map(|import| import.name.as_str()), Some("m"));
        assert_eq!(files.included("other", "lib/a.jinja"), None);
    }

    #[test]
    fn a_part_of_a_file_is_a_template_with_the_name_of_the_type() {
        let files = files(&[("broker.yaml", "lib/broker.yaml"), ("a#b", "a")]);
        let template = |name| files.template(name).map(Cow::into_owned);
        let part = template("broker.yaml#web/small").unwrap();
        assert_eq!(
            (part.name.as_str(), part.path()),
            ("broker.yaml#web/small", "lib/broker.yaml")
        );
        assert_eq!(template("a#b").unwrap().path(), "a");
        for name in ["other.yaml#web", "broker.yaml#", "#web", "Service"] {
            assert_eq!(template(name), None, "{name}");
        }
    }

    #[test]
    fn a_plan_is_found_by_its_id_in_whichever_file_it_is() {
        let plan = |id: &str| {
            format!("apiVersion: osb.servicefabrik.io/v1alpha1\nkind: SFPlan\nspec: {{id: {id}}}\n")
        };
        let import = |name: &str, content: String| Import {
            name: name.to_owned(),
            path: None,
            content,
        };
        let files = Files::new(vec![
            import("broken.yaml", "kind: SFPlan\n  : {".to_owned()),
            import("one.yaml", plan("one")),
            import(
                "more.yaml",
                format!("{}---\n{}", plan("two"), plan("three")),
            ),
        ])
        .unwrap();
        let template = |name| files.template(name).map(Cow::into_owned);
        let found = template("sfplan:three").unwrap();
        assert_eq!(
            (found.name.as_str(), found.path()),
            ("sfplan:three", "more.yaml")
        );
        assert_eq!(template("sfplan:one").unwrap().path(), "one.yaml");
        assert_eq!(template("sfplan:four"), None);
    }

    #[test]
    fn the_files_of_a_folder_come_in_the_order_of_their_paths() {
        let files = files(&[
            ("redis:v1", "r/redis/Chart.yaml"),
            ("x", "r/redis/manifests/b.yaml"),
            ("y", "r/redis/manifests/./a.yaml"),
            ("z", "r/redis2/manifests/c.yaml"),
        ]);
        let chart = files.named("redis:v1").unwrap();
        let found: Vec<_> = files.beside(chart).iter().map(|(path, _)| *path).collect();
        assert_eq!(
            found,
            ["Chart.yaml", "manifests/a.yaml", "manifests/b.yaml"]
        );
    }

    #[test]
    fn a_url_is_a_base_as_well() {
        let files = files(&[("helper", "https://host/t/helper.py")]);
        assert!(files.required("helper.py", "https://host/t/t.py").is_some());
        assert!(
            files
                .required("../t/./helper.py", "https://host/t/t.py")
                .is_some()
        );
    }

    #[test]
    fn two_contents_of_one_name_are_refused() {
        let import = |content: &str| Import {
            name: "a".into(),
            path: None,
            content: content.into(),
        };
        assert!(Files::new(vec![import("x"), import("x")]).is_ok());
        assert!(Files::new(vec![import("x"), import("y")]).is_err());
    }
}
