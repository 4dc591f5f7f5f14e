//! `dm publish`: puts a checked version of a template into a registry.

use std::path::{Path, PathBuf};

use clap::Args;
use common::model::Secret;
use serde::Serialize;

use crate::bundle::files;
use crate::error::Failure;
use crate::package::{Package, Signature};
use crate::publish::{
    self, Artifacts, Directory, GitError, Outcome, Place, PublishError, Repository,
};
use crate::session::Session;
use crate::terminal::Terminal;

const USERNAME: &str = "DM_REGISTRY_USERNAME";
const PASSWORD: &str = "DM_REGISTRY_PASSWORD";
/// Others publish too; each time their versions are looked at anew.
const TRIES: usize = 5;

/// Check a version's folder, TEMPLATE/VERSION, as dm package does, and put it into a registry.
///
/// The registry is a folder, a git repository that your git may push to, or an OCI registry. What is published stays as it is: the
/// same version with other files is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm publish redis/v1.0.1 /srv/templates
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
    /// Who publishes to an OCI registry.
    #[arg(long, value_name = "USER", env = USERNAME)]
    pub username: Option<String>,
    /// Read that user's password, or token, from standard input and not from DM_REGISTRY_PASSWORD.
    #[arg(long, requires = "username")]
    pub password_stdin: bool,
}

/// For programs.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    template: &'a str,
    version: &'a str,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<&'a str>,
    published: bool,
}

impl Publish {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let package = Package::read(&self.folder, Signature::Kept)?;
        let outcome = self.publish(&package, session.terminal).await?;
        let shown = Shown {
            template: &package.template,
            version: &package.version,
            target: &self.target,
            collection: self.collection.as_deref(),
            published: outcome == Outcome::Published,
        };
        session.show(&shown, |_| match outcome {
            Outcome::Published => format!("{} is published\n", package.reference()),
            Outcome::Present => {
                format!(
                    "{} is there already, with the same files\n",
                    package.reference()
                )
            }
        })
    }

    async fn publish(
        &self,
        package: &Package,
        terminal: &mut Terminal<'_>,
    ) -> Result<Outcome, Failure> {
        let place = publish::place(&self.target)?;
        if self.reference.is_some() && !matches!(place, Place::Git(_)) {
            return Err(Failure::Usage(
                "--ref goes with a git repository".to_owned(),
            ));
        }
        let collection = self.collection.as_deref();
        Ok(match place {
            Place::Directory(root) => directory(&root, package, collection).await?,
            Place::Git(url) => self.git(&url, package).await?,
            Place::Oci(place) => {
                let login = self.login(terminal)?;
                let login = login
                    .as_ref()
                    .map(|(name, password)| (name.as_str(), password));
                let shelf = Artifacts::open(place, login)?;
                publish::publish(&shelf, package, collection).await?
            }
        })
    }

    /// Whoever is overtaken by another's push looks again at what is there.
    async fn git(&self, url: &str, package: &Package) -> Result<Outcome, PublishError> {
        for _ in 0..TRIES {
            let shelf = Repository::clone(url, self.reference.as_deref()).await?;
            let collection = self.collection.as_deref();
            match publish::publish(&shelf, package, collection).await {
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
                    Failure::Configuration(format!("standard input cannot be read: {reason}"))
                })?;
                Some(Secret::new(text.trim_end_matches(['\r', '\n'])))
            }
            false => std::env::var(PASSWORD).ok().map(Secret::new),
        };
        match (&self.username, password) {
            (Some(username), Some(password)) => Ok(Some((username.clone(), password))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Failure::Usage(format!(
                "a user needs a password: set {PASSWORD}, or give --password-stdin"
            ))),
            (None, Some(_)) => Err(Failure::Usage(format!(
                "a password needs a user: set {USERNAME}, or give --username"
            ))),
        }
    }
}

async fn directory(
    root: &Path,
    package: &Package,
    collection: Option<&str>,
) -> Result<Outcome, PublishError> {
    publish::publish(&Directory::open(root)?, package, collection).await
}
