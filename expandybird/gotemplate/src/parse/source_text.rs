//! Trees back to text, as error messages show them: single spaces, literals as they were written.

use super::{Command, Operand, Pipe, Source, TemplateCall};
use crate::text;

impl Pipe {
    /// Writes the pipeline as errors show it.
    pub fn write(&self, source: &Source, out: &mut Vec<u8>) {
        for (index, variable) in self.variables.iter().enumerate() {
            separate(out, index, b", ");
            out.extend(variable.bytes());
        }
        if !self.variables.is_empty() {
            out.extend(if self.is_assignment {
                &b" = "[..]
            } else {
                b" := "
            });
        }
        for (index, command) in self.commands.iter().enumerate() {
            separate(out, index, b" | ");
            command.write(source, out);
        }
    }
}

impl Command {
    /// Writes the command as errors show it.
    pub fn write(&self, source: &Source, out: &mut Vec<u8>) {
        for (index, operand) in self.operands.iter().enumerate() {
            separate(out, index, b" ");
            operand.write_enclosed(source, out);
        }
    }
}

impl TemplateCall {
    /// Writes the action as errors show it.
    pub fn write(&self, source: &Source, out: &mut Vec<u8>) {
        out.extend(b"{{template ");
        text::write_quoted(out, self.name.as_bytes(), false);
        if let Some(pipe) = &self.pipe {
            out.push(b' ');
            pipe.write(source, out);
        }
        out.extend(b"}}");
    }
}

impl Operand {
    /// Writes the operand as errors show it.
    pub fn write(&self, source: &Source, out: &mut Vec<u8>) {
        match self {
            Self::Bool { truth, .. } => out.extend(truth.to_string().bytes()),
            Self::Dot { .. } => out.push(b'.'),
            Self::Nil { .. } => out.extend(b"nil"),
            Self::Number(number) => out.extend(source.part(&number.literal)),
            Self::String { literal, .. } => out.extend(source.part(literal)),
            Self::Field { names, .. } => write_fields(names, out),
            Self::Variable { names, .. } => out.extend(names.join(".").bytes()),
            Self::Function { callee, .. } => out.extend(callee.name().bytes()),
            Self::Chain(chain) => {
                chain.operand.write_enclosed(source, out);
                write_fields(&chain.names, out);
            }
            Self::Pipe(pipe) => pipe.write(source, out),
        }
    }

    fn write_enclosed(&self, source: &Source, out: &mut Vec<u8>) {
        if matches!(self, Self::Pipe(_)) {
            out.push(b'(');
            self.write(source, out);
            out.push(b')');
        } else {
            self.write(source, out);
        }
    }
}

fn write_fields(names: &[std::sync::Arc<str>], out: &mut Vec<u8>) {
    for name in names {
        out.push(b'.');
        out.extend(name.bytes());
    }
}

fn separate(out: &mut Vec<u8>, index: usize, separator: &[u8]) {
    if index > 0 {
        out.extend(separator);
    }
}
