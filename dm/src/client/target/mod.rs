//! The target of a command: a configuration, a template file, a template reference, or standard input.

mod chart_flags;
mod default_name;
pub mod properties;
mod properties_file;
mod property_flags;
mod reference;
mod source;

use std::path::Path;

use clap::Args;
use common::model::DeploymentName;
use serde_json::{Map, Value};

use crate::bundle::Bundle;
use crate::error::Failure;

pub use chart_flags::ChartFlags;
pub use properties_file::read_properties;
pub use property_flags::PropertyFlags;
pub use reference::qualified;
pub use source::split;

#[derive(Debug, Args)]
pub struct Target {
    /// A configuration or Kubernetes objects (.yaml, .yml, .json), a folder of Kubernetes objects, a template file,
    /// TEMPLATE:VERSION, a full template reference or URL, a Helm chart (a folder, .tgz, helm:REPOSITORY/CHART:VERSION, oci://HOST/PATH/CHART:VERSION), a stored Template object (template:NAMESPACE/NAME), a tar archive (.tar), or - for standard input.
    #[arg(
        value_name = "TARGET",
        required_unless_present_any = ["stdin", "file"],
        conflicts_with = "stdin"
    )]
    pub target: Option<String>,
    /// The same as TARGET. Behind a TARGET: more files with properties of the template, like --values.
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "stdin")]
    pub file: Vec<String>,
    /// More files to send; each is imported under its file name.
    #[arg(value_name = "IMPORT")]
    pub imports: Vec<String>,
    /// Read a configuration, or a tar archive that holds one, from standard input.
    #[arg(long)]
    pub stdin: bool,
    /// Name of the deployment [default: the name of the file or the template].
    #[arg(long)]
    pub name: Option<DeploymentName>,
    #[command(flatten)]
    pub properties: PropertyFlags,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
    #[command(flatten)]
    pub chart: ChartFlags,
}

/// A target with all its files, ready to be sent.
#[derive(Debug)]
pub struct Resolved {
    pub name: DeploymentName,
    /// The name of the target in messages.
    pub shown: String,
    pub bundle: Bundle,
    /// The configuration was made for a template, with the properties of the command line.
    pub is_instance: bool,
}

impl Target {
    /// The target and the files with properties behind it.
    fn words(&self) -> Result<(Option<&str>, &[String]), Failure> {
        match (self.target.as_deref(), self.file.as_slice()) {
            (Some(target), values) => Ok((Some(target), values)),
            (None, []) => Ok((None, &[])),
            (None, [file]) => Ok((Some(file), &[])),
            (None, _) => Err(Failure::usage(
                "-f names several files; give one file, or the folder that has them".to_owned(),
            )),
        }
    }

    fn has_properties(&self) -> bool {
        self.properties.is_given() || self.target.is_some() && !self.file.is_empty()
    }

    /// The deployment, if the target is only its name: not a file, template or reference, and without flags for those.
    pub fn deployment(&self) -> Option<DeploymentName> {
        self.stored().filter(|_| !self.has_properties())
    }

    /// The deployment whose stored configuration is meant: the target is its name, perhaps with properties to change.
    pub fn stored(&self) -> Option<DeploymentName> {
        let target = self.target.as_deref().filter(|&target| target != "-")?;
        if self.registry.is_some() || self.name.is_some() || self.chart.is_given() {
            return None;
        }
        let name = DeploymentName::parse(target).ok()?;
        (!Path::new(target).exists()).then_some(name)
    }

    /// The properties of the command line.
    pub fn given_properties(&self) -> Result<Map<String, Value>, Failure> {
        self.properties.merged(self.words()?.1)
    }

    /// Like [`Self::deployment`], for commands without further arguments. A file of that name does not matter.
    pub fn name_only(&self) -> Option<DeploymentName> {
        let has_more = self.has_properties()
            || self.registry.is_some()
            || self.chart.is_given()
            || !self.imports.is_empty();
        let target = self.target.as_deref().filter(|_| !has_more)?;
        DeploymentName::parse(target).ok()
    }
}
