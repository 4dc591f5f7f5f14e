//! The target of a command: a configuration, a template file, a template reference, or standard input.

pub mod properties;

use std::path::Path;
use std::rc::Rc;

use clap::Args;
use common::manifests::is_manifests;
use common::model::DeploymentName;
use common::yaml::{self, Duplicates, Limits};
use serde_json::{Map, Value, json};

use crate::bundle::archive::{self, ArchiveError};
use crate::bundle::files::{self, Files, ReadError};
use crate::bundle::{Bundle, BundleError, Bundler, TOTAL_BYTES, is_configuration, manifests};
use crate::error::Failure;
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub struct Target {
    /// A configuration or Kubernetes objects (.yaml, .yml, .json), a folder of Kubernetes objects, a template file,
    /// TEMPLATE:VERSION, a full template reference or URL, a tar archive (.tar), or - for standard input.
    #[arg(
        value_name = "TARGET",
        required_unless_present = "stdin",
        conflicts_with = "stdin"
    )]
    pub target: Option<String>,
    /// More files to send; each is imported under its file name.
    #[arg(value_name = "IMPORT")]
    pub imports: Vec<String>,
    /// Read a configuration, or a tar archive that holds one, from standard input.
    #[arg(long)]
    pub stdin: bool,
    /// Name of the deployment [default: the name of the file or the template].
    #[arg(long)]
    pub name: Option<DeploymentName>,
    /// Properties of a template, like replicas=3,service.port=80,tags=["a","b"]; "1" in quotes is text.
    #[arg(long, id = "properties", value_name = "NAME=VALUE,…")]
    pub properties: Vec<String>,
    /// YAML or JSON file with properties of a template; --properties overrides it.
    #[arg(long, value_name = "FILE")]
    pub properties_file: Option<String>,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
}

/// A target with all its files, ready to be sent.
#[derive(Debug)]
pub struct Resolved {
    pub name: DeploymentName,
    /// The name of the target in messages.
    pub shown: String,
    pub bundle: Bundle,
}

impl Target {
    /// The deployment, if the target is only its name: not a file, template or reference, and without flags for those.
    pub fn deployment(&self) -> Option<DeploymentName> {
        let target = self.target.as_deref().filter(|&target| target != "-")?;
        let has_properties = !self.properties.is_empty() || self.properties_file.is_some();
        if has_properties || self.registry.is_some() || self.name.is_some() {
            return None;
        }
        let name = DeploymentName::parse(target).ok()?;
        (!Path::new(target).exists()).then_some(name)
    }

    /// Like [`Self::deployment`], for commands without further arguments. A file of that name does not matter.
    pub fn name_only(&self) -> Option<DeploymentName> {
        let has_properties = !self.properties.is_empty() || self.properties_file.is_some();
        let has_more = has_properties || self.registry.is_some() || !self.imports.is_empty();
        let target = self.target.as_deref().filter(|_| !has_more)?;
        DeploymentName::parse(target).ok()
    }

    pub fn resolve(&self, terminal: &mut Terminal<'_>) -> Result<Resolved, Failure> {
        let target = match self.target.as_deref() {
            None | Some("-") => return self.standard_input(terminal),
            Some(target) => target,
        };
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
        if path.is_dir() {
            return self.folder(path, target);
        }
        if !is_configuration(target) && !target.ends_with(".tar") && path.exists() {
            let file = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            return self.template(
                file.unwrap_or_else(|| target.to_owned()),
                target,
                Some(path),
            );
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
        let has_properties = !self.properties.is_empty() || self.properties_file.is_some();
        if has_properties || self.registry.is_some() {
            let reason = "--properties and --registry go with a template; a configuration has its properties written in it";
            return Err(Failure::usage(reason.to_owned()));
        }
        Ok(())
    }

    /// A configuration of one resource, an instance of the template, named like the deployment.
    fn template(
        &self,
        type_name: String,
        target: &str,
        file: Option<&Path>,
    ) -> Result<Resolved, Failure> {
        let name = self.name(&type_name)?;
        let mut resource = json!({"name": name, "type": type_name});
        let properties = self.all_properties()?;
        if !properties.is_empty() {
            resource["properties"] = Value::Object(properties);
        }
        let content = yaml::write(&json!({"resources": [resource]}))
            .map_err(crate::terminal::format::OutputError::from)?;
        let (folder, path) =
            file.map_or_else(|| (Rc::new(Files::Folder("".into())), String::new()), split);
        let mut bundler = Bundler::new(
            content,
            &format!("the configuration made for {target}"),
            "",
            &folder,
        )?;
        if file.is_some() {
            bundler.want(&folder, type_name, path, "the command line");
        }
        self.finish(bundler, name, target)
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

    fn all_properties(&self) -> Result<Map<String, Value>, Failure> {
        let mut all = match &self.properties_file {
            Some(file) => read_properties(file)?,
            None => Map::new(),
        };
        for text in &self.properties {
            properties::merge(&mut all, text)?;
        }
        Ok(all)
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

fn split(path: &Path) -> (Rc<Files>, String) {
    let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    (Rc::new(Files::Folder(folder)), file)
}

pub fn read_properties(file: &str) -> Result<Map<String, Value>, Failure> {
    let (folder, name) = split(Path::new(file));
    let unreadable = |reason| BundleError::File {
        file: file.to_owned(),
        reason,
        asked: String::new(),
    };
    let text = folder.read(&name).map_err(unreadable)?;
    let document = yaml::read(&text, &Limits::DEFAULT, Duplicates::Error).map_err(|error| {
        BundleError::Malformed {
            place: format!("{file}:{}:{}", error.location.line, error.location.column),
            reason: error.kind.to_string(),
            excerpt: error.excerpt(),
        }
    })?;
    match document.value {
        Value::Object(properties) => Ok(properties),
        Value::Null => Ok(Map::new()),
        _ => Err(Failure::failed(format!(
            "{file}: properties must be a map of names to values"
        ))),
    }
}

/// `[anything/]template:version`. A path with a colon must begin with `./` or `/`.
fn is_reference(target: &str) -> bool {
    if target.starts_with(['.', '/']) {
        return false;
    }
    let last = target.rsplit('/').next().unwrap_or_default();
    last.split_once(':')
        .is_some_and(|(template, version)| !template.is_empty() && !version.is_empty())
}

/// The type for the configuration: the target, or its full reference in the given registry.
pub fn qualified(target: &str, registry: Option<&str>) -> Result<String, Failure> {
    let Some(registry) = registry else {
        return Ok(target.to_owned());
    };
    if target.contains('/') {
        let reason =
            "--registry is for TEMPLATE:VERSION; this reference already names its registry";
        return Err(Failure::usage(reason.to_owned()));
    }
    let path = registry.strip_prefix("github.com/").unwrap_or(registry);
    let segments: Vec<_> = path.split('/').collect();
    if segments.len() > 3 || segments.iter().any(|segment| segment.is_empty()) {
        return Err(Failure::usage(format!(
            "--registry {registry:?} is not valid: write ORG/REPO, ORG/REPO/COLLECTION, or a name from dm registries"
        )));
    }
    match segments[..] {
        [registered] => Ok(format!("{registered}/{target}")),
        _ => Ok(format!("github.com/{path}/{target}")),
    }
}

/// The name of a file or template, without folders, version and ending, as a valid deployment name.
fn default_name(of: &str) -> Option<DeploymentName> {
    let last = of.rsplit('/').next()?;
    let stem = last.split([':', '.', '?']).find(|part| !part.is_empty())?;
    let dashed: String = stem
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                c
            } else {
                '-'
            }
        })
        .take(63)
        .collect();
    DeploymentName::parse(dashed.trim_matches('-')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deployment_is_named_after_its_file_or_template() {
        for (of, expected) in [
            ("web.yaml", Some("web")),
            ("dir/My_App.prod.yaml", Some("my-app")),
            ("replicatedservice:v1", Some("replicatedservice")),
            ("github.com/o/r/c/redis:v1.2", Some("redis")),
            ("https://host/path/t.py", Some("t")),
            ("", None),
            ("___.yaml", None),
        ] {
            assert_eq!(
                default_name(of).map(String::from).as_deref(),
                expected,
                "{of}"
            );
        }
    }

    #[test]
    fn a_reference_is_told_from_a_file() {
        for reference in ["t:v1", "github.com/o/r/t:v1", "charts/t:1.2"] {
            assert!(is_reference(reference), "{reference}");
        }
        for file in [
            "web.yaml",
            "./t:v1",
            "/tmp/t:v1",
            "a:b/web.yaml",
            "t:",
            ":v1",
        ] {
            assert!(!is_reference(file), "{file}");
        }
    }

    #[test]
    fn a_registry_makes_a_short_reference_a_full_one() {
        assert_eq!(qualified("t:v1", None).unwrap(), "t:v1");
        assert_eq!(
            qualified("t:v1", Some("o/r")).unwrap(),
            "github.com/o/r/t:v1"
        );
        assert_eq!(
            qualified("t:v1", Some("github.com/o/r/c")).unwrap(),
            "github.com/o/r/c/t:v1"
        );
        assert_eq!(qualified("t:v1", Some("own")).unwrap(), "own/t:v1");
        for bad in ["", "o/", "o/r/c/d"] {
            assert!(qualified("t:v1", Some(bad)).is_err(), "{bad}");
        }
        assert!(qualified("github.com/o/r/t:v1", Some("o/r")).is_err());
    }
}
