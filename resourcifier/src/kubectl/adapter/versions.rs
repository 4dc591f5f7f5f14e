//! The versions of kubectl and the API server, and whether they fit together.

use std::ffi::OsString;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::kubectl::Versions;
use crate::kubectl::error::KubectlError;
use crate::kubectl::process::{Finished, run};
use crate::kubectl::proxy::Proxy;
use crate::kubectl::proxy::request::Request;

/// The oldest minor version of kubectl that is tested.
const OLDEST: u64 = 28;
/// The maximum difference that Kubernetes supports.
const SKEW: u64 = 1;

/// Asks both for their versions.
pub async fn of(proxy: &Proxy, within: Duration) -> Result<Versions, KubectlError> {
    let client = client(proxy, within).await?;
    let server = server(proxy, within)
        .await
        .map_err(|error| error.to_string());
    let skew = skew(&client, server.as_deref().ok());
    Ok(Versions {
        client,
        server,
        skew,
    })
}

async fn client(proxy: &Proxy, within: Duration) -> Result<String, KubectlError> {
    let arguments: Vec<OsString> = ["version", "--client", "-o", "json"]
        .map(OsString::from)
        .into();
    let finished = run(
        proxy.settings.kubectl(),
        "kubectl version",
        &arguments,
        within,
    )
    .await?;
    let answer: Value = serde_json::from_slice(&finished.stdout).map_err(|_| unlike(&finished))?;
    let version = answer["clientVersion"]["gitVersion"].as_str();
    version.map(str::to_owned).ok_or_else(|| unlike(&finished))
}

fn unlike(finished: &Finished) -> KubectlError {
    let how = if finished.success {
        "succeeded"
    } else {
        "failed"
    };
    KubectlError::Malformed {
        call: "kubectl version",
        reason: format!("it {how} and said {:?}", finished.stderr.trim()),
    }
}

async fn server(proxy: &Proxy, within: Duration) -> Result<String, KubectlError> {
    let request = Request::new("version", Method::GET, &["version"])?;
    let answer = proxy.ask(&request, within).await?;
    let malformed = |reason: String| KubectlError::Malformed {
        call: request.call,
        reason,
    };
    let answer: Value =
        serde_json::from_slice(&answer).map_err(|error| malformed(error.to_string()))?;
    let version = answer["gitVersion"].as_str();
    version
        .map(str::to_owned)
        .ok_or_else(|| malformed("no gitVersion".to_owned()))
}

fn skew(client: &str, server: Option<&str>) -> Option<String> {
    let (major, minor) = parsed(client)?;
    if (major, minor) < (1, OLDEST) {
        return Some(format!(
            "it is older than 1.{OLDEST}, the oldest that is supported"
        ));
    }
    let (server_major, server_minor) = parsed(server?)?;
    let is_far = major != server_major || minor.abs_diff(server_minor) > SKEW;
    is_far.then(|| {
        format!("it is more than one minor version away from the API server's {server_major}.{server_minor}, which Kubernetes does not support")
    })
}

/// `v1.36.3` or `v1.32.4-dispatcher`: major and minor.
fn parsed(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_go_together_is_told() {
        let cases = [
            ("v1.36.3", Some("v1.36.0"), None),
            ("v1.35.1", Some("v1.36.0+k3s1"), None),
            (
                "v1.32.4-dispatcher",
                Some("v1.36.0"),
                Some("the API server's 1.36"),
            ),
            ("v1.38.0", Some("v1.36.0"), Some("the API server's 1.36")),
            ("v1.27.9", Some("v1.27.0"), Some("older than 1.28")),
            ("v1.36.3", None, None),
            ("devel", Some("v1.36.0"), None),
        ];
        for (client, server, expected) in cases {
            let skew = skew(client, server);
            match expected {
                None => assert_eq!(skew, None, "{client} {server:?}"),
                Some(part) => assert!(
                    skew.as_ref().is_some_and(|skew| skew.contains(part)),
                    "{client} {skew:?}"
                ),
            }
        }
    }
}
