//! The target of a command: a configuration, a template file, a template reference, or standard input.

mod default_name;
pub mod properties;
mod properties_file;
mod reference;
mod source;

use std::path::Path;

use clap::Args;
use common::model::DeploymentName;

use crate::bundle::Bundle;

pub use properties_file::read_properties;
pub use reference::qualified;

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
        if self.has_properties() || self.registry.is_some() || self.name.is_some() {
            return None;
        }
        let name = DeploymentName::parse(target).ok()?;
        (!Path::new(target).exists()).then_some(name)
    }

    /// Like [`Self::deployment`], for commands without further arguments. A file of that name does not matter.
    pub fn name_only(&self) -> Option<DeploymentName> {
        let has_more = self.has_properties() || self.registry.is_some() || !self.imports.is_empty();
        let target = self.target.as_deref().filter(|_| !has_more)?;
        DeploymentName::parse(target).ok()
    }

    fn has_properties(&self) -> bool {
        !self.properties.is_empty() || self.properties_file.is_some()
    }
}
