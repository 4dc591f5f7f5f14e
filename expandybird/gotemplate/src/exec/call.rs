//! Calls of functions and methods.

use super::error::At;
use super::{Executor, Fallible};
use crate::builtins;
use crate::error::Failure;
use crate::function_table::{Builtin, Callee};
use crate::parse::Operand;
use crate::value::{BoundFunction, Call, Function, Slot, Type, Value};

/// What a function takes.
#[derive(Clone, Copy)]
struct Signature {
    name: &'static str,
    params: &'static [Type],
    rest: Option<Type>,
}

impl Signature {
    fn param(&self, index: usize) -> Type {
        let param = self.params.get(index).copied().or(self.rest);
        param.unwrap_or(Type::Any)
    }
}

impl<'s> Executor<'s, '_> {
    /// Calls a function; `last` is the value of the command before. A failure is placed at `at`.
    pub fn function(
        &mut self,
        dot: &Slot,
        callee: &'s Callee,
        at: At<'s>,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        match callee {
            Callee::Registered(function) => {
                self.method(dot, function, &Value::Nil, at, arguments, last)
            }
            Callee::Builtin(builtin) => self.builtin(dot, *builtin, at, arguments, last),
        }
    }

    /// Calls a function with a receiver.
    pub fn method(
        &mut self,
        dot: &Slot,
        function: &Function,
        receiver: &Value,
        at: At<'s>,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        let signature = Signature {
            name: function.name,
            params: function.params,
            rest: function.rest,
        };
        let slots = self.arguments(dot, signature, arguments, last)?;
        let values: Vec<Value> = slots.into_iter().map(|slot| slot.value).collect();
        match self.invoke(function, receiver, &values) {
            Ok(value) => Ok(value.into()),
            Err(failure) => {
                self.at = at;
                self.fail_in_call(function.name, failure)
            }
        }
    }

    fn invoke(
        &mut self,
        function: &Function,
        receiver: &Value,
        values: &[Value],
    ) -> Result<Value, Failure> {
        (function.body)(&mut Call::new(self, function, receiver, values))
    }

    fn builtin(
        &mut self,
        dot: &Slot,
        builtin: Builtin,
        at: At<'s>,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        let (params, rest) = builtins::signature(builtin);
        let name = builtin.name();
        let signature = Signature { name, params, rest };
        if matches!(builtin, Builtin::And | Builtin::Or) {
            self.check_count(signature, arguments, last.as_ref())?;
            return self.first_decisive(dot, builtin == Builtin::Or, arguments, last);
        }
        let slots = self.arguments(dot, signature, arguments, last)?;
        let result = match builtin {
            Builtin::Call => self.call_value(arguments, &slots),
            _ => builtins::call(builtin, self, &slots),
        };
        match result {
            Ok(slot) => Ok(slot),
            Err(failure) => {
                self.at = at;
                self.fail_in_call(name, failure)
            }
        }
    }

    /// `and` and `or`: the first argument that decides, or the last.
    fn first_decisive(
        &mut self,
        dot: &Slot,
        wanted: bool,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Slot> {
        let mut value = Slot::INVALID;
        for argument in arguments {
            value = self.argument(dot, Type::Reflected, argument)?;
            if value.value.is_true() == wanted {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    fn check_count(
        &self,
        signature: Signature,
        arguments: &[Operand],
        last: Option<&Slot>,
    ) -> Fallible<()> {
        let Signature { name, params, rest } = signature;
        let (wanted, given) = (params.len(), arguments.len());
        let count = given + usize::from(last.is_some());
        if rest.is_some() && count < wanted {
            return self.fail(format!(
                "wrong number of args for {name}: want at least {wanted} got {given}"
            ));
        }
        if rest.is_none() && count != wanted {
            return self.fail(format!(
                "wrong number of args for {name}: want {wanted} got {count}"
            ));
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        dot: &Slot,
        signature: Signature,
        arguments: &'s [Operand],
        last: Option<Slot>,
    ) -> Fallible<Vec<Slot>> {
        self.check_count(signature, arguments, last.as_ref())?;
        let mut slots = Vec::with_capacity(arguments.len() + 1);
        for (index, argument) in arguments.iter().enumerate() {
            slots.push(self.argument(dot, signature.param(index), argument)?);
        }
        if let Some(last) = last {
            slots.push(self.check_type(last, signature.param(arguments.len()))?);
        }
        Ok(slots)
    }

    /// `call`: the first argument is a function.
    fn call_value(&mut self, arguments: &[Operand], slots: &[Slot]) -> Result<Slot, Failure> {
        let Some((callee, slots)) = slots.split_first() else {
            return Ok(Slot::INVALID);
        };
        let name = match (arguments.first(), &callee.value) {
            (Some(operand), _) => self.source_of(operand),
            // What Go's `reflect.Value` prints as.
            (None, Value::String(text)) => text.to_str().into_owned(),
            (None, value) => format!("<{} Value>", value.type_text()),
        };
        let BoundFunction { function, receiver } = match &callee.value {
            Value::Function(function) => function,
            Value::Nil => return Err(Failure::new("call of nil")),
            value => {
                let type_text = value.type_text();
                return Err(Failure::new(format!(
                    "non-function {name} of type {type_text}"
                )));
            }
        };
        check_call_count(&name, function, slots.len())?;
        let values = slots.iter().enumerate().map(|(index, slot)| {
            let wanted = function.param(index).unwrap_or(Type::Any);
            prepared(&slot.value, wanted)
                .map_err(|message| Failure::new(format!("arg {index}: {message}")))
        });
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok(self.invoke(function, receiver, &values)?.into())
    }
}

fn check_call_count(name: &str, function: &Function, got: usize) -> Result<(), Failure> {
    let want = function.params.len();
    if function.rest.is_some() && got < want {
        let text = format!("wrong number of args for {name}: got {got} want at least {want}");
        return Err(Failure::new(text));
    }
    if function.rest.is_none() && got != want {
        return Err(Failure::new(format!(
            "wrong number of args for {name}: got {got} want {want}"
        )));
    }
    Ok(())
}

/// An argument of `call`, which converts between integer types.
fn prepared(value: &Value, wanted: Type) -> Result<Value, String> {
    let integer = |value: i128| match wanted {
        #[expect(clippy::cast_possible_truncation, reason = "Go truncates too")]
        Type::Int(kind) => Some(Value::Int(kind, value as i64)),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "Go truncates too"
        )]
        Type::Uint(kind) => Some(Value::Uint(kind, value as u64)),
        _ => None,
    };
    let converted = match value {
        Value::Nil if !wanted.can_be_nil() => {
            return Err(format!("value is nil; should be of type {}", wanted.text()));
        }
        Value::Nil => Some(wanted.zero()),
        _ if value.is_assignable_to(wanted) => Some(value.clone()),
        Value::Int(_, number) => integer((*number).into()),
        Value::Uint(_, number) => integer((*number).into()),
        _ => None,
    };
    converted.ok_or_else(|| {
        let (got, wanted) = (value.type_text(), wanted.text());
        format!("value has type {got}; should be {wanted}")
    })
}
