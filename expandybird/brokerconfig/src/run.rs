//! What the functions of one run share.

use std::sync::Arc;

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::Call;
use serde_json::Value;

use crate::made::Ledger;
use crate::registry::Registry;

/// Snippets within snippets. Literal names are checked when the configuration is read, computed ones are not.
const NESTED: usize = 30;

/// Templates that others use by their names.
pub trait Snippets {
    /// A template, and where it stands in the document.
    fn snippet(&self, name: &str) -> Option<(&Value, &str)>;
}

/// The host of a session.
pub struct Run {
    pub snippets: Arc<dyn Snippets>,
    pub registry: Registry,
    /// The parameters of the request.
    pub parameters: Value,
    pub ledger: Ledger,
    nested: usize,
}

impl Run {
    pub fn new(
        snippets: Arc<dyn Snippets>,
        registry: Registry,
        parameters: Value,
        ledger: Ledger,
    ) -> Self {
        Self {
            snippets,
            registry,
            parameters,
            ledger,
            nested: 0,
        }
    }

    /// A snippet is about to be rendered.
    pub fn enter(&mut self) -> Result<(), Failure> {
        self.nested += 1;
        match self.nested > NESTED {
            false => Ok(()),
            true => Err(Failure::new(format!(
                "snippets are nested more than {NESTED} times; one of them uses itself"
            ))),
        }
    }

    pub fn leave(&mut self) {
        self.nested = self.nested.saturating_sub(1);
    }
}

/// The run that a function belongs to.
pub fn of<'c>(call: &'c mut Call<'_>) -> Result<&'c mut Run, Failure> {
    let missing = || Failure::new("the function is used outside of a configuration");
    call.host().ok_or_else(missing)
}
