//! Faults of a configuration, each at its place in the text.

use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::Import;
use common::node::Fault;
use common::yaml::{self, Limits, Pointer, TextLocations};
use expandybird_brokerconfig::ProcessError;

use super::super::EngineError;

/// A file that is no configuration.
pub fn invalid(file: &Import, message: &str) -> EngineError {
    EngineError {
        file: Some(file.path().to_owned()),
        ..EngineError::new(
            ErrorCode::InvalidConfiguration,
            format!("'{}': {message}", file.path()),
        )
    }
}

/// All faults of a configuration.
pub fn refused(file: &Import, document: usize, faults: &[Fault]) -> EngineError {
    let places = TextLocations::new(&file.content, &Limits::DEFAULT);
    let located = |fault: &Fault| {
        let place = places.find(&Pointer::new(document, fault.pointer.as_str()));
        Location {
            file: Some(file.path().to_owned()),
            line: place.and_then(|place| number(place.line)),
            column: place.and_then(|place| number(place.column)),
            ..Location::default()
        }
    };
    let texts: Vec<_> = faults
        .iter()
        .map(|fault| format!("{}: {}", fault.pointer, fault.message))
        .collect();
    let causes = faults.iter().zip(&texts).map(|(fault, text)| {
        ErrorBody::new(ErrorCode::InvalidConfiguration, text.clone()).at(located(fault))
    });
    let mut error = invalid(
        file,
        &format!("configuration is invalid: {}", texts.join("; ")),
    );
    if let Some(first) = faults.first() {
        let place = located(first);
        (error.line, error.column) = (place.line, place.column);
    }
    error.causes = causes.collect();
    error
}

/// A configuration that has no objects for these parameters.
pub fn failed(file: &Import, document: usize, error: &ProcessError) -> EngineError {
    let (code, pointer) = match error {
        ProcessError::NoPlan { .. } | ProcessError::NotBindable(_) => {
            (ErrorCode::InvalidConfiguration, None)
        }
        ProcessError::Failed { pointer, failure } => match failure.limit() {
            None => (ErrorCode::TemplateFailed, Some(pointer)),
            Some(_) => (ErrorCode::TemplateFuel, Some(pointer)),
        },
        ProcessError::Check { pointer, .. } => (ErrorCode::TemplateFailed, Some(pointer)),
    };
    let places = TextLocations::new(&file.content, &Limits::DEFAULT);
    let place = pointer.and_then(|at| places.find(&Pointer::new(document, at.as_str())));
    EngineError {
        file: Some(file.path().to_owned()),
        line: place.and_then(|place| number(place.line)),
        column: place.and_then(|place| number(place.column)),
        excerpt: place.map_or_else(String::new, |place| yaml::excerpt(&file.content, place)),
        ..EngineError::new(code, format!("template '{}' failed: {error}", file.path()))
    }
}

fn number(value: usize) -> Option<u32> {
    u32::try_from(value).ok()
}
