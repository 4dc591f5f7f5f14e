//! Values that templates make up: each is made once, and taken from the request in every later expansion.
//!
//! The port is the same for all languages. An engine asks for the value of a name, and returns all that it used.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use common::model::GeneratedValue;
use expandybird_sprig::made;
use expandybird_templateobject::{Seeded, Values as _};
use jiff::Timestamp;
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
        self.all_kept()
            .map(|one| (one.name.as_str(), &one.value))
            .collect()
    }

    /// The same, with whether answers hide them.
    pub fn all_kept(&self) -> impl Iterator<Item = &'a GeneratedValue> {
        self.all.iter().filter(|one| self.is_own(one))
    }

    /// Random bytes for this instance: the same ones for the same request. Texts that were kept come with them.
    pub fn seeded(&self) -> Seeded {
        let scope = Value::from(self.instance);
        Seeded::new(self.seed.as_bytes(), &scope.to_string(), self.kept_texts())
    }

    fn kept_texts(&self) -> HashMap<String, String> {
        let kept = self.kept().into_iter();
        let texts = kept.map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
        texts.flatten().collect()
    }

    fn is_own(&self, value: &GeneratedValue) -> bool {
        let names = value.instance.iter().map(|name| name.as_str());
        names.eq(self.instance.iter().map(String::as_str))
    }
}

/// What a run of Go templates makes up. Clones share it.
#[derive(Clone, Default)]
pub struct MadeUp(Rc<RefCell<BTreeMap<String, UsedValue>>>);

impl MadeUp {
    /// The host of a run: `time` in seconds since 1970.
    pub fn host(&self, values: &Values<'_>, time: i64) -> made::Host {
        let source = Source {
            kept: values.kept_texts(),
            seeded: values.seeded(),
            time: Timestamp::from_second(time).unwrap_or_default(),
            used: self.clone(),
        };
        made::Host::new(Box::new(source))
    }

    /// All values that were used.
    pub fn into_used(self) -> Vec<UsedValue> {
        self.0.take().into_values().collect()
    }
}

/// The values of one instance, as Sprig's functions take them.
struct Source {
    kept: HashMap<String, String>,
    seeded: Seeded,
    time: Timestamp,
    used: MadeUp,
}

impl made::Values for Source {
    fn kept(&self, name: &str) -> Option<String> {
        self.kept.get(name).cloned()
    }

    fn random(&mut self, name: &str, bytes: &mut [u8]) {
        self.seeded.random(name, bytes);
    }

    fn time(&self) -> Timestamp {
        self.time
    }

    fn used(&mut self, name: &str, value: &str, secret: bool) {
        let used = UsedValue {
            name: name.to_owned(),
            value: Value::from(value),
            secret,
        };
        self.used.0.borrow_mut().insert(name.to_owned(), used);
    }
}
