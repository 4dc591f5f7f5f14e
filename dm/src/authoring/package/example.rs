//! `example.yaml`: the configuration that deploys an instance of the template.

use common::model::Version;
use common::registry::FilePath;
use common::yaml::{self, Duplicates, Limits};

use super::VersionFiles;
use super::check::{imported, text};

const FILE: &str = "example.yaml";

/// How the type of a resource relates to the template.
enum Use {
    Of(Version),
    /// It is the template's file.
    Itself,
    None,
}

/// `template` is its name and its file.
pub fn check(
    files: &VersionFiles,
    template: (&str, &FilePath),
    version: Option<Version>,
    faults: &mut Vec<String>,
) {
    let Ok(file) = FilePath::parse(FILE) else {
        return;
    };
    if !files.contains_key(&file) {
        faults.push(format!(
            "{FILE}: it is missing; add a configuration that deploys an instance of the template"
        ));
        return;
    }
    let Some(content) = text(files, &file, faults) else {
        return;
    };
    let document = match yaml::read(content, &Limits::DEFAULT, Duplicates::Error) {
        Ok(document) => document.value,
        Err(error) => return faults.push(format!("{FILE}: {error}")),
    };
    let Some(resources) = document["resources"].as_array() else {
        return faults.push(format!(
            "{FILE}: it is not a configuration; write it like {{resources: [{{name, type, properties}}]}}"
        ));
    };
    let imports = imported(files, &file, content, faults);
    let types = resources
        .iter()
        .filter_map(|resource| resource["type"].as_str());
    let uses: Vec<Use> = types.map(|name| using(name, template, &imports)).collect();
    if let Some(fault) = judged(&uses, template.0, version) {
        faults.push(format!("{FILE}: {fault}"));
    }
}

fn using(
    type_name: &str,
    (template, file): (&str, &FilePath),
    imports: &[(String, FilePath)],
) -> Use {
    if imports
        .iter()
        .any(|(name, path)| name == type_name && path == file)
    {
        return Use::Itself;
    }
    let reference = type_name.rsplit_once(':');
    let own = reference.filter(|(path, _)| path.rsplit('/').next() == Some(template));
    match own.and_then(|(_, version)| version.parse().ok()) {
        Some(version) => Use::Of(version),
        None => Use::None,
    }
}

/// A reference means the highest PATCH, so MAJOR and MINOR must be those of this version.
fn judged(uses: &[Use], template: &str, version: Option<Version>) -> Option<String> {
    let fits = |wanted: &Version| {
        version.is_none_or(|own| (own.major, own.minor) == (wanted.major, wanted.minor))
    };
    let mut other = None;
    for one in uses {
        match one {
            Use::Itself => return None,
            Use::Of(wanted) if fits(wanted) => return None,
            Use::Of(wanted) => other = Some(wanted),
            Use::None => {}
        }
    }
    Some(match other {
        Some(wanted) => format!("it uses {template}:{wanted}, which is a different version"),
        None => {
            format!(
                "none of its resources uses this template; add one with type: {template}:VERSION"
            )
        }
    })
}
