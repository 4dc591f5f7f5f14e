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
/// Others publish too; each time their versions are looked at anew.
const TRIES: usize = 5;

/// Check a version's folder, TEMPLATE/VERSION, as dm package does, and put it into a registry.
///
/// The registry is a folder, a git repository that your git may push to, or an OCI registry. What is published stays as it is: the
/// same version with other files is refused.
///
/// It must keep what the version before it in the registry promised, the highest lower one of its MAJOR: a PATCH may not add or
/// change properties or outputs, a MINOR may not break them. Outputs are those of the earlier version's example.yaml, which the
/// program expandybird, beside dm or on PATH, expands with both versions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm publish redis/v1.0.1 /srv/templates
  dm publish redis/v1.1 /srv/templates --no-compare
  dm publish redis/v1.0.1 git@github.com:my-org/templates.git --collection db
  dm publish redis/v1.0.1 oci://ghcr.io/my-org/templates --username me --password-stdin < token.txt
  DM_REGISTRY_USERNAME=me DM_REGISTRY_PASSWORD=… dm publish redis/v1.0.1 oci://ghcr.io/my-org/templates")]
pub struct Publish {
    /// The version's folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// A registry's folder, a git repository's URL, or oci://HOST/PREFIX.
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// The collection that the template is of; the unnamed one at the registry's root, if absent.
    #[arg(long)]
    pub collection: Option<String>,
    /// Of a git repository, the branch; its default one, if absent.
    #[arg(long = "ref", value_name = "BRANCH")]
    pub reference: Option<String>,
    /// Publish it though it breaks what the version before it promised, or though that cannot be told.
    #[arg(long)]
    pub no_compare: bool,
    /// Who publishes to an OCI registry.
    #[arg(long, value_name = "USER", env = USERNAME)]
    pub username: Option<String>,
    /// Read that user's password, or token, from standard input and not from DM_REGISTRY_PASSWORD.
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
    /// The version before it that it was compared with.
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
                (false, _) => format!("{reference} is there already, with the same files\n"),
                (true, None) => format!("{reference} is published\n"),
                (true, Some(before)) => {
                    format!("{reference} is published; compared with {before}\n")
                }
            }
        })
    }

    /// What was not looked at before it was published.
    fn warning(&self, package: &CheckedVersion, outcome: &Outcome) -> Option<String> {
        match outcome {
            Outcome::Present => None,
            Outcome::Published(_) if self.no_compare => Some(format!(
                "{} was not compared with the versions before it (--no-compare); who updates to it may find properties or outputs changed",
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
                "--ref goes with a git repository".to_owned(),
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

    /// Whoever is overtaken by another's push looks again at what is there.
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
                "a user needs a password: set {PASSWORD}, or give --password-stdin"
            ))),
            (None, Some(_)) => Err(Failure::usage(format!(
                "a password needs a user: set {USERNAME}, or give --username"
            ))),
        }
    }
}
