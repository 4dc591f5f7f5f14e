//! One render: its budget, and what lives as long as it.

use std::any::Any;
use std::sync::Arc;

use crate::budget::{Budget, Limits};
use crate::value::{Map, WeakMap};

/// One render. Templates that are run in the same session share its budget.
pub struct Session {
    pub(crate) budget: Budget,
    /// What functions find by its type.
    pub(crate) hosts: Vec<Box<dyn Any>>,
    /// The names of the templates that run, outermost first.
    pub(crate) running: Vec<Arc<str>>,
    to_clear: Vec<WeakMap>,
}

impl Session {
    /// A session with these limits; functions find `host` with [`crate::value::Call::host`].
    pub fn new(limits: Limits, host: impl Any) -> Self {
        Self {
            budget: Budget::new(limits),
            hosts: vec![Box::new(host)],
            running: Vec::new(),
            to_clear: Vec::new(),
        }
    }

    /// The same with another host: functions find each by its type.
    #[must_use]
    pub fn with(mut self, host: impl Any) -> Self {
        self.hosts.push(Box::new(host));
        self
    }

    /// What has been used of the limits.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the functions of this session share; `None` if it is no `T`.
    pub fn host<T: Any>(&mut self) -> Option<&mut T> {
        self.hosts.iter_mut().find_map(|host| host.downcast_mut())
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
