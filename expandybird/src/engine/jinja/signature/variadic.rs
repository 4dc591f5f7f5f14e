//! A macro that takes any arguments, or has defaults: the rest is in `varargs` and `kwargs`, and the names of the
//! parameters that were not given in `__missing__`. An undefined argument is a given one.

use std::sync::Arc;

use minijinja::value::{Kwargs, Object, ObjectRepr, Tuple};
use minijinja::{Error, State, Value};

use crate::engine::jinja::values::dict::Dict;
use crate::engine::jinja::values::python;

/// The parameter for further positional arguments.
const REST: &str = "varargs";
/// The parameter for named arguments that are not the macro's own parameters.
const NAMES: &str = "kwargs";
/// The argument of a `call` block, and what says whether a macro takes it.
const CALLER: &str = "caller";
/// The parameter for the names of missing arguments.
pub const MISSING: &str = "__missing__";

#[derive(Debug)]
pub struct Variadic {
    inner: Value,
    parameters: Vec<String>,
    takes_rest: bool,
    takes_names: bool,
    takes_missing: bool,
    takes_caller: bool,
}

impl Variadic {
    pub fn wrap(inner: Value) -> Result<Value, Error> {
        let names = inner.get_attr("arguments")?;
        let mut parameters: Vec<String> = names.try_iter()?.map(|name| name.to_string()).collect();
        let mut take = |name: &str| match parameters.last().is_some_and(|last| last == name) {
            true => parameters.pop().is_some(),
            false => false,
        };
        let takes_missing = take(MISSING);
        let takes_names = take(NAMES);
        let takes_rest = take(REST);
        let takes_caller = inner.get_attr(CALLER)?.is_true();
        Ok(Value::from_object(Self {
            inner,
            parameters,
            takes_rest,
            takes_names,
            takes_missing,
            takes_caller,
        }))
    }

    /// The arguments of the call in the form for the inner macro.
    fn sorted(&self, args: &[Value]) -> Result<Vec<Value>, Error> {
        let (by_place, by_name) = match args.split_last() {
            Some((last, by_place)) if last.is_kwargs() => {
                (by_place, Kwargs::try_from(last.clone())?)
            }
            _ => (
                args,
                Kwargs::from_iter(std::iter::empty::<(String, Value)>()),
            ),
        };
        let (own, rest) = by_place.split_at(by_place.len().min(self.parameters.len()));
        let mut known = Vec::new();
        match (self.takes_rest, rest.len()) {
            (true, _) => known.push((REST.to_owned(), Value::from(Tuple::from(rest)))),
            (false, 0) => {}
            (false, _) => return Err(python::invalid(self.too_many())),
        }
        let open = &self.parameters[own.len()..];
        let others = self.named(open, &by_name, &mut known)?;
        if self.takes_names {
            known.push((NAMES.to_owned(), Dict::make(others.into_iter())?));
        }
        if self.takes_missing {
            let missing = open.iter().filter(|name| !by_name.has(name));
            let missing = missing.map(|name| Value::from(name.as_str())).collect();
            known.push((MISSING.to_owned(), Value::from(Tuple::new(missing))));
        }
        let mut sorted = own.to_vec();
        sorted.push(Value::from(Kwargs::from_iter(known)));
        Ok(sorted)
    }

    /// The named arguments: those of the macro's open parameters are added to `known`, the others are returned.
    fn named(
        &self,
        open: &[String],
        by_name: &Kwargs,
        known: &mut Vec<(String, Value)>,
    ) -> Result<Vec<(Value, Value)>, Error> {
        let mut others = Vec::new();
        for name in by_name.args() {
            let value: Value = by_name.get(name)?;
            let is_open = open.iter().any(|open| open == name);
            let is_known = is_open || name == CALLER && self.takes_caller;
            match (is_known, self.takes_names) {
                (true, _) => known.push((name.to_owned(), value)),
                (false, true) => others.push((Value::from(name), value)),
                (false, false) => {
                    let known = self.parameters.join(", ");
                    let message = format!("the macro has no argument '{name}'; it takes: {known}");
                    return Err(python::invalid(message));
                }
            }
        }
        Ok(others)
    }

    fn too_many(&self) -> String {
        let most = self.parameters.len();
        format!("the macro takes at most {most} arguments; remove the others")
    }
}

impl Object for Variadic {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "arguments" => Some(self.parameters.iter().map(String::as_str).collect()),
            _ => self.inner.get_item(key).ok(),
        }
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let args = self.sorted(args)?;
        self.inner.call(state, &args)
    }
}
