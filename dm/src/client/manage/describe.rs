//! `dm describe`: what a template is and takes.

use clap::Args;

use crate::client::render::describe::describe;
use crate::client::session::Session;
use crate::client::target::qualified;
use crate::error::Failure;

/// Describe a template: what it is, its properties, an example.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm describe replicatedservice:v1
  dm describe redis:v1 --registry my-org/my-repo
  dm describe github.com/my-org/my-repo/redis:v1 -o yaml")]
pub struct Describe {
    /// TEMPLATE:VERSION, a full template reference or URL.
    pub template: String,
    /// Take TEMPLATE:VERSION from this registry, on GitHub or registered, and not from the default one.
    #[arg(long, id = "registry", value_name = "ORG/REPO[/COLLECTION]|NAME")]
    pub registry: Option<String>,
}

impl Describe {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let type_name = qualified(&self.template, self.registry.as_deref())?;
        let template = session.client.describe(&type_name).await?;
        let width = session.terminal.width;
        session.show(&template, |template| describe(template, width))
    }
}
