//! The flags of Helm that say where a chart is, and in which version.

use std::path::Path;

use clap::Args;

use crate::error::Failure;

const HELM: &str = "helm:";
const OCI: [&str; 2] = ["oci://", "oci+http://"];
/// The newest version that is no prerelease.
const NEWEST: &str = "*";

#[derive(Debug, Default, Args)]
pub struct ChartFlags {
    /// Chart repository of TARGET, which is the name of a chart.
    #[arg(long, value_name = "URL")]
    pub repo: Option<String>,
    /// Version of TARGET, which is a chart or a template without one: 1.2.3, or a range of a chart's versions, such as
    /// ^1.2.
    #[arg(long = "version", id = "target_version", value_name = "VERSION")]
    pub version: Option<String>,
}

impl ChartFlags {
    pub fn is_given(&self) -> bool {
        self.repo.is_some() || self.version.is_some()
    }

    /// The reference that a target means with these flags.
    ///
    /// # Errors
    /// The flags do not fit the target.
    pub fn applied(&self, target: &str) -> Result<String, Failure> {
        let version = match (&self.repo, &self.version) {
            (None, None) => return Ok(target.to_owned()),
            (_, Some(version)) => version.as_str(),
            (Some(_), None) => NEWEST,
        };
        if has_version(target) {
            return Err(Failure::usage(format!(
                "{target} has its version already; leave --version and --repo out"
            )));
        }
        if let Some(repo) = &self.repo {
            return match target.contains([':', '/']) {
                true => Err(Failure::usage(format!(
                    "--repo is for the name of a chart, and {target:?} is none"
                ))),
                false => Ok(in_repository(repo, target, version)),
            };
        }
        if Path::new(target).exists() {
            return Err(Failure::usage(format!(
                "--version is for a chart or a template of a registry; {target} is a file, and has its own version"
            )));
        }
        Ok(format!("{target}:{version}"))
    }
}

/// Helm's own repositories, and OCI registries.
fn in_repository(repo: &str, chart: &str, version: &str) -> String {
    let repo = repo.trim_end_matches('/');
    match OCI.iter().any(|scheme| repo.starts_with(scheme)) {
        true => format!("{repo}/{chart}:{version}"),
        false => format!("{HELM}{repo}/{chart}:{version}"),
    }
}

fn has_version(target: &str) -> bool {
    let last = target.rsplit('/').next().unwrap_or_default();
    let last = match target.contains('/') {
        true => last,
        false => target.strip_prefix(HELM).unwrap_or(target),
    };
    last.contains([':', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(target: &str, repo: Option<&str>, version: Option<&str>) -> Result<String, String> {
        let flags = ChartFlags {
            repo: repo.map(str::to_owned),
            version: version.map(str::to_owned),
        };
        flags.applied(target).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_chart_is_meant_in_its_repository_and_version() {
        for (target, repo, version, expected) in [
            (
                "web",
                Some("https://host/c/"),
                Some("1.2.3"),
                "helm:https://host/c/web:1.2.3",
            ),
            (
                "web",
                Some("https://host/c"),
                None,
                "helm:https://host/c/web:*",
            ),
            (
                "web",
                Some("oci://host/c"),
                Some("^1"),
                "oci://host/c/web:^1",
            ),
            (
                "oci://host:5000/c/web",
                None,
                Some("1.2.3"),
                "oci://host:5000/c/web:1.2.3",
            ),
            ("helm:shop/web", None, Some("1.2.3"), "helm:shop/web:1.2.3"),
            ("redis", None, Some("v1"), "redis:v1"),
            ("redis:v1", None, None, "redis:v1"),
        ] {
            assert_eq!(applied(target, repo, version).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn flags_that_do_not_fit_the_target_are_refused() {
        let repo = Some("https://host/c");
        for (target, repo, reason) in [
            ("oci://host/web:1.0.0", None, "already"),
            ("helm:shop/web:1.0.0", None, "already"),
            ("shop/web", repo, "name of a chart"),
            (".", None, "is a file"),
        ] {
            let error = applied(target, repo, Some("1.2.3")).unwrap_err();
            assert!(error.contains(reason), "{target}: {error}");
        }
    }
}
