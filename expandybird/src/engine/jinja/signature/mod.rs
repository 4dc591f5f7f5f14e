//! Signatures in Python's notation, and the assignment of arguments to parameters: by position, by name, the rest.
//!
//! Every filter, test, function and method has one row in a table, so the rules of calls are written once.
//! `tests/differ` compares the rows with the signatures that the real Jinja2 and Python report.

pub(super) mod variadic;

use std::collections::HashMap;

use minijinja::value::{Kwargs, Rest};
use minijinja::{Error, ErrorKind, State, Value};

use super::values::python;

/// A row of a table: names, parameters, and the function.
pub type Row = (&'static str, &'static str, Body);
pub type Body = fn(Call<'_, '_, '_>) -> Result<Value, Error>;

/// The callable rows, by their names.
pub type Table = HashMap<&'static str, Function>;

/// The row of one name.
#[derive(Debug, Clone)]
pub struct Function {
    name: &'static str,
    parameters: Vec<Parameter>,
    body: Body,
}

#[derive(Debug, Clone, Copy)]
struct Parameter {
    name: &'static str,
    kind: Kind,
    is_required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Place,
    PlaceOrName,
    Name,
    /// `*args`.
    Rest,
    /// `**kwargs`.
    Names,
}

/// One call: its arguments in the order of the parameters.
pub struct Call<'c, 't, 'e> {
    pub state: &'c mut State<'t, 'e>,
    values: std::vec::IntoIter<Argument>,
    /// The arguments for `*args`.
    pub rest: Vec<Value>,
    /// The arguments for `**kwargs`.
    pub named: Vec<(String, Value)>,
}

/// An argument, if it was given.
#[derive(Debug, Clone, Default)]
pub struct Argument(pub Option<Value>);

/// The rows of a table, ready to be called.
pub fn table(rows: &[Row]) -> Table {
    let functions = rows.iter().map(|&(name, parameters, body)| {
        let function = Function {
            name,
            parameters: parsed(parameters),
            body,
        };
        (name, function)
    });
    functions.collect()
}

/// `value, /, *rest, key=None, **names` in pieces.
fn parsed(signature: &'static str) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    let mut by_name_only = false;
    for part in signature.split(", ") {
        let (name, default) = match part.split_once('=') {
            Some((name, default)) => (name, Some(default)),
            None => (part, None),
        };
        let kind = match part {
            "" => continue,
            "/" => {
                parameters
                    .iter_mut()
                    .for_each(|before| before.kind = Kind::Place);
                continue;
            }
            "*" => {
                by_name_only = true;
                continue;
            }
            _ if part.starts_with("**") => Kind::Names,
            _ if part.starts_with('*') => Kind::Rest,
            _ if by_name_only => Kind::Name,
            _ => Kind::PlaceOrName,
        };
        parameters.push(Parameter {
            name: name.trim_start_matches('*'),
            kind,
            is_required: default.is_none() && !matches!(kind, Kind::Rest | Kind::Names),
        });
    }
    parameters
}

impl Function {
    /// As a filter or a global function.
    pub fn into_callable(
        self,
    ) -> impl Fn(&mut State<'_, '_>, Rest<Value>, Kwargs) -> Result<Value, Error> {
        move |state, by_place, by_name| self.call(state, &by_place, &by_name)
    }

    /// As a test: returns whether the result is true.
    pub fn into_test(
        self,
    ) -> impl Fn(&mut State<'_, '_>, Rest<Value>, Kwargs) -> Result<bool, Error> {
        move |state, by_place, by_name| {
            let result = self.call(state, &by_place, &by_name)?;
            Ok(result.is_true())
        }
    }

    pub fn call(
        &self,
        state: &mut State<'_, '_>,
        by_place: &[Value],
        by_name: &Kwargs,
    ) -> Result<Value, Error> {
        let mut values = Vec::with_capacity(self.parameters.len());
        let mut places = by_place.iter().cloned();
        let mut rest = Vec::new();
        let mut used = Vec::new();
        for parameter in &self.parameters {
            match parameter.kind {
                Kind::Rest => rest.extend(places.by_ref()),
                Kind::Names => {}
                kind => {
                    let place = if kind == Kind::Name {
                        None
                    } else {
                        places.next()
                    };
                    let named = self.named(parameter, by_name)?;
                    if named.is_some() {
                        used.push(parameter.name);
                    }
                    values.push(self.argument(parameter, place, named)?);
                }
            }
        }
        if places.next().is_some() {
            let most = values.len().saturating_sub(1);
            let message = format!(
                "{} takes at most {most} arguments here; remove the others",
                self.name
            );
            return Err(Error::new(ErrorKind::TooManyArguments, message));
        }
        let named = self.others(by_name, &used)?;
        (self.body)(Call {
            state,
            values: values.into_iter(),
            rest,
            named,
        })
    }

    fn named(&self, parameter: &Parameter, by_name: &Kwargs) -> Result<Option<Value>, Error> {
        let can_be_named = parameter.kind != Kind::Place && by_name.has(parameter.name);
        can_be_named
            .then(|| by_name.get(parameter.name))
            .transpose()
    }

    fn argument(
        &self,
        parameter: &Parameter,
        place: Option<Value>,
        named: Option<Value>,
    ) -> Result<Argument, Error> {
        let (function, name) = (self.name, parameter.name);
        match (place, named) {
            (Some(_), Some(_)) => Err(Error::new(
                ErrorKind::TooManyArguments,
                format!("{function} has two values for '{name}'; remove one"),
            )),
            (None, None) if parameter.is_required => Err(Error::new(
                ErrorKind::MissingArgument,
                format!("{function} needs the argument '{name}'"),
            )),
            (place, named) => Ok(Argument(place.or(named))),
        }
    }

    /// Named arguments that are not parameters.
    fn others(&self, by_name: &Kwargs, used: &[&str]) -> Result<Vec<(String, Value)>, Error> {
        let takes_any = self
            .parameters
            .iter()
            .any(|parameter| parameter.kind == Kind::Names);
        let names = by_name.args().filter(|name| !used.contains(name));
        let others = names.map(|name| match takes_any {
            true => Ok((name.to_owned(), by_name.get(name)?)),
            false => Err(self.unknown(name)),
        });
        others.collect()
    }

    fn unknown(&self, name: &str) -> Error {
        let parameters = self
            .parameters
            .iter()
            .filter(|parameter| matches!(parameter.kind, Kind::PlaceOrName | Kind::Name));
        let names: Vec<&str> = parameters.skip(1).map(|parameter| parameter.name).collect();
        let known = match names.is_empty() {
            true => "it takes none by name".to_owned(),
            false => format!("it takes {}", names.join(", ")),
        };
        Error::new(
            ErrorKind::TooManyArguments,
            format!("{} has no argument '{name}'; {known}", self.name),
        )
    }
}

impl Call<'_, '_, '_> {
    /// The arguments of the parameters, in their order.
    pub fn arguments<const N: usize>(&mut self) -> [Argument; N] {
        std::array::from_fn(|_| self.values.next().unwrap_or_default())
    }

    /// The first argument: the value that a filter or a method is applied to.
    pub fn subject(&mut self) -> Value {
        self.values.next().unwrap_or_default().value()
    }
}

impl Argument {
    pub fn value(self) -> Value {
        self.0.unwrap_or_default()
    }

    pub fn or(self, default: impl Into<Value>) -> Value {
        self.0.unwrap_or_else(|| default.into())
    }

    /// The argument, unless it is missing or none.
    pub fn some(self) -> Option<Value> {
        self.0.filter(|value| !value.is_none())
    }

    pub fn flag(self, default: bool) -> bool {
        self.0.map_or(default, |value| value.is_true())
    }

    /// An integer as a boolean. Other types are errors. False if it is missing.
    pub fn switch(self) -> Result<bool, Error> {
        Ok(self.integer()?.unwrap_or(0) != 0)
    }

    /// An integer. `None` if it is missing.
    pub fn integer(self) -> Result<Option<i64>, Error> {
        self.0.map(|value| python::integer(&value)).transpose()
    }

    /// A text. Other types are errors. `None` if it is missing.
    pub fn text(self) -> Result<Option<String>, Error> {
        self.0
            .map(|value| python::text(&value).map(str::to_owned))
            .transpose()
    }
}
