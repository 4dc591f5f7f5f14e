//! `map`, `select`, `reject` and similar: another filter or test for every item.

use minijinja::value::Kwargs;
use minijinja::{Error, Value};

use crate::engine::jinja::signature::Call;
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::python;

/// A filter or an attribute of every item.
pub fn map(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let value = call.subject();
    if !value.is_true() {
        return List::make(std::iter::empty());
    }
    if let Some(attribute) = attribute(&mut call)? {
        return List::make(attribute.of_all(&value)?.into_iter());
    }
    let passed = Passed::take(&mut call, 0)?
        .ok_or_else(|| python::invalid("map needs the name of a filter, or attribute="))?;
    let mut mapped = Vec::new();
    for item in python::items(&value)? {
        mapped.push(
            call.state
                .apply_filter(&passed.name, &passed.arguments(item))?,
        );
    }
    List::make(mapped.into_iter())
}

struct Attribute {
    path: Vec<Value>,
    default: Option<Value>,
}

impl Attribute {
    fn of_all(&self, value: &Value) -> Result<Vec<Value>, Error> {
        let items = python::items(value)?.into_iter();
        items
            .map(|item| python::follow(&item, &self.path, self.default.as_ref()))
            .collect()
    }
}

/// `attribute=`, optionally with `default=`.
fn attribute(call: &mut Call<'_, '_, '_>) -> Result<Option<Attribute>, Error> {
    let is_attribute =
        call.rest.is_empty() && call.named.iter().any(|(name, _)| name == "attribute");
    if !is_attribute {
        return Ok(None);
    }
    let mut attribute = Attribute {
        path: Vec::new(),
        default: None,
    };
    for (name, value) in call.named.drain(..) {
        match name.as_str() {
            "attribute" => attribute.path = python::path(&value),
            "default" => attribute.default = Some(value).filter(|value| !value.is_none()),
            _ => {
                return Err(python::invalid(format!(
                    "map has no argument '{name}'; it takes attribute, default"
                )));
            }
        }
    }
    Ok(Some(attribute))
}

/// A filter or a test by its name, and its further arguments.
struct Passed {
    name: String,
    rest: Vec<Value>,
    named: Option<Value>,
}

impl Passed {
    /// From the argument at this index on. `None` if there is none.
    fn take(call: &mut Call<'_, '_, '_>, at: usize) -> Result<Option<Self>, Error> {
        let mut rest = std::mem::take(&mut call.rest).into_iter().skip(at);
        let Some(name) = rest.next() else {
            return Ok(None);
        };
        let named = std::mem::take(&mut call.named);
        Ok(Some(Self {
            name: python::text(&name)?.to_owned(),
            rest: rest.collect(),
            named: (!named.is_empty()).then(|| Value::from(Kwargs::from_iter(named))),
        }))
    }

    fn arguments(&self, item: Value) -> Vec<Value> {
        let rest = self.rest.iter().chain(&self.named).cloned();
        std::iter::once(item).chain(rest).collect()
    }
}

pub fn select(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    chosen(call, true, false)
}

pub fn reject(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    chosen(call, false, false)
}

pub fn selectattr(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    chosen(call, true, true)
}

pub fn rejectattr(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    chosen(call, false, true)
}

/// The items that pass a test, or whose attribute does. Without a test, the items that are true.
fn chosen(mut call: Call<'_, '_, '_>, wanted: bool, by_attribute: bool) -> Result<Value, Error> {
    let value = call.subject();
    if !value.is_true() {
        return List::make(std::iter::empty());
    }
    let path = match (by_attribute, call.rest.first()) {
        (false, _) => Vec::new(),
        (true, Some(attribute)) => python::path(attribute),
        (true, None) => return Err(python::invalid("the name of an attribute is missing")),
    };
    let passed = Passed::take(&mut call, usize::from(by_attribute))?;
    let mut kept = Vec::new();
    for item in python::items(&value)? {
        let tested = python::follow(&item, &path, None)?;
        let holds = match &passed {
            Some(passed) => call
                .state
                .perform_test(&passed.name, &passed.arguments(tested))?,
            None => tested.is_true(),
        };
        if holds == wanted {
            kept.push(item);
        }
    }
    List::make(kept.into_iter())
}
