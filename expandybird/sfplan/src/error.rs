//! Why a plan cannot be used.

use expandybird_gotemplate::error::{ExecError, ParseError};

use crate::action::Action;

/// Why a plan, or what one of its templates printed, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file is no plan. The pointer is into its document.
    #[error("{pointer}: {message}")]
    Invalid {
        /// A JSON pointer.
        pointer: String,
        /// What is wrong.
        message: String,
    },
    /// The plan has no template for the action.
    #[error("the plan has no template for the action {}; add one to spec.templates", .0.name())]
    Missing(Action),
    /// The template is no template.
    #[error("the {} template cannot be read: {source}", .action.name())]
    Parse {
        /// Of the template.
        action: Action,
        /// Where, and why.
        source: Box<ParseError>,
    },
    /// The template failed.
    #[error("the {} template failed: {source}", .action.name())]
    Render {
        /// Of the template.
        action: Action,
        /// Where, and why.
        source: Box<ExecError>,
    },
    /// What the template printed has not the form that the action needs.
    #[error("the {} template printed what cannot be used: {reason}", .action.name())]
    Output {
        /// Of the template.
        action: Action,
        /// What is wrong.
        reason: String,
    },
}

impl PlanError {
    pub(crate) fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid {
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    pub(crate) fn output(action: Action, reason: impl Into<String>) -> Self {
        Self::Output {
            action,
            reason: reason.into(),
        }
    }
}
