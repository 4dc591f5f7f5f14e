//! Where a run of the command line reads and writes.

use std::io::{Read, Write};

/// The streams, and what is known of the device behind them.
pub struct Terminal<'t> {
    pub stdin: &'t mut dyn Read,
    pub stdout: &'t mut dyn Write,
    pub stderr: &'t mut dyn Write,
    /// Standard error is a terminal: progress is drawn there.
    pub animated: bool,
    /// Columns that a line of a table may have.
    pub width: Option<usize>,
}

impl Terminal<'_> {
    /// A line for people. That standard error is gone is nothing that could be told to anybody.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.stderr, "{line}");
    }
}
