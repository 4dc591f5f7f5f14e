//! A policy file: roles of users and groups in namespaces.

use std::collections::BTreeSet;
use std::path::Path;

use async_trait::async_trait;
use common::api::error::ErrorBody;
use common::model::{Identity, Namespace};
use common::reload::{Unusable, Watched};
use serde::Deserialize;

use super::{Authorizer, Question, Visibility};
use crate::auth::file;
use crate::auth::verb::Role;

/// All namespaces, and everything that belongs to none.
const ALL: &str = "*";
/// The group of all authenticated callers, as in Kubernetes.
const AUTHENTICATED: &str = "system:authenticated";
/// The prefix of a service account's user name.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
/// The maximum number of bindings. Every request checks all of them.
const BINDINGS: usize = 10_000;

/// The content of a minimal file.
const EXAMPLE: &str = "bindings: [{role: admin, users: [NAME], namespaces: [\"*\"]}]";

pub struct Policy {
    file: Watched<Vec<Binding>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    bindings: Vec<Binding>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Binding {
    role: Role,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    /// Each as `NAMESPACE/NAME`.
    #[serde(default)]
    service_accounts: Vec<String>,
    namespaces: Vec<String>,
}

impl Policy {
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let file = Watched::open(
            "the policy of --auth-policy",
            [path.to_owned()],
            |contents| parse(&file::text(contents)?),
        )?;
        Ok(Self { file })
    }
}

#[async_trait]
impl Authorizer for Policy {
    async fn allows(
        &self,
        identity: &Identity,
        question: &Question,
    ) -> Result<bool, Box<ErrorBody>> {
        let needed = Role::needed(question.verb, question.resource);
        let bindings = self.file.get();
        let mut fitting = bindings.iter().filter(|binding| binding.binds(identity));
        Ok(fitting
            .any(|binding| binding.role >= needed && binding.covers(question.namespace.as_ref())))
    }

    async fn visibility(&self, identity: &Identity) -> Result<Visibility, Box<ErrorBody>> {
        let bindings = self.file.get();
        let mut seen = BTreeSet::new();
        for binding in bindings.iter().filter(|binding| binding.binds(identity)) {
            if binding.covers(None) {
                return Ok(Visibility::All);
            }
            let namespaces = binding.namespaces.iter();
            seen.extend(namespaces.filter_map(|name| Namespace::parse(name.as_str()).ok()));
        }
        Ok(Visibility::Only(seen))
    }

    fn advice(&self, question: &Question) -> String {
        let role = Role::needed(question.verb, question.resource);
        match &question.namespace {
            Some(namespace) => format!("it takes the role '{role}' in namespace '{namespace}'"),
            None => format!("it takes the role '{role}' in all namespaces (\"{ALL}\")"),
        }
    }
}

impl Binding {
    fn binds(&self, identity: &Identity) -> bool {
        let account = identity.user().strip_prefix(SERVICE_ACCOUNT);
        let is_account = account
            .and_then(|account| account.split_once(':'))
            .is_some_and(|(namespace, name)| {
                let named = format!("{namespace}/{name}");
                self.service_accounts.contains(&named)
            });
        let in_group = |group: &String| group == AUTHENTICATED || identity.groups().contains(group);
        is_account
            || self.users.iter().any(|user| user == identity.user())
            || self.groups.iter().any(in_group)
    }

    /// Absent for what belongs to no namespace.
    fn covers(&self, namespace: Option<&Namespace>) -> bool {
        let mut namespaces = self.namespaces.iter();
        namespaces.any(|own| own == ALL || namespace.is_some_and(|one| one.as_str() == own))
    }
}

fn parse(text: &str) -> Result<Vec<Binding>, String> {
    let file: File = file::document(text, EXAMPLE)?;
    if file.bindings.len() > BINDINGS {
        return Err(format!("it has more than {BINDINGS} bindings"));
    }
    for (number, binding) in file.bindings.iter().enumerate() {
        check(binding).map_err(|reason| format!("bindings[{number}]: {reason}"))?;
    }
    Ok(file.bindings)
}

/// A binding that can never match is a mistake in the file.
fn check(binding: &Binding) -> Result<(), String> {
    let subjects = [&binding.users, &binding.groups, &binding.service_accounts];
    if subjects.iter().all(|some| some.is_empty()) {
        return Err("it names no users, groups or serviceAccounts".to_owned());
    }
    if binding.namespaces.is_empty() {
        return Err(format!("it names no namespaces; \"{ALL}\" is all of them"));
    }
    let accounts = binding.service_accounts.iter();
    if let Some(odd) = accounts.clone().find(|name| name.split('/').count() != 2) {
        return Err(format!("the service account {odd:?} is not NAMESPACE/NAME"));
    }
    let named = binding.namespaces.iter().filter(|name| *name != ALL);
    for name in named {
        Namespace::parse(name.as_str()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_with_a_mistake_is_refused_and_says_which() {
        let cases = [
            ("bindings: 1", "invalid type"),
            ("bindings: []\nmore: 1", "unknown field `more`"),
            (
                "bindings: [{role: owner, users: [a], namespaces: [b]}]",
                "unknown variant `owner`",
            ),
            (
                "bindings: [{role: view, user: [a], namespaces: [b]}]",
                "unknown field `user`",
            ),
            (
                "bindings: [{role: view, users: [a]}]",
                "missing field `namespaces`",
            ),
            (
                "bindings: [{role: view, users: [a], namespaces: []}]",
                "bindings[0]: it names no namespaces",
            ),
            (
                "bindings: [{role: view, namespaces: [b]}]",
                "bindings[0]: it names no users",
            ),
            (
                "bindings: [{role: view, users: [a], namespaces: [B_]}]",
                "bindings[0]: namespace \"B_\"",
            ),
            (
                "bindings: [{role: view, serviceAccounts: [ci], namespaces: [b]}]",
                "is not NAMESPACE/NAME",
            ),
        ];
        for (text, reason) in cases {
            let error = parse(text).err().unwrap();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
