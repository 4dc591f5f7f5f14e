//! A map that templates can change; its keys stay in the order in which they came.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use minijinja::value::{
    Enumerator, Kwargs, Object, ObjectRepr, Rest, Tuple, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Error, ErrorKind, State, Value};

use super::{meter, repr, values};

/// What minijinja's own maps are made of.
pub type Entries = IndexMap<Value, Value>;

/// Entries of one map.
const ENTRIES: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct Dict {
    entries: Mutex<Entries>,
    level: AtomicUsize,
}

impl Dict {
    /// Of values that are bounded already.
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

    /// `dict(other, a=1)`, where the other one is a map or pairs.
    pub fn construct(args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
        let dict = Arc::new(Self::default());
        let mut all = args.0;
        all.push(Value::from(named));
        dict.update(&all)?;
        Ok(Value::from_dyn_object(dict))
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

    fn set(&self, key: Value, value: Value) -> Result<(), Error> {
        let value = values::admit(value, self.level(), || self.level())?;
        insert(&mut self.entries(), key, value)
    }

    fn update(&self, args: &[Value]) -> Result<Value, Error> {
        let (other, named): (Option<&Value>, Kwargs) = from_args(args)?;
        if let Some(other) = other.filter(|other| !other.is_undefined()) {
            let is_map = other.kind() == ValueKind::Map;
            for item in values::items(other)? {
                let (key, value) = match is_map {
                    true => (item.clone(), other.get_item(&item)?),
                    false => (item.get_item_by_index(0)?, item.get_item_by_index(1)?),
                };
                self.set(key, value)?;
            }
        }
        for name in named.args() {
            self.set(Value::from(name), named.get(name)?)?;
        }
        Ok(Value::from(()))
    }

    fn pop(&self, args: &[Value]) -> Result<Value, Error> {
        let (key, default): (&Value, Option<Value>) = from_args(args)?;
        let mut entries = self.entries();
        meter::charge(entries.len())?;
        match (entries.shift_remove(key), default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(missing(key)),
        }
    }

    fn setdefault(&self, args: &[Value]) -> Result<Value, Error> {
        let (key, default): (&Value, Option<Value>) = from_args(args)?;
        let found = self.entries().get(key).cloned();
        if let Some(found) = found {
            return Ok(found);
        }
        self.set(key.clone(), default.unwrap_or_else(|| Value::from(())))?;
        Ok(self.entries().get(key).cloned().unwrap_or_default())
    }

    fn popitem(&self) -> Result<Value, Error> {
        let last = self.entries().pop();
        let (key, value) = last.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidOperation,
                "popitem(): dictionary is empty",
            )
        })?;
        Ok(Value::from(Tuple::from([key, value])))
    }
}

/// `namespace(a=1)`, also from a map: what a loop can assign to.
pub fn namespace(args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let defaults = Dict::construct(args, named)?;
    minijinja::functions::namespace(Some(from_args::<(ValueOrKwargs,)>(&[defaults])?.0))
}

fn insert(entries: &mut Entries, key: Value, value: Value) -> Result<(), Error> {
    if entries.len() >= ENTRIES {
        return Err(Error::new(
            ErrorKind::WriteFailure,
            format!("a map of more than {ENTRIES} entries"),
        ));
    }
    if matches!(key.kind(), ValueKind::Map | ValueKind::Seq)
        && key.downcast_object_ref::<Tuple>().is_none()
    {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("unhashable type: a {} cannot be a key", key.kind()),
        ));
    }
    meter::charge(2 * size_of::<Value>())?;
    entries.insert(key, value);
    Ok(())
}

fn missing(key: &Value) -> Error {
    match meter::text(|out| repr::write_repr(out, key, 0)) {
        Ok(key) => Error::new(ErrorKind::InvalidOperation, format!("KeyError: {key}")),
        Err(error) => error,
    }
}

impl Object for Dict {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.entries().get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys: Vec<Value> = self.entries().keys().cloned().collect();
        Enumerator::Iter(Box::new(meter::ticking(keys)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.entries().len())
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "update" => self.update(args),
            "pop" => self.pop(args),
            "setdefault" => self.setdefault(args),
            "popitem" => from_args::<()>(args).and_then(|()| self.popitem()),
            "clear" => from_args::<()>(args).map(|()| {
                self.entries().clear();
                Value::from(())
            }),
            "copy" => {
                from_args::<()>(args).and_then(|()| Self::make(self.entries().clone().into_iter()))
            }
            "__setitem__" => {
                let (key, value): (Value, Value) = from_args(args)?;
                self.set(key, value).map(|()| Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}
