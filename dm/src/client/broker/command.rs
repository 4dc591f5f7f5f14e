//! The grammar of `dm broker`.

use clap::{Args, Subcommand};
use common::model::Namespace;

use super::request::Target;
use crate::client::context::command::Files;
use crate::client::identity::IdentityFlags;
use crate::client::session::Session;
use crate::client::target::PropertyFlags;
use crate::error::Failure;

/// Use a service broker: list services, provision, bind, unbind, deprovision.
///
/// The broker may be that of Deployment Manager or any other with the Open Service Broker API.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  dm broker services --broker http://127.0.0.1:8090 --basic-file users
  dm broker provision db-1 --plan small --set size=3
  dm broker bind db-1 app-1
  dm broker credentials db-1 app-1 -o json
  dm broker unbind db-1 app-1
  dm broker deprovision db-1"
)]
pub struct Broker {
    #[command(flatten)]
    pub to: BrokerFlags,
    #[command(subcommand)]
    pub task: Task,
}

/// Which broker, and the user.
#[derive(Debug, Args)]
pub struct BrokerFlags {
    /// URL of the broker.
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "DM_BROKER",
        default_value = "http://127.0.0.1:8090"
    )]
    pub broker: String,
    /// File with USER:PASSWORD in its first line. Without it, the token of --token-file is sent.
    #[arg(long, global = true, value_name = "FILE", env = "DM_BROKER_LOGIN_FILE")]
    pub basic_file: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    /// List the services and their plans.
    #[command(after_help = "\
Examples:
  dm broker services
  dm broker services -o json")]
    Services,
    /// Create a service instance, and wait until it is there.
    #[command(after_help = "\
Examples:
  dm broker provision db-1 --plan small
  dm broker provision db-1 --offering mysql --plan small --set size=3 --namespace shop")]
    Provision(Provision),
    /// Change the parameters or the plan of a service instance.
    #[command(after_help = "\
Examples:
  dm broker update db-1 --set size=5
  dm broker update db-1 --plan large")]
    Update(Update),
    /// Create a service binding, and print its credentials.
    #[command(after_help = "\
Examples:
  dm broker bind db-1 app-1
  dm broker bind db-1 app-1 --set role=viewer -o json")]
    Bind(Bind),
    /// Delete a service binding.
    #[command(after_help = "\
Examples:
  dm broker unbind db-1 app-1")]
    Unbind(BindingName),
    /// Delete a service instance.
    #[command(after_help = "\
Examples:
  dm broker deprovision db-1")]
    Deprovision(InstanceName),
    /// Print the credentials of a service binding.
    #[command(after_help = "\
Examples:
  dm broker credentials db-1 app-1 -o json")]
    Credentials(BindingName),
}

/// The service and the plan. Each may be left out if there is no choice.
#[derive(Debug, Default, Args)]
pub struct Offered {
    /// Service offering, by name or id [default: that of the instance, or the only one].
    #[arg(long, value_name = "NAME")]
    pub offering: Option<String>,
    /// Plan, by name or id [default: that of the instance, or the only one].
    #[arg(long, value_name = "NAME")]
    pub plan: Option<String>,
}

#[derive(Debug, Args)]
pub struct InstanceName {
    /// Id of the instance.
    pub instance: String,
    #[command(flatten)]
    pub offered: Offered,
}

#[derive(Debug, Args)]
pub struct BindingName {
    /// Id of the instance.
    pub instance: String,
    /// Id of the binding.
    pub binding: String,
    #[command(flatten)]
    pub offered: Offered,
}

#[derive(Debug, Args)]
pub struct Provision {
    #[command(flatten)]
    pub name: InstanceName,
    /// Namespace of the instance [default: the broker's].
    #[arg(long, short)]
    pub namespace: Option<Namespace>,
    /// Organization, for brokers that ask for one.
    #[arg(long, default_value = "dm")]
    pub organization: String,
    /// Space, for brokers that ask for one.
    #[arg(long, default_value = "dm")]
    pub space: String,
    #[command(flatten)]
    pub parameters: PropertyFlags,
}

#[derive(Debug, Args)]
pub struct Update {
    #[command(flatten)]
    pub name: InstanceName,
    #[command(flatten)]
    pub parameters: PropertyFlags,
}

#[derive(Debug, Args)]
pub struct Bind {
    #[command(flatten)]
    pub name: BindingName,
    /// Application that the binding is for.
    #[arg(long, value_name = "ID")]
    pub app: Option<String>,
    #[command(flatten)]
    pub parameters: PropertyFlags,
}

impl Broker {
    pub async fn run(self, session: &mut Session<'_, '_>, files: Files) -> Result<(), Failure> {
        let identity = IdentityFlags {
            token_file: files.token,
            ca_file: files.ca,
            client_cert: files.client_cert,
            client_key: files.client_key,
            ..IdentityFlags::default()
        };
        let target = Target::open(&self.to, &identity)?;
        match self.task {
            Task::Services => target.services(session).await,
            Task::Provision(provision) => target.provision(session, provision).await,
            Task::Update(update) => target.update(session, update).await,
            Task::Bind(bind) => target.bind(session, bind).await,
            Task::Unbind(name) => target.unbind(session, name).await,
            Task::Deprovision(name) => target.deprovision(session, name).await,
            Task::Credentials(name) => target.credentials(session, name).await,
        }
    }
}
