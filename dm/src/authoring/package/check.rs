//! Checks the files of a version. Each fault is a sentence that begins with the name of the file.

use common::model::Version;
use common::model::language::{self, Form, TwoTemplates};
use common::model::registry::scope::is_part;
use common::registry::package::CHART;
use common::registry::sums::FILE;
use common::registry::{FilePath, SCHEMA, TEMPLATE_IMPORTS};
use common::yaml::{self, Duplicates, Limits};

use super::{VersionFiles, example, is_of_signature, seal};
use crate::authoring::version::{EXAMPLE, TemplateVersion, described, is_chart};
use crate::bundle::imports;

pub fn faults(template: &str, version: &str, files: &VersionFiles) -> Vec<String> {
    let mut faults = Vec::new();
    let number = version.parse::<Version>();
    if let Err(error) = &number {
        faults.push(format!("the folder's name {error}"));
    }
    if !is_part(template) {
        faults.push(format!(
            "the parent folder's name, {template:?}, is the name of the template, and cannot stand in a reference; rename the folder"
        ));
    }
    let has = |name: &str| files.keys().any(|path| path.as_str() == name);
    match language::find(template, has) {
        Ok(Some(found)) if found.row.form == Form::Folder && is_chart(files) => {
            chart(files, template, number.ok(), &mut faults);
        }
        Ok(Some(found)) if found.row.form == Form::Folder => {
            objects(files, template, number.ok(), &mut faults);
        }
        Ok(Some(found)) => match FilePath::parse(&found.name) {
            Ok(file) => {
                text(files, &file, &mut faults);
                schema(files, &file.with_ending(SCHEMA), &mut faults);
                example::check(files, (template, &file), number.ok(), &mut faults);
            }
            Err(error) => faults.push(error.to_string()),
        },
        Ok(None) => faults.push(missing_template(template, files)),
        Err(TwoTemplates { first, second }) => faults.push(format!(
            "{first} and {second}: a version has exactly one template"
        )),
    }
    signature(template, version, files, &mut faults);
    faults
}

/// A Helm chart. Its templates are checked when they are expanded.
fn chart(files: &VersionFiles, template: &str, number: Option<Version>, faults: &mut Vec<String>) {
    let Some(text) = FilePath::parse(CHART)
        .ok()
        .and_then(|file| text(files, &file, faults))
    else {
        return;
    };
    if let Err(error) = described(template, number, CHART.to_owned(), text) {
        faults.push(error.to_string());
    }
}

/// A package of Kubernetes objects. Its example may be left out.
fn objects(
    files: &VersionFiles,
    template: &str,
    number: Option<Version>,
    faults: &mut Vec<String>,
) {
    let Some(number) = number else {
        return;
    };
    let folder = format!("{template}/{number}");
    let release = TemplateVersion::from_contents(template, number, &folder, files);
    if let Err(error) = release.and_then(|release| release.bundle()) {
        faults.push(error.to_string());
    }
}

/// Names the likeliest reason: a template file whose name differs from the folder's.
fn missing_template(template: &str, files: &VersionFiles) -> String {
    let is_other = |path: &&FilePath| path.names().count() == 1 && path.as_str().contains('.');
    let others: Vec<_> = files
        .keys()
        .filter(is_other)
        .map(FilePath::as_str)
        .filter(|path| language::is_template_name(path) && *path != EXAMPLE)
        .collect();
    let others_text = match others.is_empty() {
        true => String::new(),
        false => format!("; there is only {}", others.join(", ")),
    };
    let files = language::files_of(template).into_iter();
    let files = files.filter(|file| file.row.form == Form::File);
    let names: Vec<_> = files.map(|file| file.name).collect();
    format!(
        "{}: the template is missing{others_text}",
        names.join(" or ")
    )
}

/// The text of a file, if it exists and is text.
pub fn text<'a>(
    files: &'a VersionFiles,
    file: &FilePath,
    faults: &mut Vec<String>,
) -> Option<&'a str> {
    let read = std::str::from_utf8(files.get(file)?);
    if read.is_err() {
        faults.push(format!("{file}: it is not UTF-8 text"));
    }
    read.ok()
}

/// A template need not have a schema.
fn schema(files: &VersionFiles, file: &FilePath, faults: &mut Vec<String>) {
    let Some(text) = text(files, file, faults) else {
        return;
    };
    match yaml::read(text, &Limits::DEFAULT, Duplicates::Error) {
        Err(error) => {
            faults.push(format!("{file}: {error}"));
            return;
        }
        Ok(document) if !(document.value.is_object() || document.value.is_null()) => {
            faults.push(format!("{file}: a schema must be a map"));
            return;
        }
        Ok(_) => {}
    }
    imported(files, file, text, faults);
}

/// The imports of a schema or of the example must be in the folder.
pub fn imported(
    files: &VersionFiles,
    file: &FilePath,
    content: &str,
    faults: &mut Vec<String>,
) -> Vec<(String, FilePath)> {
    let declared = match imports::declared(content, file.as_str()) {
        Ok(declared) => declared,
        Err(error) => {
            faults.push(error.to_string());
            return Vec::new();
        }
    };
    if declared.len() > TEMPLATE_IMPORTS {
        faults.push(format!(
            "{file}: it imports more than {TEMPLATE_IMPORTS} files"
        ));
    }
    let mut found = Vec::new();
    for import in declared {
        match file.parent().join_text(&import.path) {
            Err(error) => faults.push(format!("{file}: its import {error}")),
            Ok(path) if !files.contains_key(&path) => {
                faults.push(format!("{file}: its import '{path}' is not in the folder"));
            }
            Ok(path) => {
                text(files, &path, faults);
                found.push((import.name.unwrap_or(import.path), path));
            }
        }
    }
    found
}

fn signature(template: &str, version: &str, files: &VersionFiles, faults: &mut Vec<String>) {
    let Ok(list) = FilePath::parse(FILE) else {
        return;
    };
    if files.contains_key(&list) {
        let Some(text) = text(files, &list, faults) else {
            return;
        };
        if let Err(fault) = seal::fits(template, version, files, text) {
            faults.push(format!(
                "{FILE}: {fault}; sign the version again with --sign, or remove {FILE} and its signatures"
            ));
        }
    } else if let Some(alone) = files.keys().find(|path| is_of_signature(path.as_str())) {
        faults.push(format!(
            "{alone}: the {FILE} that it signs is missing; remove it, or sign the version again"
        ));
    }
}
