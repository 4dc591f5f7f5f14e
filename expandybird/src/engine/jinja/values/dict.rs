//! A map that templates can change. Its keys stay in insertion order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use minijinja::value::{
    Enumerator, Object, ObjectRepr, Tuple, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Error, ErrorKind, Value};

use super::{python, repr};
use crate::engine::jinja::signature::Call;
use crate::engine::jinja::{filters, meter, values};

/// The type behind minijinja's own maps.
pub type Entries = IndexMap<Value, Value>;

/// Entries of one map.
const ENTRIES: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct Dict {
    entries: Mutex<Entries>,
    level: AtomicUsize,
}

impl Dict {
    /// From values whose size is already limited.
    pub fn unchecked(entries: Entries) -> Value {
        Value::from_object(Self {
            entries: Mutex::new(entries),
            level: AtomicUsize::new(0),
        })
    }

    pub fn make(entries: impl Iterator<Item = (Value, Value)>) -> Result<Value, Error> {
        let mut owned = Entries::new();
        for (key, value) in entries {
            insert(&mut owned, key, values::own(value)?)?;
        }
        values::raise_all(owned.values(), 1)?;
        Ok(Self::unchecked(owned))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn level(&self) -> usize {
        self.level.load(Ordering::Relaxed)
    }

    pub fn raise(&self, level: usize) -> Result<(), Error> {
        if self.level.fetch_max(level, Ordering::Relaxed) >= level {
            return Ok(());
        }
        let entries = self.entries();
        meter::charge(entries.len())?;
        values::raise_all(entries.values(), level + 1)
    }

    pub fn set(&self, key: Value, value: Value) -> Result<(), Error> {
        let value = values::admit(value, self.level(), || self.level())?;
        insert(&mut self.entries(), key, value)
    }

    pub fn get(&self, key: &Value) -> Option<Value> {
        found(&self.entries(), key).cloned()
    }

    /// The entries of another map or of pairs, and the keyword arguments.
    pub fn update(&self, other: Option<&Value>, named: Vec<(String, Value)>) -> Result<(), Error> {
        let pairs = match other.map(|other| (other, other.kind())) {
            None => Vec::new(),
            Some((other, ValueKind::Undefined)) => {
                return Err(python::undefined(other, "has no entries"));
            }
            Some((other, ValueKind::Map)) => python::pairs(other)?,
            Some((other, _)) => {
                let items = python::items(other)?.into_iter();
                items.map(filters::pair).collect::<Result<_, _>>()?
            }
        };
        let named = named
            .into_iter()
            .map(|(name, value)| (Value::from(name), value));
        pairs
            .into_iter()
            .chain(named)
            .try_for_each(|(key, value)| self.set(key, value))
    }

    pub fn remove(&self, key: &Value) -> Result<Option<Value>, Error> {
        check_key(key)?;
        let mut entries = self.entries();
        meter::charge(entries.len())?;
        let own = own_key(&entries, key);
        Ok(entries.shift_remove(&own))
    }

    /// The last entry.
    pub fn pop(&self) -> Option<(Value, Value)> {
        self.entries().pop()
    }

    pub fn clear(&self) -> Result<Value, Error> {
        let cleared = std::mem::take(&mut *self.entries());
        drop(cleared);
        Ok(Value::from(()))
    }
}

/// `dict(other, a=1)`, where the other one is a map or pairs.
pub fn construct(mut call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let named = std::mem::take(&mut call.named);
    let other = match call.rest.as_slice() {
        [] => None,
        [other] => Some(other),
        _ => {
            return Err(python::invalid(
                "dict takes at most 1 argument besides the named ones",
            ));
        }
    };
    let dict = Arc::new(Dict::default());
    dict.update(other, named)?;
    Ok(Value::from_dyn_object(dict))
}

/// `namespace(a=1)`, also from a map: an object that a loop can assign to.
pub fn namespace(call: Call<'_, '_, '_>) -> Result<Value, Error> {
    let defaults = construct(call)?;
    minijinja::functions::namespace(Some(from_args::<(ValueOrKwargs,)>(&[defaults])?.0))
}

fn insert(entries: &mut Entries, key: Value, value: Value) -> Result<(), Error> {
    if entries.len() >= ENTRIES {
        return Err(Error::new(
            ErrorKind::WriteFailure,
            format!("a map of more than {ENTRIES} entries"),
        ));
    }
    check_key(&key)?;
    meter::charge(2 * size_of::<Value>())?;
    let key = own_key(entries, &key);
    entries.insert(key, value);
    Ok(())
}

/// Lists and maps cannot be keys, and neither can tuples that contain one.
pub fn check_key(key: &Value) -> Result<(), Error> {
    meter::look()?;
    if let Some(tuple) = key.downcast_object_ref::<Tuple>() {
        return tuple.iter().try_for_each(check_key);
    }
    if let Some(group) = key.downcast_object_ref::<filters::Group>() {
        return group.parts().into_iter().try_for_each(check_key);
    }
    match key.kind() {
        ValueKind::Map | ValueKind::Seq if repr::is_dict(key) || python::is_mutable_list(key) => {
            Err(python::invalid(format!(
                "unhashable type: '{}'",
                repr::type_name(key)
            )))
        }
        _ => Ok(()),
    }
}

/// A key for comparisons: a boolean equals its integer.
pub fn hashed(key: Value) -> Value {
    match key.kind() {
        ValueKind::Bool => Value::from(i64::from(key.is_true())),
        _ => key,
    }
}

/// The existing key that equals this one, otherwise this one.
fn own_key(entries: &Entries, key: &Value) -> Value {
    // A map with one entry compares without hashes, so it may have an equal key of another type.
    if let Some((own, _)) = entries.get_key_value(key) {
        return own.clone();
    }
    let equal = [Value::from(false), Value::from(true)];
    let equal = equal.into_iter().find(|flag| hashed(flag.clone()) == *key);
    let other = match key.kind() {
        ValueKind::Bool => Some(hashed(key.clone())),
        ValueKind::Number => equal,
        _ => None,
    };
    other
        .filter(|other| entries.contains_key(other))
        .unwrap_or_else(|| key.clone())
}

fn found<'e>(entries: &'e Entries, key: &Value) -> Option<&'e Value> {
    match key.kind() {
        ValueKind::Bool | ValueKind::Number => entries.get(&own_key(entries, key)),
        _ => entries.get(key),
    }
}

impl Object for Dict {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        // Before the lock: the key may be this map.
        check_key(key).ok()?;
        found(&self.entries(), key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys: Vec<Value> = self.entries().keys().cloned().collect();
        Enumerator::Values(keys)
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries().len())
    }
}
