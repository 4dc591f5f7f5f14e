//! Where a run of the command line reads and writes.

pub mod format;
pub mod report;
pub mod table;
pub mod text;

use std::io::{BufRead, BufReader, Read, Write};

/// The streams, and what is known of the device behind them.
pub struct Terminal<'t> {
    pub stdin: &'t mut dyn Read,
    pub stdout: &'t mut dyn Write,
    pub stderr: &'t mut dyn Write,
    /// Standard error is a terminal: progress is drawn there.
    pub animated: bool,
    /// Standard output is a terminal that shows colours, and nobody objects to them (`NO_COLOR`).
    pub colours: bool,
    /// There is a person to ask: standard input and standard error are terminals.
    pub interactive: bool,
    /// Columns that a line of a table may have.
    pub width: Option<usize>,
}

impl Terminal<'_> {
    /// A line for people. That standard error is gone is nothing that could be told to anybody.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.stderr, "{line}");
    }

    /// Asks a person; without one, or with any other answer than yes, the answer is no.
    pub fn agrees(&mut self, question: &str) -> bool {
        if !self.interactive {
            return false;
        }
        let _ = write!(self.stderr, "{question} [y/N] ");
        let _ = self.stderr.flush();
        let answer = first_line(&mut *self.stdin);
        matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }
}

/// Up to the line's end, or as much as an answer may have.
fn first_line(input: &mut dyn Read) -> String {
    const LONGEST: u64 = 64;
    let mut line = String::new();
    // What cannot be read is no answer.
    let _ = BufReader::new(input.take(LONGEST)).read_line(&mut line);
    line
}
