//! How much a run may use, and what it has used.

use std::time::Instant;

use crate::error::Limit;

/// How much one render may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Evaluated nodes, items that functions visit, and [`BYTES_PER_STEP`] bytes that they write.
    pub steps: u64,
    /// Templates, blocks and parentheses within each other, over all templates that call each other.
    pub depth: usize,
    /// Bytes of one output.
    pub output_bytes: usize,
    /// Bytes of one string.
    pub string_bytes: usize,
    /// Items of one list.
    pub list_items: usize,
    /// When the render must have ended.
    pub deadline: Option<Instant>,
}

/// Writing so many bytes counts as one step.
pub const BYTES_PER_STEP: usize = 64;

/// The clock is read once in so many steps.
const STEPS_PER_LOOK: u64 = 4096;

impl Default for Limits {
    /// A chart of some hundred files needs a few million steps, a depth of 150 and an output of 2 MiB.
    fn default() -> Self {
        Self {
            steps: 50_000_000,
            depth: 1_000,
            output_bytes: 16 << 20,
            string_bytes: 8 << 20,
            list_items: 1_000_000,
            deadline: None,
        }
    }
}

/// What a render has used of its limits.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    steps: u64,
    next_look: u64,
    depth: usize,
}

impl Budget {
    /// A budget of which nothing is used yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: 0,
            next_look: STEPS_PER_LOOK,
            depth: 0,
        }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The steps used so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes so many steps: call it before work whose length the template decides.
    ///
    /// # Errors
    /// No steps or no time is left.
    pub fn spend(&mut self, steps: usize) -> Result<(), Limit> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps < self.next_look {
            return Ok(());
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> Result<(), Limit> {
        self.next_look = self
            .steps
            .saturating_add(STEPS_PER_LOOK)
            .min(self.limits.steps);
        if self.steps >= self.limits.steps {
            return Err(Limit::Steps(self.limits.steps));
        }
        match self.limits.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Limit::Time),
            _ => Ok(()),
        }
    }

    /// Takes the steps for a string of so many bytes: call it before the string is made.
    ///
    /// # Errors
    /// The string would be too long, or no steps are left.
    pub fn spend_string(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes > self.limits.string_bytes {
            return Err(Limit::String(self.limits.string_bytes));
        }
        self.spend(bytes / BYTES_PER_STEP)
    }

    /// Takes the steps for a list of so many items: call it before the list is made.
    ///
    /// # Errors
    /// The list would be too long, or no steps are left.
    pub fn spend_list(&mut self, items: usize) -> Result<(), Limit> {
        if items > self.limits.list_items {
            return Err(Limit::List(self.limits.list_items));
        }
        self.spend(items)
    }

    /// Goes one level down. Each `enter` has its [`Budget::leave`].
    ///
    /// # Errors
    /// It is the deepest level already.
    pub fn enter(&mut self) -> Result<(), Limit> {
        if self.depth >= self.limits.depth {
            return Err(Limit::Depth(self.limits.depth));
        }
        self.depth += 1;
        Ok(())
    }

    /// Goes one level up.
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The level.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Goes back to a level, after an error.
    pub fn restore_depth(&mut self, depth: usize) {
        self.depth = depth;
    }
}
