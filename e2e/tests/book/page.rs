//! The examples of a page: files, and commands with what they print.
//!
//! | fence | meaning |
//! |---|---|
//! | `yaml,file=NAME` | a file that the reader saves |
//! | `console` | commands, each behind `$ `, with what they print; `> ` continues a command |
//! | `console,fails` | the same, and every command fails |
//! | `console,endless` | the same, and every command goes on until Ctrl-C, which it gets once it has printed something |
//! | `console,norun` | commands that cannot run in a test; a comment before the block says why |
//!
//! Not the crate trycmd: its commands share no shell, so that a page could not use a variable or a folder of an earlier example.

use anyhow::{Context as _, Result, ensure};

use super::markdown::{CodeBlock, Document};

/// The comment before a block that does not run begins with it.
const REASON: &str = "<!-- Not run:";

pub enum Example {
    File { name: String, text: String },
    Command(Command),
}

pub struct Command {
    /// Where its block begins in the page.
    pub line: usize,
    pub text: String,
    /// What it prints: `...` stands for any lines, `[..]` for any text in a line.
    pub output: String,
    pub fails: bool,
    /// It goes on until it is interrupted.
    pub is_endless: bool,
}

#[derive(Default)]
pub struct Examples {
    pub run: Vec<Example>,
    /// How many commands cannot run in a test.
    pub not_run: usize,
}

impl Examples {
    pub fn read(page: &Document) -> Result<Self> {
        let mut examples = Self::default();
        for block in page.code_blocks() {
            let place = format!("{}:{}", page.path.display(), block.line);
            examples.add(&block).context(place)?;
        }
        Ok(examples)
    }

    pub fn commands(&self) -> usize {
        let is_command = |example: &&Example| matches!(example, Example::Command(_));
        self.run.iter().filter(is_command).count()
    }

    fn add(&mut self, block: &CodeBlock) -> Result<()> {
        let (language, attribute) = block.info.split_once(',').unwrap_or((&block.info, ""));
        ensure!(
            !["sh", "bash", "shell"].contains(&language),
            "write commands as `console`, so that they are tested"
        );
        match (language, attribute, attribute.strip_prefix("file=")) {
            ("console", "norun", _) => {
                let comment = block.comment.as_deref().unwrap_or_default();
                ensure!(comment.starts_with(REASON), "say why: {REASON} … -->");
                self.not_run += commands(block)?.len();
            }
            ("console", "" | "fails" | "endless", _) => {
                let commands = commands(block)?.into_iter();
                self.run.extend(commands.map(Example::Command));
            }
            (_, _, Some(name)) => self.run.push(Example::File {
                name: name.to_owned(),
                text: block.text.clone(),
            }),
            (_, "", None) => (),
            _ => anyhow::bail!("`{}` is not a kind of example", block.info),
        }
        Ok(())
    }
}

fn commands(block: &CodeBlock) -> Result<Vec<Command>> {
    let mut commands: Vec<Command> = Vec::new();
    for line in block.text.lines() {
        if let Some(text) = line.strip_prefix("$ ") {
            commands.push(Command {
                line: block.line,
                text: text.to_owned(),
                output: String::new(),
                fails: block.info == "console,fails",
                is_endless: block.info == "console,endless",
            });
            continue;
        }
        let command = commands.last_mut().context("no command stands first")?;
        match line.strip_prefix("> ") {
            Some(more) => command.text.extend(["\n", more]),
            None => command.output.extend([line, "\n"]),
        }
    }
    Ok(commands)
}
