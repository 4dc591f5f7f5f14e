//! Where an execution is, and errors there.

use super::{Executor, Fallible};
use crate::error::{ExecError, Failure, Limit, Place};
use crate::parse::{Command, Operand, Pipe, TemplateCall};
use crate::text;

/// Bytes of a node's source in an error.
const NODE_BYTES: usize = 4096;
/// Bytes of an error that contains errors.
const MESSAGE_BYTES: usize = 64 << 10;

/// What was evaluated last.
#[derive(Clone, Copy)]
pub enum At<'s> {
    /// Nothing.
    Start,
    Action(&'s Pipe),
    Pipe(&'s Pipe),
    Command(&'s Command),
    Operand(&'s Operand),
    Template(&'s TemplateCall),
}

impl At<'_> {
    fn position(self) -> usize {
        match self {
            Self::Start => 0,
            Self::Action(pipe) | Self::Pipe(pipe) => pipe.position,
            Self::Command(command) => command.position,
            Self::Operand(operand) => operand.position(),
            Self::Template(call) => call.position,
        }
    }
}

pub fn no_template(name: &str, set: &str) -> ExecError {
    let (name, set) = (text::quoted(name), text::quoted(set));
    ExecError {
        template: String::new(),
        place: None,
        message: format!("no template {name} associated with template {set}"),
        cause: None,
    }
}

impl Executor<'_, '_> {
    /// Fails where the execution is.
    #[cold]
    pub fn fail<T>(&self, message: impl Into<String>) -> Fallible<T> {
        Err(self.error(message.into(), None))
    }

    /// Fails because a limit was met.
    #[cold]
    pub fn fail_at_limit<T>(&self, limit: Limit) -> Fallible<T> {
        Err(self.error(limit.to_string(), Some(Failure::Limit(limit))))
    }

    /// Fails because a function failed.
    #[cold]
    pub fn fail_in_call<T>(&self, name: &str, failure: Failure) -> Fallible<T> {
        let mut message = format!("error calling {name}: {failure}");
        if message.len() > MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
            message.push_str("...");
        }
        Err(self.error(message, Some(failure)))
    }

    fn error(&self, message: String, cause: Option<Failure>) -> Box<ExecError> {
        Box::new(ExecError {
            template: self.tree.name.to_string(),
            place: Some(self.place()),
            message,
            cause: cause.map(Box::new),
        })
    }

    fn place(&self) -> Place {
        let source = &self.tree.source;
        let before = source.text.get(..self.at.position()).unwrap_or_default();
        let start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        Place {
            file: source.name.clone(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: before.len() - start,
            node: self.node(),
        }
    }

    /// What was evaluated last, as errors show it.
    pub fn node(&self) -> String {
        let source = &*self.tree.source;
        let mut out = Vec::new();
        match self.at {
            At::Start => {}
            At::Action(pipe) => {
                out.extend(b"{{");
                pipe.write(source, &mut out);
                out.extend(b"}}");
            }
            At::Pipe(pipe) => pipe.write(source, &mut out),
            At::Command(command) => command.write(source, &mut out),
            At::Operand(operand) => operand.write(source, &mut out),
            At::Template(call) => call.write(source, &mut out),
        }
        if out.len() > NODE_BYTES {
            out.truncate(NODE_BYTES);
            out.extend(b"...");
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}
