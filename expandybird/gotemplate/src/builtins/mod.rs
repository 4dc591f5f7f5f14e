//! The functions of Go's own `text/template`, but for `and`, `or` and `call`, which the execution does itself.

mod compare;
mod escape;
mod index;

use crate::error::Failure;
use crate::format;
use crate::function_table::Builtin;
use crate::value::{Runtime, Slot, Type, Value};

/// The parameters of a function, and the type of further arguments.
#[must_use]
pub fn signature(builtin: Builtin) -> (&'static [Type], Option<Type>) {
    use Builtin as B;
    const ONE: &[Type] = &[Type::Reflected];
    const TWO: &[Type] = &[Type::Reflected, Type::Reflected];
    match builtin {
        B::And | B::Or | B::Call | B::Eq | B::Index | B::Slice => (ONE, Some(Type::Reflected)),
        B::Ge | B::Gt | B::Le | B::Lt | B::Ne => (TWO, None),
        B::Len | B::Not => (ONE, None),
        B::Html | B::Js | B::Print | B::Println | B::Urlquery => (&[], Some(Type::Any)),
        B::Printf => (&[Type::String], Some(Type::Any)),
    }
}

/// Calls a function. The arguments are checked against its signature already.
///
/// # Errors
/// Go's text.
pub fn call(
    builtin: Builtin,
    runtime: &mut dyn Runtime,
    arguments: &[Slot],
) -> Result<Slot, Failure> {
    use Builtin as B;
    let (first, rest) = match arguments.split_first() {
        Some((first, rest)) => (first, rest),
        None => (&Slot::INVALID, arguments),
    };
    let second = rest.first().unwrap_or(&Slot::INVALID);
    let truth = match builtin {
        B::Index => return index::index(first, rest),
        B::Slice => return index::slice(first, rest),
        B::Len => return index::len(first),
        B::Html | B::Js | B::Print | B::Printf | B::Println | B::Urlquery => {
            return text(builtin, runtime, arguments);
        }
        B::Not => !first.value.is_true(),
        B::Eq => compare::eq(first, rest)?,
        B::Ne => !compare::eq(first, std::slice::from_ref(second))?,
        B::Lt => compare::lt(first, second)?,
        B::Le => compare::le(first, second)?,
        B::Gt => !compare::le(first, second)?,
        B::Ge => !compare::lt(first, second)?,
        B::And | B::Or | B::Call => return Err(Failure::new("internal error: not called here")),
    };
    Ok(Slot::new(Value::Bool(truth)))
}

fn text(builtin: Builtin, runtime: &mut dyn Runtime, arguments: &[Slot]) -> Result<Slot, Failure> {
    let values: Vec<Value> = arguments.iter().map(|slot| slot.value.clone()).collect();
    let budget = runtime.budget();
    let limit = budget.limits().string_bytes;
    let mut out = Vec::new();
    match builtin {
        Builtin::Print => format::print(&mut out, limit, &values)?,
        Builtin::Println => format::println(&mut out, limit, &values)?,
        Builtin::Printf => match values.split_first() {
            Some((Value::String(text), values)) => {
                format::printf(&mut out, limit, text, values)?;
            }
            _ => return Err(Failure::new("internal error: printf without a format")),
        },
        _ => {
            escape::print(&mut out, limit, values)?;
            out = escape::escape(builtin, &out);
        }
    }
    budget.spend_string(out.len())?;
    Ok(Slot::new(Value::string(out)))
}
