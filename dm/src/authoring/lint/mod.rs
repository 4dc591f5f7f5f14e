//! `dm lint`: finds mistakes in templates and configurations without a manager.
//!
//! ```text
//! paths ─► find (what each file is) ─► check ─┬─ expansion by expandybird, with the example or made-up properties (sample)
//!                                             └─ names that the schema does not have (names)
//! ```

mod check;
mod fault;
mod find;
mod names;
mod sample;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use self::fault::Fault;
use crate::client::session::Session;
use crate::error::{ExitCode, Failure};

/// Check templates, configurations and charts without a manager: syntax, schema, references, names that nothing defines.
///
/// Takes files and folders; without any, the current folder. Each mistake is a line with file, line and column. Templates are
/// expanded with the example beside them, or with properties that are made up from their schema.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm lint
  dm lint web.yaml
  dm lint charts/redis
  dm lint web.jinja -o json

Exit codes: 0 no mistakes, 1 mistakes, otherwise as for other commands.")]
pub struct Lint {
    /// Files and folders.
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Found {
    /// How many files and folders were checked.
    checked: usize,
    items: Vec<Fault>,
}

impl Lint {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<ExitCode, Failure> {
        let subjects = find::subjects(&self.paths)?;
        if subjects.is_empty() {
            let reason = "there is no template, configuration or chart to check";
            return Err(Failure::not_found(reason));
        }
        let mut items = Vec::new();
        for subject in &subjects {
            items.extend(check::faults(subject, session.terminal).await?);
        }
        items.sort();
        items.dedup();
        let found = Found {
            checked: subjects.len(),
            items,
        };
        let code = match found.items.is_empty() {
            true => ExitCode::Done,
            false => ExitCode::Failed,
        };
        session.show(&found, shown)?;
        Ok(code)
    }
}

fn shown(found: &Found) -> String {
    let lines: String = found
        .items
        .iter()
        .map(|fault| format!("{fault}\n"))
        .collect();
    let checked = match found.checked {
        1 => "1 checked".to_owned(),
        count => format!("{count} checked"),
    };
    match found.items.len() {
        0 => format!("{checked}, no mistakes\n"),
        1 => format!("{lines}{checked}, 1 mistake\n"),
        count => format!("{lines}{checked}, {count} mistakes\n"),
    }
}
