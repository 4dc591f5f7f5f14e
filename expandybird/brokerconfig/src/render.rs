//! A template with its dynamic attributes replaced.

use common::node::escaped;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, GoString, Value as GoValue};
use expandybird_gotemplate::{Session, Set, execute};
use serde_json::{Map, Value};

/// Whether a text is computed when it is used.
pub fn is_dynamic(text: &str) -> bool {
    text.starts_with("{{")
}

/// What runs attributes.
pub trait Runner {
    /// The output of the attribute of this name.
    fn run(&mut self, name: &str, dot: &GoValue) -> Result<GoString, Failure>;
}

/// A run from outside of all templates.
pub struct Top<'s> {
    pub set: &'s Set,
    pub session: &'s mut Session,
}

impl Runner for Top<'_> {
    fn run(&mut self, name: &str, dot: &GoValue) -> Result<GoString, Failure> {
        let output = execute(self.set, self.session, name, dot);
        output.map(GoString::from).map_err(Failure::from)
    }
}

impl Runner for Call<'_> {
    fn run(&mut self, name: &str, dot: &GoValue) -> Result<GoString, Failure> {
        self.runtime().execute(name, dot)
    }
}

/// The value that stands at this place of the document, with its attributes replaced. Entries of maps that become null
/// are removed. Entries are computed in the order of the document.
pub fn rendered(
    value: &Value,
    pointer: &str,
    dot: &GoValue,
    runner: &mut dyn Runner,
) -> Result<Value, Failure> {
    Ok(match value {
        Value::String(text) if is_dynamic(text) => json_of(&runner.run(pointer, dot)?)?,
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items = items
                .map(|(index, item)| rendered(item, &format!("{pointer}/{index}"), dot, runner));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let place = format!("{pointer}/{}", escaped(key));
                let value = rendered(value, &place, dot, runner)?;
                if !value.is_null() {
                    map.insert(key.clone(), value);
                }
            }
            Value::Object(map)
        }
        other => other.clone(),
    })
}

/// Nothing at all is null: an `if` without `else` printed it.
fn json_of(output: &[u8]) -> Result<Value, Failure> {
    if output.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(output).map_err(|error| {
        Failure::new(format!(
            "the attribute is not one JSON value ({error}); exactly one action prints"
        ))
    })
}
