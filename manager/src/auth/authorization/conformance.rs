//! What every authorizer promises, proved over each.

use std::sync::Arc;

use common::model::identity::Parts;

use super::*;
use crate::deployer::fake::{FakeDeployer, Interruption};

const READ: &[(&str, &str)] = &[
    ("get", "deployments.deploymentmanager"),
    ("list", "deployments.deploymentmanager"),
];
const ALL: &[(&str, &str)] = &[
    ("get", "deployments.deploymentmanager"),
    ("list", "deployments.deploymentmanager"),
    ("create", "deployments.deploymentmanager"),
    ("update", "deployments.deploymentmanager"),
    ("delete", "deployments.deploymentmanager"),
    ("create", "registries.deploymentmanager"),
    ("delete", "registries.deploymentmanager"),
    ("get", "credentials.deploymentmanager"),
    ("list", "credentials.deploymentmanager"),
    ("update", "credentials.deploymentmanager"),
    ("delete", "credentials.deploymentmanager"),
    ("create", "clusters.deploymentmanager"),
    ("update", "clusters.deploymentmanager"),
    ("delete", "clusters.deploymentmanager"),
    ("get", "store.deploymentmanager"),
    ("create", "store.deploymentmanager"),
];

fn user(name: &str, groups: &[&str]) -> Identity {
    let parts = Parts {
        user: name.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..Parts::default()
    };
    Identity::parse(parts).unwrap()
}

/// The same people in both: viewers and editors of `shop`, an account that edits there, an administrator of all.
fn people() -> [(&'static str, Identity); 5] {
    let shop = "shop".parse().unwrap();
    let account = Identity::of_service_account(&shop, "ci").unwrap();
    [
        ("viewer", user("vera", &["viewers"])),
        ("editor", user("eve", &[])),
        ("editor", account),
        ("admin", user("ada", &[])),
        ("nobody", user("shop", &["edit", "system:serviceaccounts"])),
    ]
}

fn policy() -> (Arc<dyn Authorizer>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy");
    let text = r#"
bindings:
- {role: view, groups: [viewers], namespaces: [shop]}
- {role: edit, users: [eve], serviceAccounts: [shop/ci], namespaces: [shop]}
- {role: admin, users: [ada], namespaces: ["*"]}
"#;
    std::fs::write(&path, text).unwrap();
    (Arc::new(Policy::open(&path).unwrap()), folder)
}

fn cluster() -> Arc<dyn Authorizer> {
    let deployer = FakeDeployer::default();
    for (role, identity) in people() {
        match role {
            "viewer" => deployer.grant(identity.user(), Some("shop"), READ),
            "editor" => deployer.grant(identity.user(), Some("shop"), &ALL[..5]),
            "admin" => deployer.grant(identity.user(), None, ALL),
            _ => deployer.grant(identity.user(), None, &[]),
        }
    }
    Arc::new(ClusterRules::new(Arc::new(deployer)))
}

/// Every question that a route asks.
fn questions(namespace: Option<&str>) -> Vec<Question> {
    use Resource::{Clusters, Credentials, Deployments, Registries, Store};
    let of_deployments = [
        Verb::Get,
        Verb::List,
        Verb::Create,
        Verb::Update,
        Verb::Delete,
    ];
    let namespace = namespace.map(|name| Namespace::parse(name).unwrap());
    let mut all: Vec<_> = of_deployments
        .map(|verb| Question {
            namespace: namespace.clone(),
            ..Question::all(verb, Deployments)
        })
        .to_vec();
    if namespace.is_none() {
        let others = [
            (Verb::Create, Registries),
            (Verb::Delete, Registries),
            (Verb::Get, Credentials),
            (Verb::List, Credentials),
            (Verb::Update, Credentials),
            (Verb::Delete, Credentials),
            (Verb::Create, Clusters),
            (Verb::Update, Clusters),
            (Verb::Delete, Clusters),
            (Verb::Get, Store),
            (Verb::Create, Store),
        ];
        all.extend(others.map(|(verb, resource)| Question::all(verb, resource)));
    }
    all
}

#[tokio::test]
async fn a_role_counts_in_its_namespace_only_and_one_in_all_counts_everywhere() {
    let (policy, _folder) = policy();
    for (name, authorizer) in [("policy", policy), ("cluster", cluster())] {
        for (role, identity) in people() {
            for namespace in [Some("shop"), Some("elsewhere"), None] {
                for question in questions(namespace) {
                    let reads = matches!(question.verb, Verb::Get | Verb::List);
                    let expected = match (role, namespace) {
                        ("viewer", Some("shop")) => reads,
                        ("editor", Some("shop")) | ("admin", _) => true,
                        _ => false,
                    };
                    let allowed = authorizer.allows(&identity, &question).await.unwrap();
                    assert_eq!(allowed, expected, "{name}: {role} {question} {namespace:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn who_may_list_everywhere_sees_all_and_others_their_namespaces() {
    let (policy, _folder) = policy();
    let shop = BTreeSet::from(["shop".parse().unwrap()]);
    for (role, identity) in people() {
        let (listed, asked) = match role {
            "admin" => (Visibility::All, Visibility::All),
            "nobody" => (Visibility::Only(BTreeSet::new()), Visibility::Unknown),
            _ => (Visibility::Only(shop.clone()), Visibility::Unknown),
        };
        assert_eq!(
            policy.visibility(&identity).await.unwrap(),
            listed,
            "{role}"
        );
        assert_eq!(
            cluster().visibility(&identity).await.unwrap(),
            asked,
            "{role}"
        );
    }
}

#[tokio::test]
async fn a_cluster_that_cannot_be_asked_allows_nothing() {
    let deployer = FakeDeployer::default();
    deployer.interrupt([Interruption::Away, Interruption::Away]);
    let rules = ClusterRules::new(Arc::new(deployer));
    let question = Question::all(Verb::Get, Resource::Deployments);
    let ada = user("ada", &[]);
    assert!(rules.allows(&ada, &question).await.is_err());
    assert!(rules.visibility(&ada).await.is_err());
}

#[tokio::test]
async fn two_of_one_name_in_different_groups_are_two() {
    let deployer = Arc::new(FakeDeployer::default());
    let rules = ClusterRules::new(deployer.clone());
    let question = Question::all(Verb::Get, Resource::Deployments);
    for groups in [&["a"][..], &["b"], &["a"]] {
        rules.allows(&user("ann", groups), &question).await.unwrap();
    }
    assert_eq!(deployer.reviews(), 2);
}
