//! A macro that takes whatever it is given: the rest is in `varargs` and `kwargs`.

use std::sync::Arc;

use minijinja::value::{Kwargs, Object, ObjectRepr, Tuple};
use minijinja::{Error, State, Value};

use super::dict::Dict;

/// Parameters that the macro has besides its own.
const REST: [&str; 2] = ["varargs", "kwargs"];

#[derive(Debug)]
pub struct Variadic {
    inner: Value,
    parameters: Vec<String>,
}

impl Variadic {
    pub fn wrap(inner: Value) -> Result<Value, Error> {
        let names = inner.get_attr("arguments")?;
        let parameters = names
            .try_iter()?
            .map(|name| name.to_string())
            .filter(|name| !REST.contains(&name.as_str()))
            .collect();
        Ok(Value::from_object(Self { inner, parameters }))
    }

    /// The arguments of the call, as the macro inside takes them.
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
        let mut known = vec![(REST[0].to_owned(), Value::from(Tuple::from(rest)))];
        let mut others = Vec::new();
        for name in by_name.args() {
            let value: Value = by_name.get(name)?;
            let is_known = name == "caller" || self.parameters.iter().any(|own| own == name);
            match is_known {
                true => known.push((name.to_owned(), value)),
                false => others.push((Value::from(name), value)),
            }
        }
        known.push((REST[1].to_owned(), Dict::make(others.into_iter())?));
        let mut sorted = own.to_vec();
        sorted.push(Value::from(Kwargs::from_iter(known)));
        Ok(sorted)
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
