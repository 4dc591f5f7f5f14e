//! The operator's flags for authentication and authorization.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use common::reload::Unusable;
use url::Url;

use super::authentication::{
    Authenticator, Authenticators, ClusterTokens, Issuer, IssuerError, OidcOptions, OidcTokens,
    ReservedNames, StaticTokens, reserved_name,
};
use super::authorization::{Authorizer, ClusterRules, Policy};
use super::browser::BrowserAccess;
use super::sign_in::SignIn;
use crate::audit::{Audit, AuditError};
use crate::deployer::Deployer;

/// Without any of these, callers are not authenticated, and the manager listens on loopback only.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Authentication and authorization")]
pub struct Options {
    /// Accept the bearer tokens that the cluster accepts (TokenReview).
    #[arg(long, env = "DM_AUTH_CLUSTER")]
    pub auth_cluster: bool,
    /// Audience of the cluster's tokens; may be repeated [default: the API server itself]
    #[arg(
        long = "auth-cluster-audience",
        env = "DM_AUTH_CLUSTER_AUDIENCE",
        value_name = "AUDIENCE",
        value_delimiter = ',',
        requires = "auth_cluster"
    )]
    pub auth_cluster_audiences: Vec<String>,
    /// File of static tokens, by their SHA-256. It is read again when it changes.
    #[arg(long, env = "DM_AUTH_TOKENS", value_name = "FILE")]
    pub auth_tokens: Option<PathBuf>,
    #[command(flatten)]
    pub oidc: OidcOptions,
    /// Address of the manager for browsers, such as https://dm.example.com. With an issuer, the page signs people in there: the
    /// issuer must know the redirect address URL/ui/session/callback.
    #[arg(long, env = "DM_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<Url>,
    /// Accept client certificates (CN is the user, Os are the groups), signed by --client-ca.
    #[arg(long, env = "DM_AUTH_CLIENT_CERTS", requires = "client_ca")]
    pub auth_client_certs: bool,
    /// Name that begins with system: and that certificates, issuers and token files may use, such as system:masters;
    /// may be repeated. The cluster's own tokens need no permission.
    #[arg(
        long = "auth-allow-system",
        env = "DM_AUTH_ALLOW_SYSTEM",
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = reserved_name
    )]
    pub auth_allow_system: Vec<String>,
    /// Proxy whose X-Forwarded-For header is trusted for the audit log; may be repeated.
    #[arg(
        long = "trusted-proxy",
        env = "DM_TRUSTED_PROXY",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    pub trusted_proxies: Vec<IpAddr>,
    /// File of the audit log, or - for standard output: a JSON line for each request that writes or is denied, and for
    /// the end of each operation
    #[arg(long, env = "DM_AUDIT_LOG", value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// Policy file with the roles of users and groups in namespaces. It is read again when it changes.
    #[arg(long, env = "DM_AUTH_POLICY", value_name = "FILE")]
    pub auth_policy: Option<PathBuf>,
    /// Authorize callers by the cluster's RBAC, on deployments.deploymentmanager (SubjectAccessReview).
    #[arg(long, env = "DM_AUTH_RBAC")]
    pub auth_rbac: bool,
}

/// The configured authentication and authorization.
#[derive(Clone)]
pub struct Auth {
    pub authenticators: Authenticators,
    /// What callers may do. Absent without authentication.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    pub browsers: BrowserAccess,
    pub audit: Audit,
    pub trusted_proxies: Vec<IpAddr>,
}

#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error(
        "it is configured how callers say who they are, and not what they may do: add --auth-policy FILE, or --auth-rbac for the cluster's own roles"
    )]
    NoAuthorization,
    #[error(
        "it is configured what callers may do, and not how they say who they are: add --auth-cluster, --auth-oidc-issuer, --auth-tokens or --auth-client-certs"
    )]
    NoAuthentication,
    #[error("--auth-policy and --auth-rbac both say who may do what: choose one")]
    TwoAuthorizations,
    #[error(transparent)]
    File(#[from] Unusable),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Issuer(#[from] IssuerError),
}

impl Options {
    pub fn open(&self, deployer: &Arc<dyn Deployer>) -> Result<Auth, OptionsError> {
        let (authenticators, issuer) = self.authenticators(deployer)?;
        let authorizer = self.authorizer(deployer)?;
        match (authenticators.are_configured(), &authorizer) {
            (true, None) => return Err(OptionsError::NoAuthorization),
            (false, Some(_)) => return Err(OptionsError::NoAuthentication),
            _ => {}
        }
        Ok(Auth {
            browsers: self.browsers(authenticators.clone(), issuer)?,
            authenticators,
            authorizer,
            audit: Audit::open(self.audit_log.as_deref())?,
            trusted_proxies: self.trusted_proxies.clone(),
        })
    }

    /// Sessions, and signing in at the issuer if there is one and the manager knows its own address.
    fn browsers(
        &self,
        authenticators: Authenticators,
        issuer: Option<Arc<Issuer>>,
    ) -> Result<BrowserAccess, OptionsError> {
        let secret = self.oidc.client_secret()?;
        let sign_in = |(issuer, public_url): (Arc<Issuer>, Url)| {
            let own = self.oidc.client_id.clone();
            let client_id = own.or_else(|| self.oidc.audiences.first().cloned())?;
            Some(Arc::new(SignIn {
                issuer,
                client_id,
                client_secret: None,
                public_url,
                pending: Default::default(),
            }))
        };
        let mut flow = issuer.zip(self.public_url.clone()).and_then(sign_in);
        if let (Some(flow), Some(secret)) = (flow.as_mut().and_then(Arc::get_mut), secret) {
            flow.client_secret = Some(secret);
        }
        Ok(BrowserAccess {
            authenticators,
            sessions: Arc::default(),
            sign_in: flow,
            public_url: self.public_url.clone(),
        })
    }

    fn authenticators(
        &self,
        deployer: &Arc<dyn Deployer>,
    ) -> Result<(Authenticators, Option<Arc<Issuer>>), OptionsError> {
        let reserved = ReservedNames::allowing(&self.auth_allow_system);
        // Local checks come first, remote ones last.
        let mut all: Vec<Arc<dyn Authenticator>> = Vec::new();
        if let Some(file) = &self.auth_tokens {
            all.push(Arc::new(StaticTokens::open(file, reserved.clone())?));
        }
        let oidc = OidcTokens::open(&self.oidc, &reserved)?;
        let issuer = oidc.as_ref().map(OidcTokens::issuer);
        if let Some(oidc) = oidc {
            all.push(Arc::new(oidc));
        }
        if self.auth_cluster {
            let audiences = self.auth_cluster_audiences.clone();
            all.push(Arc::new(ClusterTokens::new(deployer.clone(), audiences)));
        }
        let certificates = self.auth_client_certs.then_some(reserved);
        Ok((Authenticators::new(all, certificates), issuer))
    }

    fn authorizer(
        &self,
        deployer: &Arc<dyn Deployer>,
    ) -> Result<Option<Arc<dyn Authorizer>>, OptionsError> {
        match (&self.auth_policy, self.auth_rbac) {
            (Some(_), true) => Err(OptionsError::TwoAuthorizations),
            (Some(file), false) => Ok(Some(Arc::new(Policy::open(file)?))),
            (None, true) => Ok(Some(Arc::new(ClusterRules::new(deployer.clone())))),
            (None, false) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::Config;
    use crate::deployer::fake::FakeDeployer;

    /// The options for valid flags.
    fn opened(flags: &[&str]) -> Result<Auth, String> {
        let config = Config::try_parse_from([&["manager"], flags].concat());
        let config = config.map_err(|error| error.to_string())?;
        let deployer: Arc<dyn Deployer> = Arc::new(FakeDeployer::default());
        config
            .auth
            .open(&deployer)
            .map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn what_does_not_go_together_or_cannot_be_read_is_refused_and_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let (empty, missing) = (file("empty", ""), "/nowhere/file".to_owned());
        let tokens = file("tokens", "tokens: []");
        let policy = file("policy", "bindings: []");
        let owner = file(
            "owner",
            "bindings: [{role: owner, users: [a], namespaces: [b]}]",
        );
        let cases: [(&[&str], &str); 14] = [
            (
                &["--auth-cluster"],
                "add --auth-policy FILE, or --auth-rbac",
            ),
            (&["--auth-rbac"], "add --auth-cluster, --auth-oidc-issuer"),
            (
                &["--auth-policy", &policy],
                "add --auth-cluster, --auth-oidc-issuer",
            ),
            (
                &["--auth-cluster", "--auth-rbac", "--auth-policy", &policy],
                "both say who may do what: choose one",
            ),
            (&["--auth-client-certs", "--auth-rbac"], "--client-ca"),
            (
                &["--auth-cluster-audience", "a", "--auth-rbac"],
                "--auth-cluster",
            ),
            (
                &["--auth-oidc-issuer", "https://i", "--auth-rbac"],
                "--auth-oidc-audience",
            ),
            (
                &[
                    "--auth-oidc-issuer",
                    "http://i",
                    "--auth-oidc-audience",
                    "a",
                    "--auth-rbac",
                ],
                "is not https",
            ),
            (
                &[
                    "--auth-oidc-issuer",
                    "https://i",
                    "--auth-oidc-audience",
                    "a",
                    "--auth-oidc-ca",
                    &empty,
                    "--auth-rbac",
                ],
                "contains no certificate",
            ),
            (&["--auth-tokens", &missing, "--auth-rbac"], "/nowhere/file"),
            (
                &["--auth-tokens", &empty, "--auth-rbac"],
                "there is nothing in it; write tokens:",
            ),
            (
                &["--auth-tokens", &tokens, "--auth-policy", &missing],
                "/nowhere/file",
            ),
            (
                &["--auth-tokens", &tokens, "--auth-policy", &empty],
                "there is nothing in it; write bindings:",
            ),
            (
                &["--auth-tokens", &tokens, "--auth-policy", &owner],
                "unknown variant `owner`, expected one of",
            ),
        ];
        for (flags, expected) in cases {
            let reported = opened(flags).err().unwrap_or_default();
            assert!(reported.contains(expected), "{flags:?}: {reported:?}");
        }
    }

    #[tokio::test]
    async fn several_ways_to_say_who_one_is_go_together() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens");
        std::fs::write(&tokens, "tokens: []").unwrap();
        let tokens = tokens.display().to_string();
        let flags = [
            "--auth-cluster",
            "--auth-tokens",
            &tokens,
            "--auth-oidc-issuer",
            "https://i",
            "--auth-oidc-audience",
            "a",
            "--auth-rbac",
        ];
        let auth = opened(&flags).unwrap_or_else(|reported| panic!("{reported}"));
        assert!(auth.authenticators.are_configured());
    }
}
