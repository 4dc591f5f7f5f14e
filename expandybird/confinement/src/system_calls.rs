//! Filters of system calls (seccomp), made from tables.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

use crate::error::Error;

/// Rules by the number of the call: it passes if one of them matches. A call without rules always passes.
pub type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What happens to a call that matches no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It fails with `EPERM`.
    Refuse,
    /// The process dies of `SIGSYS`.
    Kill,
}

/// A filter that is ready to be installed.
pub struct Filter(BpfProgram);

impl Filter {
    pub fn compile(rules: Rules, otherwise: Action) -> Result<Self, Error> {
        let otherwise = match otherwise {
            Action::Refuse => refuse(),
            Action::Kill => SeccompAction::KillProcess,
        };
        Self::new(rules, SeccompAction::Allow, otherwise)
    }

    /// The reverse: a call that matches one of the rules fails with `EPERM`, every other call passes.
    pub fn refusing(rules: Rules) -> Result<Self, Error> {
        Self::new(rules, refuse(), SeccompAction::Allow)
    }

    fn new(rules: Rules, fitting: SeccompAction, otherwise: SeccompAction) -> Result<Self, Error> {
        let arch = std::env::consts::ARCH.try_into().map_err(explain)?;
        SeccompFilter::new(rules, otherwise, fitting, arch)
            .and_then(BpfProgram::try_from)
            .map(Self)
            .map_err(explain)
    }

    /// Installs it for this thread and all that it starts.
    pub fn install(&self) -> Result<(), Error> {
        seccompiler::apply_filter(&self.0).map_err(|error| Error::SystemCalls(error.to_string()))
    }

    /// Installs it for all threads of this process.
    pub fn install_everywhere(&self) -> Result<(), Error> {
        seccompiler::apply_filter_all_threads(&self.0)
            .map_err(|error| Error::SystemCalls(error.to_string()))
    }
}

fn refuse() -> SeccompAction {
    SeccompAction::Errno(libc::EPERM as u32)
}

fn explain(error: BackendError) -> Error {
    Error::SystemCalls(error.to_string())
}

/// Calls that pass with any arguments.
pub fn always(calls: &[i64]) -> impl Iterator<Item = (i64, Vec<SeccompRule>)> {
    calls.iter().map(|&call| (call, Vec::new()))
}

/// The argument (counted from 0) has one of these values.
pub fn one_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, Error> {
    let values = values.iter();
    values
        .map(|&value| rule(argument, SeccompCmpOp::Eq, value))
        .collect()
}

/// The lower 32 bits of the argument (counted from 0) compare to the value in this way.
pub fn rule(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, Error> {
    all_of(&[(argument, compare, value)])
}

/// [`rule`] for several arguments or values. All of the comparisons must hold.
pub fn all_of(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Error> {
    let condition = |(argument, compare, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
    };
    let conditions: Result<Vec<_>, _> = conditions.iter().map(condition).collect();
    conditions.and_then(SeccompRule::new).map_err(explain)
}
