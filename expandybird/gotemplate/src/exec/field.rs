//! Fields, entries and methods: `.a.b`, `$v.a`, `(pipeline).a`.

use std::sync::Arc;

use super::error::At;
use super::{Executor, Fallible};
use crate::parse::Operand;
use crate::set::MissingKey;
use crate::text;
use crate::value::{Function, Map, Slot, Type, Value};

impl<'s> Executor<'s, '_> {
    /// The value of an operand with fields. Arguments go to the last of them, which must be a method then.
    pub fn fields(
        &mut self,
        dot: &Slot,
        operand: &'s Operand,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        self.at = At::Operand(operand);
        match operand {
            Operand::Field { names, .. } => {
                self.field_chain(dot, dot.clone(), operand, names, arguments, last)
            }
            Operand::Variable { names, .. } => {
                let Some((variable, names)) = names.split_first() else {
                    return Ok(Slot::INVALID);
                };
                let value = self.variable(variable)?;
                if names.is_empty() {
                    self.check_no_arguments(operand, arguments, last.as_ref())?;
                    return Ok(value);
                }
                self.field_chain(dot, value, operand, names, arguments, last)
            }
            Operand::Chain(chain) => {
                let value = self.operand(dot, &chain.operand)?;
                self.field_chain(dot, value, operand, &chain.names, arguments, last)
            }
            _ => Ok(Slot::INVALID),
        }
    }

    fn field_chain(
        &mut self,
        dot: &Slot,
        mut receiver: Slot,
        operand: &'s Operand,
        names: &'s [Arc<str>],
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        let Some((name, before)) = names.split_last() else {
            return Ok(receiver);
        };
        for name in before {
            receiver = self.field(dot, &receiver, operand, name, &[], None)?;
        }
        self.field(dot, &receiver, operand, name, arguments, last)
    }

    fn field(
        &mut self,
        dot: &Slot,
        receiver: &Slot,
        operand: &'s Operand,
        name: &str,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        if receiver.is_invalid() {
            return self.field_of_nothing(name);
        }
        if receiver.is_nil_interface() {
            let type_text = Type::Any.text();
            return self.fail(format!("nil pointer evaluating {type_text}.{name}"));
        }
        if let Some(method) = method(&receiver.value, name) {
            let at = At::Operand(operand);
            return self.method(dot, &method, &receiver.value, at, arguments, last);
        }
        let has_arguments = !arguments.is_empty() || last.is_some();
        match &receiver.value {
            Value::Map(_) if has_arguments => {
                self.fail(format!("{name} is not a method but has arguments"))
            }
            Value::Map(map) => self.entry(map, name),
            Value::Object(object) => match object.field(name) {
                Some(_) if has_arguments => self.fail(format!(
                    "{name} has arguments but cannot be invoked as function"
                )),
                Some(Value::Nil) => Ok(Slot::NIL_INTERFACE),
                Some(value) => Ok(value.into()),
                None => self.no_field(receiver, name),
            },
            _ => self.no_field(receiver, name),
        }
    }

    fn no_field(&self, receiver: &Slot, name: &str) -> Fallible<Slot> {
        let type_text = receiver.type_text();
        self.fail(format!("can't evaluate field {name} in type {type_text}"))
    }

    fn field_of_nothing(&self, name: &str) -> Fallible<Slot> {
        if self.scope.missing_key() == MissingKey::Error {
            let name = text::quoted(name);
            return self.fail(format!("nil data; no entry for key {name}"));
        }
        Ok(Slot::INVALID)
    }

    fn entry(&self, map: &Map, name: &str) -> Fallible<Slot> {
        if let Some(value) = map.get(name.as_bytes()) {
            return Ok(Slot::element(value, map.element()));
        }
        match self.scope.missing_key() {
            MissingKey::NoValue => Ok(Slot::INVALID),
            MissingKey::Zero => Ok(Slot::zero(map.element())),
            MissingKey::Error => {
                let name = text::quoted(name);
                self.fail(format!("map has no entry for key {name}"))
            }
        }
    }
}

fn method(receiver: &Value, name: &str) -> Option<Function> {
    match receiver {
        Value::Map(map) => map.method(name),
        Value::List(list) => list.method(name),
        Value::Object(object) => {
            let mut methods = object.methods().iter();
            methods.find(|method| method.name == name).copied()
        }
        _ => None,
    }
}
