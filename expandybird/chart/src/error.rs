//! Why a chart cannot be read or rendered. Texts that Helm has are Helm's.

use expandybird_gotemplate::error::Limit;

use crate::ignore::IgnoreError;
use common_chart::ArchiveError;

/// Why a chart has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// The archive is refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// `.helmignore` has a line that is no pattern.
    #[error(transparent)]
    Ignore(#[from] IgnoreError),
    /// A file of the chart, or what it says about the chart, is wrong.
    #[error("{0}")]
    Chart(String),
    /// The values do not fit the chart.
    #[error("{0}")]
    Values(String),
    /// A template is wrong, or fails.
    #[error("{message}")]
    Template {
        /// Helm's text.
        message: String,
        /// The path of the template that failed: the innermost one.
        file: Option<String>,
        /// Counted from 1.
        line: Option<usize>,
        /// In bytes, counted from 0.
        column: Option<usize>,
        /// What the author wrote for `required` or `fail`, if that ended the render.
        sentence: Option<String>,
    },
    /// The output of a template is no manifest.
    #[error("YAML parse error on {file}: {reason}")]
    Manifest {
        /// The path of the template.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// The render met a limit.
    #[error("{message}")]
    Limit {
        /// Which one.
        limit: Limit,
        /// The template's error.
        message: String,
        /// The path of the template.
        file: Option<String>,
    },
}

impl ChartError {
    /// The same error, of a chart within a chart.
    pub(crate) fn within(self, subchart: &str, parent: &str) -> Self {
        Self::Chart(format!(
            "error unpacking subchart {subchart} in {parent}: {self}"
        ))
    }
}
