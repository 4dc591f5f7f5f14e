//! Functions: what they are, and what they may ask of the run that calls them.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::{GoString, List, Map, Object, Type, Value};
use crate::budget::Budget;
use crate::error::Failure;

/// The Rust side of a function.
pub type Body = fn(&mut Call<'_>) -> Result<Value, Failure>;

/// A function that templates call by its name.
///
/// The arguments are checked against `params` and `rest` before `body` runs, with Go's error texts, so the accessors of
/// [`Call`] can take their types for granted. An untyped nil becomes the nil of its parameter's type.
///
/// ```
/// use expandybird_gotemplate::value::{Function, Type, Value};
///
/// /// `repeat N S`
/// const REPEAT: Function = Function::new("repeat", &[Type::INT, Type::String], |call| {
///     let count = usize::try_from(call.int(0)?).unwrap_or(0);
///     let text = call.string(1)?.clone();
///     call.budget().spend_string(text.len().saturating_mul(count))?;
///     Ok(Value::string(text.repeat(count)))
/// });
/// ```
#[derive(Clone, Copy)]
pub struct Function {
    /// The name in templates and in error texts.
    pub name: &'static str,
    /// The types of the fixed parameters.
    pub params: &'static [Type],
    /// The type of each further argument, if it takes any number of them.
    pub rest: Option<Type>,
    /// What it does.
    pub body: Body,
}

impl Function {
    /// A function with a fixed number of parameters.
    #[must_use]
    pub const fn new(name: &'static str, params: &'static [Type], body: Body) -> Self {
        Self {
            name,
            params,
            rest: None,
            body,
        }
    }

    /// A function that takes further arguments of one type.
    #[must_use]
    pub const fn variadic(
        name: &'static str,
        params: &'static [Type],
        rest: Type,
        body: Body,
    ) -> Self {
        Self {
            name,
            params,
            rest: Some(rest),
            body,
        }
    }

    /// The type of the argument at this index, counted from 0.
    #[must_use]
    pub fn param(&self, index: usize) -> Option<Type> {
        self.params.get(index).copied().or(self.rest)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "func {}", self.name)
    }
}

/// A function as a value: a field that holds one, for `call`.
#[derive(Clone, Debug)]
pub struct BoundFunction {
    /// The function.
    pub function: Function,
    /// What its body finds in [`Call::receiver`].
    pub receiver: Rc<Value>,
}

impl BoundFunction {
    /// The type, as Go prints it, without the results.
    #[must_use]
    pub fn type_text(&self) -> String {
        let mut params: Vec<_> = self
            .function
            .params
            .iter()
            .map(|param| param.text())
            .collect();
        params.extend(self.function.rest.map(|rest| format!("...{}", rest.text())));
        format!("func({})", params.join(", "))
    }
}

/// What a run offers to the functions that it calls.
pub trait Runtime {
    /// What the run may still use.
    fn budget(&mut self) -> &mut Budget;

    /// What the caller of the run gave for its own functions.
    fn hosts(&mut self) -> &mut [Box<dyn Any>];

    /// The names of the templates that run, outermost first.
    fn running(&self) -> &[Arc<str>];

    /// Empties this map when the run is over: it may contain itself.
    fn clear_at_end(&mut self, map: &Map);

    /// Runs a template of the set, and returns its output.
    ///
    /// # Errors
    /// There is no such template, or it fails.
    fn execute(&mut self, name: &str, data: &Value) -> Result<GoString, Failure>;

    /// Parses `source` as a template of this name into a copy of the set, runs it there, and returns its output.
    ///
    /// # Errors
    /// [`ExecuteSourceError::Parse`] or [`ExecuteSourceError::Execute`].
    fn execute_source(
        &mut self,
        name: &str,
        source: &[u8],
        data: &Value,
    ) -> Result<GoString, ExecuteSourceError>;
}

/// Why [`Runtime::execute_source`] failed.
#[derive(Debug)]
pub enum ExecuteSourceError {
    /// The source cannot be parsed.
    Parse(crate::error::ParseError),
    /// The template failed, or met a limit.
    Execute(Failure),
}

/// One call of a function.
pub struct Call<'a> {
    runtime: &'a mut dyn Runtime,
    function: &'a Function,
    receiver: &'a Value,
    arguments: &'a [Value],
}

impl<'a> Call<'a> {
    /// A call whose arguments are checked already.
    pub fn new(
        runtime: &'a mut dyn Runtime,
        function: &'a Function,
        receiver: &'a Value,
        arguments: &'a [Value],
    ) -> Self {
        Self {
            runtime,
            function,
            receiver,
            arguments,
        }
    }

    /// All arguments.
    #[must_use]
    pub fn arguments(&self) -> &'a [Value] {
        self.arguments
    }

    /// The arguments after the fixed parameters.
    #[must_use]
    pub fn rest(&self) -> &'a [Value] {
        self.arguments
            .get(self.function.params.len()..)
            .unwrap_or_default()
    }

    /// What a method was called on; nil in a function.
    #[must_use]
    pub fn receiver(&self) -> &'a Value {
        self.receiver
    }

    /// The argument at this index, counted from 0.
    ///
    /// # Errors
    /// There is none: the function is declared with fewer parameters.
    pub fn argument(&self, index: usize) -> Result<&'a Value, Failure> {
        self.arguments
            .get(index)
            .ok_or_else(|| self.misdeclared(index))
    }

    /// The name of the function.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.function.name
    }

    /// A `string` argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn string(&self, index: usize) -> Result<&'a GoString, Failure> {
        match self.argument(index)? {
            Value::String(text) => Ok(text),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// A signed integer argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn int(&self, index: usize) -> Result<i64, Failure> {
        match self.argument(index)? {
            Value::Int(_, number) => Ok(*number),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// A `float64` argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn float(&self, index: usize) -> Result<f64, Failure> {
        match self.argument(index)? {
            Value::Float(number) => Ok(*number),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// A `bool` argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn bool(&self, index: usize) -> Result<bool, Failure> {
        match self.argument(index)? {
            Value::Bool(truth) => Ok(*truth),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// A map argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn map(&self, index: usize) -> Result<&'a Map, Failure> {
        match self.argument(index)? {
            Value::Map(map) => Ok(map),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// A slice argument.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn list(&self, index: usize) -> Result<&'a List, Failure> {
        match self.argument(index)? {
            Value::List(list) => Ok(list),
            _ => Err(self.misdeclared(index)),
        }
    }

    /// An argument of a type with a name of its own.
    ///
    /// # Errors
    /// The parameter is declared with another type.
    pub fn object<T: Object + 'static>(&self, index: usize) -> Result<&'a T, Failure> {
        match self.argument(index)? {
            Value::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
        .ok_or_else(|| self.misdeclared(index))
    }

    fn misdeclared(&self, index: usize) -> Failure {
        let name = self.function.name;
        Failure::new(format!(
            "{name} does not declare argument {index} as it reads it"
        ))
    }

    /// What the run may still use: spend from it before work whose length the template decides.
    pub fn budget(&mut self) -> &mut Budget {
        self.runtime.budget()
    }

    /// What the caller of the run gave for its own functions; `None` if no `T` is among it.
    pub fn host<T: Any>(&mut self) -> Option<&mut T> {
        let mut hosts = self.runtime.hosts().iter_mut();
        hosts.find_map(|host| host.downcast_mut())
    }

    /// The run itself: templates of the set.
    pub fn runtime(&mut self) -> &mut dyn Runtime {
        self.runtime
    }

    /// Puts an entry into a map that the template may hold elsewhere.
    ///
    /// # Errors
    /// The map is nil.
    pub fn set(&mut self, map: &Map, key: &GoString, value: Value) -> Result<(), Failure> {
        if map.is_nil() {
            return Err(Failure::new("assignment to entry in nil map"));
        }
        if matches!(value, Value::List(_) | Value::Map(_)) {
            self.runtime.clear_at_end(map);
        }
        map.insert(key.clone(), value);
        Ok(())
    }
}
