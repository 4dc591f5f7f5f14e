//! The limits of one expansion, and its present use.
//!
//! Each limit has its own error code. The server limits wall time: it ends the process at the deadline.

use common::api::error::ErrorCode;
use common::model::limits;

/// A limit that an expansion reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    #[error("templates are nested deeper than {limit} levels: {chain}")]
    TooDeep { limit: usize, chain: String },
    #[error("the configuration expands to more than {limit} resources")]
    TooManyResources { limit: usize },
    #[error("templates returned more than {limit_bytes} bytes of text")]
    TooMuchOutput { limit_bytes: usize },
}

impl BudgetError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooDeep { .. } => ErrorCode::TooDeep,
            Self::TooManyResources { .. } => ErrorCode::TooManyResources,
            Self::TooMuchOutput { .. } => ErrorCode::TemplateOutput,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// How deep templates may nest.
    pub depth: usize,
    /// Resources, template instances included.
    pub resources: usize,
    /// Bytes of all output of templates.
    pub output_bytes: usize,
}

impl Default for Bounds {
    /// Real compositions have three to five levels. One with more than 32 is a template that contains itself. The
    /// largest known output is a hundredth of 64 MiB, which is also the largest answer that a client accepts.
    fn default() -> Self {
        Self {
            depth: 32,
            resources: limits::RESOURCES,
            output_bytes: limits::REQUEST_BYTES,
        }
    }
}

#[derive(Debug)]
pub struct Budget {
    bounds: Bounds,
    resources: usize,
    output_bytes: usize,
}

impl Budget {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            resources: 0,
            output_bytes: 0,
        }
    }

    /// Called before each resource.
    pub fn take_resource(&mut self) -> Result<(), BudgetError> {
        self.resources += 1;
        let limit = self.bounds.resources;
        match self.resources > limit {
            true => Err(BudgetError::TooManyResources { limit }),
            false => Ok(()),
        }
    }

    /// Called for the output of a template.
    pub fn take_output(&mut self, bytes: usize) -> Result<(), BudgetError> {
        self.output_bytes = self.output_bytes.saturating_add(bytes);
        let limit_bytes = self.bounds.output_bytes;
        match self.output_bytes > limit_bytes {
            true => Err(BudgetError::TooMuchOutput { limit_bytes }),
            false => Ok(()),
        }
    }

    /// Called before a template within the templates of `chain`, outermost first.
    pub fn check_depth(&self, chain: &[String], template: &str) -> Result<(), BudgetError> {
        let limit = self.bounds.depth;
        if chain.len() < limit {
            return Ok(());
        }
        Err(BudgetError::TooDeep {
            limit,
            chain: chain_of_names(chain, template),
        })
    }
}

/// The nested templates. For a template that contains itself, one round of the cycle.
fn chain_of_names(chain: &[String], template: &str) -> String {
    let round = chain.iter().rposition(|outer| outer == template);
    let from = round.unwrap_or(0);
    let names = chain[from..].iter().map(String::as_str);
    names.chain([template]).collect::<Vec<_>>().join(" > ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_has_its_own_error() {
        let bounds = Bounds {
            depth: 2,
            resources: 1,
            output_bytes: 3,
        };
        let mut budget = Budget::new(bounds);
        assert!(budget.take_resource().is_ok());
        assert!(matches!(
            budget.take_resource(),
            Err(BudgetError::TooManyResources { limit: 1 })
        ));
        assert!(budget.take_output(3).is_ok());
        assert!(matches!(
            budget.take_output(1),
            Err(BudgetError::TooMuchOutput { .. })
        ));
    }

    #[test]
    fn a_template_that_contains_itself_is_told_by_one_round() {
        let chain: Vec<String> = ["a", "b", "c", "b"].map(String::from).into();
        let budget = Budget::new(Bounds {
            depth: 4,
            ..Bounds::default()
        });
        let error = budget.check_depth(&chain, "c").unwrap_err();
        assert!(error.to_string().contains("c > b > c"), "{error}");
        assert!(budget.check_depth(&chain[..3], "c").is_ok());
    }
}
