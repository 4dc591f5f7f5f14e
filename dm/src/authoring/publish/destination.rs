//! Where to publish, as given on the command line.

use std::path::PathBuf;

use common::registry::oci;
use url::Url;

use super::PublishError;

#[derive(Debug, PartialEq, Eq)]
pub enum Destination {
    Directory(PathBuf),
    Git(String),
    Oci(oci::OciLocation),
}

impl Destination {
    /// `oci://` is an OCI registry. Any other URL, and any form that git clones, is a git repository. All else is a folder.
    pub fn parse(target: &str) -> Result<Self, PublishError> {
        let refused = |reason: &str| PublishError::Target {
            target: target.to_owned(),
            reason: reason.to_owned(),
        };
        if target.starts_with("oci://") || target.starts_with("oci+http://") {
            let place = oci::OciLocation::parse(target);
            return place.map(Self::Oci).map_err(|reason| refused(&reason));
        }
        let url = Url::parse(target).ok().filter(|_| target.contains("://"));
        if url.is_some_and(|url| url.password().is_some()) {
            return Err(PublishError::Target {
                target: "the URL".to_owned(),
                reason: "it contains a password; remove it, and keep it in a git credential helper"
                    .to_owned(),
            });
        }
        if target.is_empty() || target.starts_with('-') {
            return Err(refused(
                "give a folder, the URL of a git repository, or oci://HOST/PREFIX",
            ));
        }
        if target.starts_with("github.com/") {
            return Ok(Self::Git(format!("https://{target}")));
        }
        match target.contains("://") || target.ends_with(".git") || is_scp(target) {
            true => Ok(Self::Git(target.to_owned())),
            false => Ok(Self::Directory(target.into())),
        }
    }
}

/// `user@host:path`, which git reads as ssh.
fn is_scp(target: &str) -> bool {
    let (before, _) = target.split_once('/').unwrap_or((target, ""));
    before
        .split_once(':')
        .is_some_and(|(host, _)| host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_tells_its_kind() {
        for git in [
            "https://host/r",
            "ssh://git@host/r",
            "git@host:o/r",
            "/srv/r.git",
            "file:///srv/r",
        ] {
            assert_eq!(
                Destination::parse(git).unwrap(),
                Destination::Git(git.to_owned())
            );
        }
        let github = Destination::Git("https://github.com/o/r".to_owned());
        assert_eq!(Destination::parse("github.com/o/r").unwrap(), github);
        for folder in ["charts", "/srv/templates", "./a:b/c", "."] {
            assert_eq!(
                Destination::parse(folder).unwrap(),
                Destination::Directory(folder.into())
            );
        }
        assert!(matches!(
            Destination::parse("oci://host/t"),
            Ok(Destination::Oci(_))
        ));
        for bad in [
            "",
            "--upload-pack=x",
            "oci://host",
            "https://u:s3cret@host/r",
        ] {
            let error = Destination::parse(bad).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
