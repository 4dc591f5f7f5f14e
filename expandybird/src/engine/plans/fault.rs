//! Errors of plans, as those of every engine.

use common::api::error::ErrorCode;
use common::model::Import;
use expandybird_gotemplate::error::{ExecError, Limit};
use expandybird_sfplan::PlanError;

use super::super::EngineError;

pub type Fallible<T> = Result<T, Box<EngineError>>;

pub fn failed(file: &Import, error: &PlanError) -> EngineError {
    let path = file.path();
    EngineError {
        file: Some(path.to_owned()),
        ..EngineError::new(code(error), format!("plan '{path}' failed: {error}"))
    }
}

pub fn refused(file: &Import, message: String) -> EngineError {
    let path = file.path();
    EngineError {
        file: Some(path.to_owned()),
        ..EngineError::new(
            ErrorCode::InvalidConfiguration,
            format!("plan '{path}' failed: {message}"),
        )
    }
}

fn code(error: &PlanError) -> ErrorCode {
    match error {
        PlanError::Invalid { .. } | PlanError::Missing(_) | PlanError::Output { .. } => {
            ErrorCode::InvalidConfiguration
        }
        PlanError::Parse { .. } => ErrorCode::TemplateFailed,
        PlanError::Render { source, .. } => of_limit(source),
    }
}

fn of_limit(error: &ExecError) -> ErrorCode {
    match error.limit() {
        None => ErrorCode::TemplateFailed,
        Some(Limit::Output(_) | Limit::String(_)) => ErrorCode::TemplateOutput,
        Some(Limit::Steps(_) | Limit::Depth(_) | Limit::List(_) | Limit::Time) => {
            ErrorCode::TemplateFuel
        }
    }
}
