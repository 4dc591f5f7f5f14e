//! What a run offers to functions.

use std::any::Any;
use std::sync::Arc;

use super::{Executor, run};
use crate::budget::Budget;
use crate::error::Failure;
use crate::value::{ExecuteSourceError, GoString, Map, Runtime, Value};

impl Runtime for Executor<'_, '_> {
    fn budget(&mut self) -> &mut Budget {
        &mut self.session.budget
    }

    fn hosts(&mut self) -> &mut [Box<dyn Any>] {
        &mut self.session.hosts
    }

    fn running(&self) -> &[Arc<str>] {
        &self.session.running
    }

    fn clear_at_end(&mut self, map: &Map) {
        self.session.clear_at_end(map);
    }

    fn execute(&mut self, name: &str, data: &Value) -> Result<GoString, Failure> {
        let limit = self.session.budget.limits().string_bytes;
        let out = run(self.scope, self.session, name, data, limit);
        out.map(GoString::from)
            .map_err(|error| Failure::from(*error))
    }

    fn execute_source(
        &mut self,
        name: &str,
        source: &[u8],
        data: &Value,
    ) -> Result<GoString, ExecuteSourceError> {
        let spent = self.session.budget.spend_string(source.len());
        spent.map_err(|limit| ExecuteSourceError::Execute(limit.into()))?;
        let templates = self
            .scope
            .parse(name, source)
            .map_err(ExecuteSourceError::Parse)?;
        let scope = self.scope.with(&templates);
        let limit = self.session.budget.limits().string_bytes;
        let out = run(&scope, self.session, name, data, limit);
        out.map(GoString::from)
            .map_err(|error| ExecuteSourceError::Execute((*error).into()))
    }
}
