//! What the examples of the help speak of: a manager, a cluster, and stand-ins for hosts on the internet.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use e2e::chart_repository::ChartRepository;
use e2e::git_daemon::GitDaemon;
use e2e::github::Github;
use e2e::helm::Helm;
use e2e::hub::Hub;
use e2e::program::checkout;
use e2e::{Issuer, Stack};
use tokio::process::Command;

use super::super::examples::bash;
use super::super::markdown::Document;

/// What stands in the help, and what stands there in a test. A page sets the variables that the world does not.
const REPLACED: &[(&str, &str)] = &[
    ("oci://ghcr.io", "oci+http://$HUB"),
    ("https://charts.example.com", "$CHARTS"),
    ("https://id.example.com", "$ISSUER"),
    ("http://127.0.0.1:8090", "$BROKER"),
    ("http://127.0.0.1:8080", "$EMPTY"),
    ("/srv/templates", "$SHELF"),
    (" OPERATION", " $OPERATION"),
    (" MANIFEST", " $MANIFEST"),
];

/// Namespaces of the examples.
const NAMESPACES: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: scratch}
";

/// A command of the help with the addresses of the tests.
pub fn in_tests(command: &str) -> String {
    let replaced = |text: String, (printed, instead): &(&str, &str)| text.replace(printed, instead);
    REPLACED.iter().fold(command.to_owned(), replaced)
}

pub struct World {
    pub stack: Stack,
    hub: Hub,
    charts: ChartRepository,
    issuer: Issuer,
    git: GitDaemon,
    /// Every repository on GitHub is this folder.
    github_folder: PathBuf,
    _github: Github,
    has_helm: bool,
}

impl World {
    /// With the real Helm, if the page has commands of it.
    pub async fn start(page: &Document) -> Result<Self> {
        let mut stack = Stack::for_a_user().await?;
        stack.cluster.apply(NAMESPACES)?;
        let github_folder = stack.folder().join("github");
        std::fs::create_dir(&github_folder)?;
        let github = Github::serve(&github_folder).await?;
        let flags = [
            "--allow-private-registries",
            "--registry-refresh",
            "0s",
            "--github-api-url",
            &github.api_url,
        ];
        stack.manager.again_with(&flags).await?;
        stack.ready().await?;
        let git = GitDaemon::serve(stack.folder()).await?;
        let rewritten = format!(
            "[url {:?}]\n  insteadOf = git@github.com:my-org/\n",
            git.url("")
        );
        stack.write(".gitconfig", &rewritten)?;
        let mut charts = ChartRepository::serve().await?;
        let chart = ("Chart.yaml".to_owned(), CHART.to_owned());
        charts.add("web", "1.2.3", &[chart])?;
        Ok(Self {
            hub: Hub::start()?,
            charts,
            issuer: Issuer::start().await?,
            git,
            github_folder,
            _github: github,
            has_helm: page.text.contains("$HELM"),
            stack,
        })
    }

    /// bash as a user has it, who knows these addresses.
    pub fn bash(&self) -> Result<Command> {
        let mut bash = bash(&self.stack)?;
        let hub = self.hub.url("");
        let hub = hub.strip_prefix("oci+http://").context("no host")?;
        if self.has_helm {
            Helm::build(self.stack.folder(), self.stack.cluster.kubeconfig())?;
        }
        bash.env("HELM", checkout().join("target/helm"))
            .env("HUB", hub.trim_end_matches('/'))
            .env("CHARTS", self.charts.url())
            .env("ISSUER", self.issuer.url())
            .env("GIT", self.git.url(""))
            .env("GITHUB", &self.github_folder)
            .env("DM_USUAL", self.stack.manager.url())
            .env("STORE_KEY", self.stack.disk().join("store.key"))
            .env("DM_EXPANDER_URL", self.stack.expandybird.url())
            .env("DM_DEPLOYER_URL", self.stack.resourcifier.url());
        Ok(bash)
    }
}

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.2.3\n";
