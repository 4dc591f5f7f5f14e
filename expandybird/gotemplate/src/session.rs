//! One render: its budget, and what lives as long as it.

use std::any::Any;

use crate::budget::{Budget, Limits};
use crate::value::{Map, WeakMap};

/// One render. Templates that are run in the same session share its budget.
pub struct Session {
    pub(crate) budget: Budget,
    pub(crate) host: Box<dyn Any>,
    to_clear: Vec<WeakMap>,
}

impl Session {
    /// A session with these limits; functions find `host` with [`crate::value::Call::host`].
    pub fn new(limits: Limits, host: impl Any) -> Self {
        Self {
            budget: Budget::new(limits),
            host: Box::new(host),
            to_clear: Vec::new(),
        }
    }

    /// What has been used of the limits.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the functions of this session share; `None` if it is no `T`.
    pub fn host<T: Any>(&mut self) -> Option<&mut T> {
        self.host.downcast_mut()
    }

    pub(crate) fn clear_at_end(&mut self, map: &Map) {
        self.to_clear.push(map.downgrade());
    }
}

impl Drop for Session {
    /// Empties the maps that templates have put lists or maps into: they may contain themselves, and would stay in
    /// memory forever.
    fn drop(&mut self) {
        for map in &self.to_clear {
            map.clear();
        }
    }
}
