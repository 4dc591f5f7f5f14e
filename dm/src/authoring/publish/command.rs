//! `dm publish`: puts a checked version of a template into a registry.

use std::path::PathBuf;

use clap::Args;
use common::model::Secret;
use serde::Serialize;

use crate::authoring::package::{CheckedVersion, Signature};
use crate::authoring::publish::{
    self, Artifacts, Destination, Directory, GitError, Outcome, PublishError, Repository,
};
use crate::bundle::files;
use crate::client::session::Session;
use crate::error::Failure;
use crate::terminal::Terminal;

const USERNAME: &str = "DM_REGISTRY_USERNAME";
const PASSWORD: &str = "DM_REGISTRY_PASSWORD";
/// Others may publish at the same time. Each try reads their versions again.
const TRIES: usize = 5;

/// Check the folder of a template version, TEMPLATE/VERSION, like dm package, and put it into a registry.
///
/// The registry is a folder, a git repository that your git may push to, or an OCI registry. A published version never
/// changes: dm refuses the same version with different files.
///
/// The version must keep the promises of the previous one, which is the highest lower version with the same MAJOR. A PATCH may
/// not add or change properties or outputs. A MINOR may not break them. To compare outputs, the program expandybird, beside dm
/// or on PATH, expands the previous version's example.yaml with both versions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm publish redis/v1.0.1 /srv/templates
  dm publish redis/v1.1 /srv/templates --no-compare
  dm publish redis/v1.0.1 git@github.com:my-org/templates.git --collection db
  dm publish redis/v1.0.1 oci://ghcr.io/my-org/templates --username me --password-stdin < token.txt
  DM_REGISTRY_PASSWORD=… dm publish redis/v1.0.1 oci://ghcr.io/my-org/templates --username me")]
pub struct Publish {
    /// Folder of the version.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Registry to publish to: a folder, the URL of a git repository, or oci://HOST/PREFIX.
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Collection of the template [default: the unnamed one at the registry's root].
    #[arg(long)]
    pub collection: Option<String>,
    /// Branch of a git repository [default: the default branch].
    #[arg(long = "ref", value_name = "BRANCH")]
    pub reference: Option<String>,
    /// Publish the version even if it breaks promises of the previous one, or if dm cannot compare them.
    #[arg(long)]
    pub no_compare: bool,
    /// User name for an OCI registry.
    #[arg(long, value_name = "USER", env = USERNAME)]
    pub username: Option<String>,
    /// Read the password or token of that user from standard input instead of DM_REGISTRY_PASSWORD.
    #[arg(long, requires = "username")]
    pub password_stdin: bool,
}

/// For programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    template: &'a str,
    version: &'a str,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<&'a str>,
    published: bool,
    /// The previous version that it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<&'a str>,
}

impl Publish {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let package = CheckedVersion::read(&self.folder, Signature::Kept)?;
        let outcome = self.publish(&package, session.terminal).await?;
        let compared = match &outcome {
            Outcome::Published(compared) => compared.as_ref(),
            Outcome::Present => None,
        };
        if let Some(warning) = self.warning(&package, &outcome) {
            session.terminal.note(&format!("warning: {warning}"));
        }
        let shown = Shown {
            template: &package.template,
            version: &package.version,
            target: &self.target,
            collection: self.collection.as_deref(),
            published: outcome != Outcome::Present,
            compared_with: compared.map(|compared| compared.with.as_str()),
        };
        let reference = package.reference();
        session.show(&shown, |shown| {
            match (shown.published, shown.compared_with) {
                (false, _) => format!("{reference} is already published, with the same files\n"),
                (true, None) => format!("{reference} is published\n"),
                (true, Some(before)) => {
                    format!("{reference} is published; compared with {before}\n")
                }
            }
        })
    }

    /// What dm did not compare before it published the version.
    fn warning(&self, package: &CheckedVersion, outcome: &Outcome) -> Option<String> {
        match outcome {
            Outcome::Present => None,
            Outcome::Published(_) if self.no_compare => Some(format!(
                "{} was not compared with previous versions (--no-compare); an update to it may change properties or outputs",
                package.reference()
            )),
            Outcome::Published(compared) => {
                let compared = compared.as_ref()?;
                let uncompared = compared.uncompared.as_ref()?;
                Some(format!("of {}, {uncompared}", compared.with))
            }
        }
    }

    async fn publish(
        &self,
        package: &CheckedVersion,
        terminal: &mut Terminal<'_>,
    ) -> Result<Outcome, Failure> {
        let place = Destination::parse(&self.target)?;
        if self.reference.is_some() && !matches!(place, Destination::Git(_)) {
            return Err(Failure::usage(
                "--ref is for git repositories only".to_owned(),
            ));
        }
        let collection = self.collection.as_deref();
        Ok(match place {
            Destination::Directory(root) => {
                let shelf = Directory::open(&root)?;
                publish::publish(&shelf, package, collection, !self.no_compare).await?
            }
            Destination::Git(url) => self.git(&url, package).await?,
            Destination::Oci(place) => {
                let login = self.login(terminal)?;
                let login = login
                    .as_ref()
                    .map(|(name, password)| (name.as_str(), password));
                let shelf = Artifacts::open(place, login)?;
                publish::publish(&shelf, package, collection, !self.no_compare).await?
            }
        })
    }

    /// If somebody else pushed first, reads the repository again and retries.
    async fn git(&self, url: &str, package: &CheckedVersion) -> Result<Outcome, PublishError> {
        for _ in 0..TRIES {
            let shelf = Repository::clone(url, self.reference.as_deref()).await?;
            let collection = self.collection.as_deref();
            match publish::publish(&shelf, package, collection, !self.no_compare).await {
                Err(PublishError::Git(GitError::Overtaken)) => {}
                outcome => return outcome,
            }
        }
        Err(GitError::Overtaken.into())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a password is not a flag: everybody sees the arguments of a process"
    )]
    fn login(&self, terminal: &mut Terminal<'_>) -> Result<Option<(String, Secret)>, Failure> {
        let password = match self.password_stdin {
            true => {
                let text = files::text(&mut *terminal.stdin).map_err(|reason| {
                    Failure::failed(format!("standard input cannot be read: {reason}"))
                })?;
                Some(Secret::new(text.trim_end_matches(['\r', '\n'])))
            }
            false => std::env::var(PASSWORD).ok().map(Secret::new),
        };
        match (&self.username, password) {
            (Some(username), Some(password)) => Ok(Some((username.clone(), password))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Failure::usage(format!(
                "a user name needs a password: set {PASSWORD}, or give --password-stdin"
            ))),
            (None, Some(_)) => Err(Failure::usage(format!(
                "a password needs a user name: set {USERNAME}, or give --username"
            ))),
        }
    }
}
