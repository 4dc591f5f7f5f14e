//! `dm describe`: shows what a template does and which properties it takes.

use clap::Args;
use common::model::DeploymentName;

use crate::client::inspect::get::Get;
use crate::client::render::describe::{describe, usage};
use crate::client::session::Session;
use crate::client::target::qualified;
use crate::error::Failure;

/// Describe a template: its purpose, its properties, an example.
///
/// `dm describe deployment NAME` is dm get NAME.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm describe replicatedservice:v1
  dm describe redis:v1 --registry my-org/my-repo
  dm describe github.com/my-org/my-repo/redis:v1 -o yaml")]
pub struct Describe {
    /// TEMPLATE:VERSION, a full template reference or URL.
    pub template: String,
    #[arg(hide = true)]
    pub deployment: Option<DeploymentName>,
    /// Registry of TEMPLATE:VERSION, on GitHub or registered [default: the default registry].
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
}

impl Describe {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        if let Some(name) = self.deployment {
            return match self.template.as_str() {
                "deployment" | "deployments" => Get { name, part: None }.run(session).await,
                _ => Err(Failure::usage(
                    "give one template, or the word deployment and a name".to_owned(),
                )),
            };
        }
        let type_name = qualified(&self.template, self.registry.as_deref())?;
        let template = session.client.describe(&type_name).await?;
        let width = session.terminal.width;
        session.show_with(&template, |template| describe(template, width), usage)
    }
}
