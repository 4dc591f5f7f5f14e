//! Reads a target with all its files: a file, a folder, an archive, standard input, or a template's reference.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use common::manifests::{is_manifests, is_template_object};
use common::model::DeploymentName;
use common::yaml;
use serde_json::{Value, json};

use super::default_name::default_name;
use super::reference::{is_reference, qualified};
use super::{Resolved, Target};
use crate::bundle::archive::{self, ArchiveError};
use crate::bundle::chart;
use crate::bundle::files::{self, Files, ReadError};
use crate::bundle::{BundleError, Bundler, TOTAL_BYTES, is_configuration, manifests};
use crate::error::Failure;
use crate::terminal::Terminal;

/// The file name of a Template object from standard input.
const TEMPLATE: &str = "stdin.template.yaml";

impl Target {
    /// Reads the target, and names the deployment.
    ///
    /// # Errors
    /// Flags that do not fit the target, or files that cannot be read.
    pub fn resolve(&self, terminal: &mut Terminal<'_>) -> Result<Resolved, Failure> {
        let target = match self.words()?.0 {
            None | Some("-") => return self.standard_input(terminal),
            Some(target) => self.chart.applied(target)?,
        };
        let target = target.as_str();
        if target.contains("://") || is_reference(target) {
            let type_name = qualified(target, self.registry.as_deref())?;
            return self.template(type_name, target, None);
        }
        if self.registry.is_some() {
            return Err(Failure::usage(
                "--registry is for TEMPLATE:VERSION, not for a file; leave it out".to_owned(),
            ));
        }
        let path = Path::new(target);
        if chart::is_chart(path) {
            return self.chart(path, target);
        }
        if path.is_dir() {
            return self.folder(path, target);
        }
        if !is_configuration(target) && !target.ends_with(".tar") && path.exists() {
            let (folder, file) = split(path);
            return self.template(file.clone(), target, Some((folder, file)));
        }
        if target.ends_with(".tar") {
            let bytes = std::fs::File::open(path)
                .map_err(|error| ReadError::Other(error.to_string()))
                .and_then(|file| files::bytes(file, TOTAL_BYTES));
            return self.archive(&bytes.map_err(|reason| unreadable(target, reason))?, target);
        }
        let (folder, file) = split(path);
        let content = folder
            .read(&file)
            .map_err(|reason| unreadable(target, reason))?;
        if is_template_object(&content) {
            return self.template(file.clone(), target, Some((folder, file)));
        }
        self.configuration(content, target, &file, &folder)
    }

    fn standard_input(&self, terminal: &mut Terminal<'_>) -> Result<Resolved, Failure> {
        let shown = "standard input";
        let bytes = files::bytes(&mut *terminal.stdin, TOTAL_BYTES)
            .map_err(|reason| unreadable(shown, reason))?;
        if archive::is_archive(&bytes) {
            return self.archive(&bytes, shown);
        }
        let content = files::text(&bytes[..]).map_err(|reason| unreadable(shown, reason))?;
        if is_template_object(&content) {
            // Without --name there is nothing to name the deployment after.
            self.name("")?;
            let files = Files::Archive([(TEMPLATE.to_owned(), content)].into());
            let source = (Rc::new(files), TEMPLATE.to_owned());
            return self.template(TEMPLATE.to_owned(), shown, Some(source));
        }
        // Imports of standard input are relative to the current folder.
        self.configuration(content, shown, "", &Rc::new(Files::Folder("".into())))
    }

    fn archive(&self, bytes: &[u8], shown: &str) -> Result<Resolved, Failure> {
        let failed = |error: ArchiveError| Failure::failed(format!("{shown}: {error}"));
        let (mut files, file) = archive::read(bytes).map_err(failed)?;
        let content = files.remove(&file).unwrap_or_default();
        self.configuration(content, &file, &file, &Rc::new(Files::Archive(files)))
    }

    fn configuration(
        &self,
        content: String,
        shown: &str,
        file: &str,
        files: &Rc<Files>,
    ) -> Result<Resolved, Failure> {
        self.check_no_template_flags()?;
        if is_manifests(&content) {
            manifests::check(shown, &content).map_err(BundleError::from)?;
        }
        let name = self.name(file)?;
        let bundler = Bundler::new(content, shown, file, files)?;
        self.finish(bundler, name, shown)
    }

    /// A folder that is a Helm chart. The deployment is an instance of it.
    fn chart(&self, path: &Path, shown: &str) -> Result<Resolved, Failure> {
        // `.` and `..` have the names of the folders that they lead to.
        let whole = path.canonicalize();
        let (files, folder) = split(whole.as_deref().unwrap_or(path));
        let type_name = format!("{folder}{}", chart::ENDING);
        self.template(type_name, shown, Some((files, folder)))
    }

    /// A folder of files with Kubernetes objects.
    fn folder(&self, path: &Path, shown: &str) -> Result<Resolved, Failure> {
        self.check_no_template_flags()?;
        // `.` and `..` have the names of the folders that they lead to.
        let whole = path.canonicalize();
        let file = whole.as_deref().unwrap_or(path).file_name();
        let name = self.name(&file.unwrap_or_default().to_string_lossy())?;
        let bundler = Bundler::from_manifests(manifests::read(path)?);
        self.finish(bundler, name, shown)
    }

    fn check_no_template_flags(&self) -> Result<(), Failure> {
        if self.has_properties() || self.registry.is_some() {
            let reason = "--set, --values and --registry go with a template; a configuration has its properties written in it";
            return Err(Failure::usage(reason.to_owned()));
        }
        Ok(())
    }

    /// A configuration of one resource, an instance of the template, named like the deployment.
    fn template(
        &self,
        type_name: String,
        target: &str,
        source: Option<(Rc<Files>, String)>,
    ) -> Result<Resolved, Failure> {
        let name = self.name(&type_name)?;
        let mut resource = json!({"name": name, "type": type_name});
        let properties = self.given_properties()?;
        if !properties.is_empty() {
            resource["properties"] = Value::Object(properties);
        }
        let content = yaml::write(&json!({"resources": [resource]}))
            .map_err(crate::terminal::format::OutputError::from)?;
        let shown = format!("the configuration made for {target}");
        let nothing = Rc::new(Files::Archive(BTreeMap::new()));
        let mut bundler = Bundler::new(content, &shown, "", &nothing)?;
        if let Some((files, path)) = source {
            bundler.want(&files, type_name, path, "the command line");
        }
        let resolved = self.finish(bundler, name, target)?;
        Ok(Resolved {
            is_instance: true,
            ..resolved
        })
    }

    fn finish(
        &self,
        mut bundler: Bundler,
        name: DeploymentName,
        shown: &str,
    ) -> Result<Resolved, Failure> {
        for import in &self.imports {
            let (folder, file) = split(Path::new(import));
            bundler.want(&folder, file.clone(), file, "the command line");
        }
        let mut bundle = bundler.finish()?;
        bundle.sources.name_configuration(name.as_str());
        Ok(Resolved {
            name,
            shown: shown.to_owned(),
            bundle,
            is_instance: false,
        })
    }

    fn name(&self, of: &str) -> Result<DeploymentName, Failure> {
        match &self.name {
            Some(name) => Ok(name.clone()),
            None => default_name(of).ok_or_else(|| {
                Failure::usage("the deployment has no name; give one with --name".to_owned())
            }),
        }
    }
}

fn unreadable(file: &str, reason: ReadError) -> Failure {
    let asked = match reason {
        ReadError::Missing => "; write a template of a registry as TEMPLATE:VERSION".to_owned(),
        _ => String::new(),
    };
    BundleError::File {
        file: file.to_owned(),
        reason,
        asked,
    }
    .into()
}

pub fn split(path: &Path) -> (Rc<Files>, String) {
    let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    (Rc::new(Files::Folder(folder)), file)
}
