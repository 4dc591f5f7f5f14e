//! The errors of charts, with their places.

use common::api::error::ErrorCode;
use expandybird_chart::{Chart, ChartError};
use expandybird_gotemplate::error::Limit;

use super::super::excerpt::excerpt;
use super::super::{EngineError, Instance};

/// The error of a chart that has no result. `chart`: it was read.
pub fn failed(instance: &Instance<'_>, chart: Option<&Chart>, error: ChartError) -> EngineError {
    let path = instance.template.path();
    let message = format!("chart '{path}' failed: {error}");
    match error {
        ChartError::Archive(_) | ChartError::Ignore(_) | ChartError::Chart(_) => {
            invalid(path, message)
        }
        ChartError::Values(_) => EngineError {
            file: Some(path.to_owned()),
            ..EngineError::new(ErrorCode::InvalidProperties, message)
        },
        ChartError::Manifest { file, .. } => EngineError {
            file: Some(file),
            ..EngineError::new(ErrorCode::TemplateFailed, message)
        },
        ChartError::Limit { limit, file, .. } => EngineError {
            file,
            ..EngineError::new(code(limit), message)
        },
        ChartError::Template {
            file,
            line,
            column,
            sentence,
            ..
        } => {
            let source = file.as_deref().zip(chart);
            let source = source.and_then(|(file, chart)| chart.source(file));
            let source = source.map(String::from_utf8_lossy);
            let column = column.map(|column| column + 1);
            let number = |value: usize| u32::try_from(value).ok();
            let excerpt = source
                .zip(line)
                .and_then(|(source, line)| excerpt(&source, line, column));
            EngineError {
                code: ErrorCode::TemplateFailed,
                // What the author wrote helps most.
                message: sentence.map_or(message, |sentence| {
                    format!("{sentence} (says the chart '{path}')")
                }),
                file: file.or_else(|| Some(path.to_owned())),
                line: line.and_then(number),
                column: column.and_then(number),
                excerpt: excerpt.unwrap_or_default(),
                causes: Vec::new(),
            }
        }
    }
}

/// A chart, or a file of it, is wrong.
pub fn invalid(path: &str, message: String) -> EngineError {
    EngineError {
        file: Some(path.to_owned()),
        ..EngineError::new(ErrorCode::InvalidConfiguration, message)
    }
}

fn code(limit: Limit) -> ErrorCode {
    match limit {
        Limit::Output(_) | Limit::String(_) => ErrorCode::TemplateOutput,
        Limit::Steps(_) | Limit::Depth(_) | Limit::List(_) | Limit::Time => ErrorCode::TemplateFuel,
    }
}
