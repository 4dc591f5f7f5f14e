//! Pipelines, commands and variables.

use std::sync::Arc;

use super::error::At;
use super::{Executor, Fallible};
use crate::parse::{Command, Number, Operand, Pipe};
use crate::value::{Slot, Value};

impl<'s> Executor<'s, '_> {
    /// The value of a pipeline, whose variables are set.
    pub fn pipeline(&mut self, dot: &Slot, pipe: &'s Pipe) -> Fallible<Slot> {
        self.at = At::Pipe(pipe);
        let mut last = None;
        for command in &pipe.commands {
            last = Some(self.command(dot, command, last)?.unboxed());
        }
        let value = last.unwrap_or_default();
        for variable in &pipe.variables {
            if pipe.is_assignment {
                self.assign(variable, value.clone())?;
            } else {
                self.variables.push((Arc::clone(variable), value.clone()));
            }
        }
        Ok(value)
    }

    /// The value of a command; `last` is that of the command before.
    fn command(&mut self, dot: &Slot, command: &'s Command, last: Option<Slot>) -> Fallible<Slot> {
        self.spend(1)?;
        let Some((first, arguments)) = command.operands.split_first() else {
            return Ok(Slot::INVALID);
        };
        match first {
            Operand::Field { .. } | Operand::Chain(_) | Operand::Variable { .. } => {
                return self.fields(dot, first, arguments, last);
            }
            Operand::Function { callee, .. } => {
                self.at = At::Operand(first);
                return self.function(dot, callee, At::Command(command), arguments, last);
            }
            Operand::Pipe(pipe) => {
                self.check_no_arguments(first, arguments, last.as_ref())?;
                self.enter()?;
                let value = self.pipeline(dot, pipe)?;
                self.session.budget.leave();
                return Ok(value);
            }
            _ => {}
        }
        self.at = At::Operand(first);
        self.check_no_arguments(first, arguments, last.as_ref())?;
        match first {
            Operand::Dot { .. } => Ok(dot.clone()),
            Operand::Nil { .. } => self.fail("nil is not a command"),
            _ => self.literal(first),
        }
    }

    pub fn check_no_arguments(
        &self,
        operand: &Operand,
        arguments: &[Operand],
        last: Option<&Slot>,
    ) -> Fallible<()> {
        if arguments.is_empty() && last.is_none() {
            return Ok(());
        }
        let operand = self.source_of(operand);
        self.fail(format!("can't give argument to non-function {operand}"))
    }

    /// An operand as errors show it.
    pub fn source_of(&self, operand: &Operand) -> String {
        let mut out = Vec::new();
        operand.write(&self.tree.source, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A literal where any type will do.
    pub fn literal(&mut self, operand: &'s Operand) -> Fallible<Slot> {
        match operand {
            Operand::Bool { truth, .. } => Ok(Value::Bool(*truth).into()),
            Operand::String { value, .. } => Ok(Value::String(value.clone()).into()),
            Operand::Number(number) => self.number(operand, number),
            _ => Ok(Slot::INVALID),
        }
    }

    fn number(&mut self, operand: &'s Operand, number: &Number) -> Fallible<Slot> {
        self.at = At::Operand(operand);
        match (number.float, number.int) {
            (Some(float), _) if number.is_float => Ok(Value::Float(float).into()),
            (_, Some(int)) => Ok(Value::int(int).into()),
            _ => self.fail(format!("{} overflows int", self.source_of(operand))),
        }
    }

    /// Changes the variable of this name that was declared last.
    pub fn assign(&mut self, name: &str, value: Slot) -> Fallible<()> {
        let variables = self.variables.get_mut(self.base..).unwrap_or_default();
        match variables
            .iter_mut()
            .rev()
            .find(|(known, _)| **known == *name)
        {
            Some((_, slot)) => {
                *slot = value;
                Ok(())
            }
            None => self.fail(format!("undefined variable: {name}")),
        }
    }

    /// Changes the variable that was declared last, or the one before it.
    pub fn set_from_top(&mut self, position: usize, value: Slot) {
        let index = self.variables.len().wrapping_sub(position);
        if let Some((_, slot)) = self.variables.get_mut(index) {
            *slot = value;
        }
    }

    pub fn variable(&self, name: &str) -> Fallible<Slot> {
        let variables = self.variables.get(self.base..).unwrap_or_default();
        match variables.iter().rev().find(|(known, _)| **known == *name) {
            Some((_, slot)) => Ok(slot.clone()),
            None => self.fail(format!("undefined variable: {name}")),
        }
    }
}
