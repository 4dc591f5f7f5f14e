//! Arguments: operands as values of a parameter's type.

use super::error::At;
use super::{Executor, Fallible};
use crate::parse::Operand;
use crate::value::{Slot, Type, Value};

impl<'s> Executor<'s, '_> {
    /// An operand, as a value of the type.
    pub fn argument(&mut self, dot: &Slot, wanted: Type, operand: &'s Operand) -> Fallible<Slot> {
        self.at = At::Operand(operand);
        match operand {
            Operand::Nil { .. } if wanted.can_be_nil() => Ok(Slot::zero(wanted)),
            Operand::Nil { .. } => self.fail(format!("cannot assign nil to {}", wanted.text())),
            Operand::Bool { .. } | Operand::Number(_) | Operand::String { .. } => {
                self.literal_argument(wanted, operand)
            }
            _ => {
                let value = self.operand(dot, operand)?;
                self.check_type(value, wanted)
            }
        }
    }

    /// An operand that is no literal, of whatever type it is.
    pub fn operand(&mut self, dot: &Slot, operand: &'s Operand) -> Fallible<Slot> {
        self.at = At::Operand(operand);
        match operand {
            Operand::Dot { .. } => Ok(dot.clone()),
            Operand::Pipe(pipe) => {
                self.enter()?;
                let value = self.pipeline(dot, pipe)?;
                self.session.budget.leave();
                Ok(value)
            }
            Operand::Function { callee, .. } => {
                self.function(dot, callee, At::Operand(operand), &[], None)
            }
            Operand::Nil { .. } => self.fail("indirection through explicit nil"),
            Operand::Field { .. } | Operand::Chain(_) | Operand::Variable { .. } => {
                self.fields(dot, operand, &[], None)
            }
            Operand::Bool { .. } | Operand::Number(_) | Operand::String { .. } => {
                self.literal(operand)
            }
        }
    }

    fn literal_argument(&mut self, wanted: Type, operand: &'s Operand) -> Fallible<Slot> {
        let expected = match (wanted, operand) {
            (Type::Any | Type::Reflected, _) => return self.literal(operand),
            (Type::Bool, Operand::Bool { truth, .. }) => return Ok(Value::Bool(*truth).into()),
            (Type::String, Operand::String { value, .. }) => {
                return Ok(Value::String(value.clone()).into());
            }
            (_, Operand::Number(number)) => {
                let value = match wanted {
                    Type::Int(kind) => number.int.map(|int| Value::Int(kind, int)),
                    Type::Uint(kind) => number.uint.map(|uint| Value::Uint(kind, uint)),
                    Type::Float => number.float.map(Value::Float),
                    _ => None,
                };
                if let Some(value) = value {
                    return Ok(value.into());
                }
                expectation(wanted)
            }
            _ => expectation(wanted),
        };
        let shown = self.source_of(operand);
        match expected {
            Some(expected) => self.fail(format!("expected {expected}; found {shown}")),
            None => {
                let wanted = wanted.text();
                self.fail(format!("can't handle {shown} for arg of type {wanted}"))
            }
        }
    }

    /// The value, if a parameter of the type takes it.
    pub fn check_type(&self, slot: Slot, wanted: Type) -> Fallible<Slot> {
        if slot.is_invalid() {
            if wanted.can_be_nil() {
                return Ok(Slot::zero(wanted));
            }
            return self.fail(format!("invalid value; expected {}", wanted.text()));
        }
        if matches!(wanted, Type::Any | Type::Reflected) {
            return Ok(slot);
        }
        if !slot.is_nil_interface() && slot.value.is_assignable_to(wanted) {
            return Ok(slot);
        }
        let got = match slot.is_nil_interface() {
            true => Type::Any.text(),
            false => slot.value.type_text(),
        };
        let wanted = wanted.text();
        self.fail(format!(
            "wrong type for value; expected {wanted}; got {got}"
        ))
    }
}

/// What Go says that it expects in the place of another literal.
fn expectation(wanted: Type) -> Option<&'static str> {
    Some(match wanted {
        Type::Bool => "bool",
        Type::String => "string",
        Type::Int(_) => "integer",
        Type::Uint(_) => "unsigned integer",
        Type::Float => "float",
        _ => return None,
    })
}
