//! Values that templates make up: each is made once, and taken from the request in every later expansion.
//!
//! The port is the same for all languages. An engine asks for the value of a name, and returns all that it used.

use std::collections::HashMap;

use common::model::GeneratedValue;
use expandybird_templateobject::Seeded;
use serde_json::Value;

/// Values of one template instance: those that were made before, and the source of others.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    all: &'a [GeneratedValue],
    /// The names of the instance and of those around it.
    instance: &'a [String],
    seed: &'a str,
}

/// A value that an instance used, whether it was made now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedValue {
    pub name: String,
    pub value: Value,
    /// Whether answers hide it.
    pub secret: bool,
}

impl<'a> Values<'a> {
    /// No value was made before, and the seed is empty.
    pub const NONE: Values<'static> = Values {
        all: &[],
        instance: &[],
        seed: "",
    };

    pub fn new(all: &'a [GeneratedValue], instance: &'a [String], seed: &'a str) -> Self {
        Self {
            all,
            instance,
            seed,
        }
    }

    /// The values that were made before, by their names.
    pub fn kept(&self) -> HashMap<&'a str, &'a Value> {
        let own = self.all.iter().filter(|one| self.is_own(one));
        own.map(|one| (one.name.as_str(), &one.value)).collect()
    }

    /// Random bytes for this instance: the same ones for the same request. Texts that were kept come with them.
    pub fn seeded(&self) -> Seeded {
        let kept = self.kept().into_iter();
        let texts =
            kept.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
        let scope = Value::from(self.instance);
        Seeded::new(self.seed.as_bytes(), &scope.to_string(), texts.collect())
    }

    fn is_own(&self, value: &GeneratedValue) -> bool {
        let names = value.instance.iter().map(|name| name.as_str());
        names.eq(self.instance.iter().map(String::as_str))
    }
}
