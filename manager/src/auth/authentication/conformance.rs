//! What every authenticator promises, proved over each.

use std::sync::Arc;

use common::model::Identity;
use common::model::identity::Parts;
use sha2::{Digest, Sha256};

use super::*;
use crate::deployer::fake::{FakeDeployer, Interruption};

/// An authenticator, with tokens to try.
pub(super) struct Adapter {
    pub name: &'static str,
    pub authenticator: Arc<dyn Authenticator>,
    pub good: String,
    pub identity: Identity,
    /// Others', expired ones, and what only looks like a token.
    pub bad: Vec<String>,
    /// What would have to be asked is away.
    pub away: Option<Arc<dyn Authenticator>>,
    /// Lives as long as the authenticator.
    pub _keep: Option<Box<dyn std::any::Any>>,
}

pub(super) fn ann(groups: &[&str]) -> Identity {
    let parts = Parts {
        user: "ann".to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..Parts::default()
    };
    Identity::parse(parts).unwrap()
}

fn static_tokens() -> Adapter {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let digest = |token: &str| {
        let digest = Sha256::digest(token.as_bytes());
        digest
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect::<String>()
    };
    let text = format!(
        "tokens:\n- {{sha256: {}, user: ann, groups: [devs], expires: 2999-01-01T00:00:00Z}}\n- {{sha256: {}, user: bob, expires: 2001-01-01T00:00:00Z}}\n",
        digest("good"),
        digest("an-old-one"),
    );
    std::fs::write(&path, text).unwrap();
    Adapter {
        name: "static tokens",
        authenticator: Arc::new(StaticTokens::open(&path, ReservedNames::default()).unwrap()),
        good: "good".to_owned(),
        identity: ann(&["devs"]),
        bad: vec!["an-old-one".to_owned(), digest("good")],
        away: None,
        _keep: Some(Box::new(folder)),
    }
}

fn cluster() -> Adapter {
    let deployer = Arc::new(FakeDeployer::default());
    deployer.know("good", ann(&["devs"]));
    let away = Arc::new(FakeDeployer::default());
    away.interrupt(vec![Interruption::Away; 10]);
    Adapter {
        name: "cluster",
        authenticator: Arc::new(ClusterTokens::new(deployer, Vec::new())),
        good: "good".to_owned(),
        identity: ann(&["devs"]),
        bad: vec!["expired".to_owned()],
        away: Some(Arc::new(ClusterTokens::new(away, Vec::new()))),
        _keep: None,
    }
}

async fn oidc(signer: oidc::tests::Signer) -> Adapter {
    let issuer = oidc::tests::TestIssuer::new(&[&signer]).await;
    let gone = oidc::tests::TestIssuer::new(&[&signer]).await;
    let good = signer.token(&issuer.claims());
    // Its own issuer's, so that this is asked for it.
    let away = Switched {
        to: gone.tokens(),
        token: signer.token(&gone.claims()),
    };
    Adapter {
        name: "oidc",
        authenticator: Arc::new(issuer.tokens()),
        identity: ann(&["devs"]),
        bad: oidc::tests::bad(&issuer, &signer),
        good,
        away: Some(Arc::new(away)),
        _keep: Some(Box::new(issuer)),
    }
}

/// One that is asked about another token than it is given.
struct Switched {
    to: OidcTokens,
    token: String,
}

#[async_trait]
impl Authenticator for Switched {
    async fn authenticate(&self, _: &str) -> Result<Identity, AuthenticationError> {
        self.to.authenticate(&self.token).await
    }
}

async fn adapters() -> Vec<Adapter> {
    vec![
        static_tokens(),
        cluster(),
        oidc(oidc::tests::rsa()).await,
        oidc(oidc::tests::ec("ec")).await,
    ]
}

#[tokio::test]
async fn a_token_that_is_known_is_always_the_same_somebody() {
    for adapter in adapters().await {
        for _ in 0..3 {
            let identity = adapter.authenticator.authenticate(&adapter.good).await;
            assert_eq!(identity, Ok(adapter.identity.clone()), "{}", adapter.name);
        }
    }
}

#[tokio::test]
async fn what_is_unknown_expired_altered_or_no_token_is_nobody_and_is_not_quoted() {
    for mut adapter in adapters().await {
        let altered = [
            adapter.good.to_uppercase() + "x",
            format!("{} ", adapter.good),
            adapter.good[1..].to_owned(),
            "x".repeat(TOKEN_BYTES),
            "\u{0}".to_owned(),
            String::new(),
        ];
        adapter.bad.extend(altered);
        for bad in &adapter.bad {
            let refused = adapter.authenticator.authenticate(bad).await;
            let Err(AuthenticationError::Refused(reason)) = refused else {
                panic!("{}: {bad:?} is {refused:?}", adapter.name);
            };
            assert!(bad.len() < 5 || !reason.contains(bad.as_str()), "{reason}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_found_out_is_no_yes() {
    for adapter in adapters().await {
        let Some(away) = adapter.away else { continue };
        let unknown = away.authenticate(&adapter.good).await;
        let unavailable = matches!(unknown, Err(AuthenticationError::Unavailable(_)));
        assert!(unavailable, "{}: {unknown:?}", adapter.name);
    }
}

#[tokio::test]
async fn one_that_knows_the_token_is_enough_and_one_that_cannot_say_is_told() {
    let (tokens, cluster) = (static_tokens(), cluster());
    let away = cluster.away.clone().unwrap();
    let both = Authenticators::new(vec![away.clone(), tokens.authenticator.clone()], None);
    assert_eq!(both.authenticate("good").await, Ok(ann(&["devs"])));
    let error = both.authenticate("unknown").await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unavailable);
    let known = Authenticators::new(vec![tokens.authenticator, cluster.authenticator], None);
    for bad in ["unknown", &"x".repeat(TOKEN_BYTES + 1)] {
        let error = known.authenticate(bad).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unauthenticated);
    }
}

#[tokio::test]
async fn the_cluster_is_asked_once_for_many_requests_with_a_token() {
    let deployer = Arc::new(FakeDeployer::default());
    deployer.know("good", ann(&[]));
    let cluster = ClusterTokens::new(deployer.clone(), Vec::new());
    for token in ["good", "bad"] {
        for _ in 0..10 {
            let _ = cluster.authenticate(token).await;
        }
    }
    assert_eq!(deployer.reviews(), 2);
}

#[test]
fn a_certificate_says_who_somebody_is_where_certificates_count() {
    let shown = Certificate {
        common_name: Some("ann".to_owned()),
        organizations: vec!["devs".to_owned()],
        ..Certificate::default()
    };
    let counts = Authenticators::new(Vec::new(), Some(ReservedNames::default()));
    assert!(counts.are_configured());
    assert_eq!(counts.certificate(&shown), Ok(Some(ann(&["devs"]))));
    assert_eq!(counts.certificate(&Certificate::default()), Ok(None));
    assert_eq!(Authenticators::default().certificate(&shown), Ok(None));
    let odd = Certificate {
        common_name: Some("ann\r\nImpersonate-Group: system:masters".to_owned()),
        ..shown
    };
    let error = counts.certificate(&odd).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unauthenticated);
}

/// How each way to authenticate knows somebody of these names; nobody, where it refuses them.
async fn known_as(
    user: &str,
    groups: &[&str],
    reserved: &ReservedNames,
) -> Vec<(&'static str, Option<Identity>)> {
    let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
    let parts = Parts {
        user: user.to_owned(),
        groups: groups.clone(),
        ..Parts::default()
    };
    let deployer = Arc::new(FakeDeployer::default());
    deployer.know("good", Identity::parse(parts).unwrap());
    let cluster = ClusterTokens::new(deployer, Vec::new());

    let file = tempfile::NamedTempFile::new().unwrap();
    let sha256 = Sha256::digest(b"good");
    let sha256: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    let token = serde_json::json!({"sha256": sha256, "user": user, "groups": groups});
    std::fs::write(&file, serde_json::json!({"tokens": [token]}).to_string()).unwrap();
    let tokens = match StaticTokens::open(file.path(), reserved.clone()) {
        Ok(tokens) => tokens.authenticate("good").await.ok(),
        Err(_) => None,
    };

    let signer = oidc::tests::ec("ec");
    let issuer = oidc::tests::TestIssuer::new(&[&signer]).await;
    let claims = issuer.claims_but(serde_json::json!({"sub": user, "groups": groups}));
    let oidc = issuer.tokens_with(reserved);

    let shown = Certificate {
        common_name: Some(user.to_owned()),
        organizations: groups,
        ..Certificate::default()
    };
    let certificates = Authenticators::new(Vec::new(), Some(reserved.clone()));
    vec![
        ("cluster", cluster.authenticate("good").await.ok()),
        ("static tokens", tokens),
        ("oidc", oidc.authenticate(&signer.token(&claims)).await.ok()),
        (
            "certificates",
            certificates.certificate(&shown).ok().flatten(),
        ),
    ]
}

#[tokio::test]
async fn only_the_cluster_gives_reserved_names_unless_the_operator_allows_them() {
    let masters = ReservedNames::allowing(&["system:masters".to_owned()]);
    let nothing = ReservedNames::default();
    let admin = "system:serviceaccount:kube-system:admin";
    let cases: [(&str, &[&str], &ReservedNames, bool); 7] = [
        ("ann", &["devs", "systemd"], &nothing, true),
        ("ann", &["devs", "system:masters"], &nothing, false),
        ("system:kube-scheduler", &[], &nothing, false),
        (admin, &[], &nothing, false),
        ("ann", &["devs", "system:masters"], &masters, true),
        ("ann", &["system:masters", "system:nodes"], &masters, false),
        ("ann", &["system:masters:more"], &masters, false),
    ];
    for (user, groups, reserved, is_taken) in cases {
        for (way, identity) in known_as(user, groups, reserved).await {
            let expected = is_taken || way == "cluster";
            assert_eq!(identity.is_some(), expected, "{way}: {user} {groups:?}");
            let Some(identity) = identity else { continue };
            assert_eq!(
                (identity.user(), identity.groups().len()),
                (user, groups.len())
            );
        }
    }
}
