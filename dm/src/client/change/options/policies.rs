//! The policies for all resources of a request, as flags.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use common::api::manager::PolicyQuery;
use common::model::{
    ConflictPolicy, CreatePolicy, DeletePolicy, DriftPolicy, NameError, ServiceAccountName,
    UpdatePolicy,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Above these flags in the help.
const HEADING: &str = "Policies";

/// Each overrides the `metadata` of the resources.
#[derive(Debug, Clone, Default, Args)]
pub struct Policies {
    /// Whether objects may already exist: create-or-acquire takes over existing objects that have no owner.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = policy::<CreatePolicy>(&[("create-or-acquire", "create_or_acquire"), ("create", ""), ("acquire", "")]), help_heading = HEADING)]
    pub create_policy: Option<CreatePolicy>,
    /// What to do if a field cannot be changed: replace deletes the object and creates it again.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = policy::<UpdatePolicy>(&[("apply", ""), ("replace", "")]), help_heading = HEADING)]
    pub update_policy: Option<UpdatePolicy>,
    /// What to do if another field manager owns a field with a different value.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = policy::<ConflictPolicy>(&[("fail", ""), ("take", ""), ("yield", "")]), help_heading = HEADING)]
    pub conflict_policy: Option<ConflictPolicy>,
    /// What to do with objects that are no longer desired: abandon leaves them in the cluster.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = delete_policy(), help_heading = HEADING)]
    pub delete_policy: Option<DeletePolicy>,
}

impl Policies {
    pub fn query(&self) -> PolicyQuery {
        PolicyQuery {
            create_policy: self.create_policy,
            update_policy: self.update_policy,
            conflict_policy: self.conflict_policy,
            delete_policy: self.delete_policy,
        }
    }
}

/// What to do about drift.
#[derive(Debug, Clone, Default, Args)]
pub struct DriftFlag {
    /// What to do when others change the deployment's objects: report the drift, or correct it.
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = policy::<DriftPolicy>(&[("report", ""), ("correct", "")]), help_heading = HEADING)]
    pub drift_policy: Option<DriftPolicy>,
}

/// The identity that a deployment is applied with.
#[derive(Debug, Clone, Default, Args)]
pub struct AccountFlag {
    /// Service account, in the deployment's namespace, that applies the deployment now and later; '' for none
    #[arg(long, value_name = "NAME", value_parser = account)]
    service_account: Option<Account>,
}

impl AccountFlag {
    /// The account of a new deployment.
    pub fn for_create(&self) -> Option<ServiceAccountName> {
        self.service_account.clone().and_then(|account| account.0)
    }

    /// The change for an existing deployment: another account, none, or no change.
    pub fn for_update(&self) -> Option<Option<ServiceAccountName>> {
        self.service_account.clone().map(|account| account.0)
    }
}

/// A service account, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Account(pub Option<ServiceAccountName>);

/// An empty text is no account.
fn account(text: &str) -> Result<Account, NameError> {
    let name = Some(text).filter(|text| !text.is_empty());
    name.map(ServiceAccountName::parse).transpose().map(Account)
}

/// Reads a policy by its name or, if it has one, by its alias `create_or_acquire`, in any case.
fn policy<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let value = |&(name, other): &(&'static str, &'static str)| match other {
        "" => PossibleValue::new(name),
        other => PossibleValue::new(name).alias(other),
    };
    let names: Vec<_> = names.iter().map(value).collect();
    PossibleValuesParser::new(names).try_map(|name| {
        let wire = name.to_uppercase().replace('-', "_");
        serde_json::from_value(Value::String(wire))
    })
}

/// Reads a delete policy.
pub fn delete_policy() -> impl TypedValueParser<Value = DeletePolicy> {
    policy(&[("delete", ""), ("abandon", "")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        policies: Policies,
    }

    #[test]
    fn a_service_account_is_a_name_or_none() {
        assert_eq!(account(""), Ok(Account(None)));
        let named = ServiceAccountName::parse("robot").unwrap();
        assert_eq!(account("robot"), Ok(Account(Some(named))));
        assert!(account("Robot/1").is_err());
    }

    #[test]
    fn policies_are_read_in_both_spellings() {
        for name in ["create-or-acquire", "CREATE_OR_ACQUIRE"] {
            let line = Line::try_parse_from(["dm", "--create-policy", name]).unwrap();
            let policy = line.policies.create_policy;
            assert_eq!(policy, Some(CreatePolicy::CreateOrAcquire));
        }
        let Err(error) = Line::try_parse_from(["dm", "--conflict-policy", "win"]) else {
            panic!("it is not a policy")
        };
        assert!(error.to_string().contains("fail, take, yield"), "{error}");
    }
}
