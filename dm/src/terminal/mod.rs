//! The streams that a command reads and writes.

mod fit;
pub mod format;
pub mod report;
pub mod table;
pub mod text;

use std::io::{BufRead, BufReader, Read, Write};

pub use fit::fitted;

/// The streams, and what is known about the terminal behind them.
pub struct Terminal<'t> {
    pub stdin: &'t mut dyn Read,
    pub stdout: &'t mut dyn Write,
    pub stderr: &'t mut dyn Write,
    /// Standard error is a terminal: progress is drawn there.
    pub animated: bool,
    /// Standard output is a terminal that shows colours, and `NO_COLOR` is not set.
    pub colours: bool,
    /// A user can be asked: standard input and standard error are terminals.
    pub interactive: bool,
    /// The width of standard output in columns, if it is a terminal.
    pub width: Option<usize>,
    /// The width of standard error in columns, if it is a terminal.
    pub stderr_width: Option<usize>,
}

impl Terminal<'_> {
    /// Prints a line to standard error. A closed standard error cannot be reported anywhere.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.stderr, "{}", fitted(line, self.stderr_width));
    }

    /// Prints what a service warns of.
    pub fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.note(&format!("warning: {}", text::line(warning)));
        }
    }

    /// Asks the user. Without a user, or with any answer but yes, the answer is no.
    pub fn agrees(&mut self, question: &str) -> bool {
        if !self.interactive {
            return false;
        }
        let question = fitted(&format!("{question} [y/N]"), self.stderr_width);
        let _ = write!(self.stderr, "{question} ");
        let _ = self.stderr.flush();
        let answer = first_line(&mut *self.stdin);
        matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }
}

/// Reads one line, up to the length of an answer.
fn first_line(input: &mut dyn Read) -> String {
    const LONGEST: u64 = 64;
    let mut line = String::new();
    // An unreadable answer counts as none.
    let _ = BufReader::new(input.take(LONGEST)).read_line(&mut line);
    line
}
