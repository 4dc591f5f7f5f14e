//! A list that templates can change.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering as Memory};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, Value};

use super::order;
use crate::engine::jinja::{meter, values};

/// Items of one list.
const ITEMS: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct List {
    items: Mutex<Vec<Value>>,
    level: AtomicUsize,
}

impl List {
    /// From values whose size is already limited.
    pub fn unchecked(items: Vec<Value>) -> Value {
        Value::from_object(Self {
            items: Mutex::new(items),
            level: AtomicUsize::new(0),
        })
    }

    pub fn make(items: impl Iterator<Item = Value>) -> Result<Value, Error> {
        let mut owned = Vec::new();
        for item in items {
            let item = values::own(item)?;
            push(&mut owned, item)?;
        }
        values::raise_all(&owned, 1)?;
        Ok(Self::unchecked(owned))
    }

    fn items(&self) -> MutexGuard<'_, Vec<Value>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn level(&self) -> usize {
        self.level.load(Memory::Relaxed)
    }

    pub fn raise(&self, level: usize) -> Result<(), Error> {
        if self.level.fetch_max(level, Memory::Relaxed) >= level {
            return Ok(());
        }
        let items = self.items();
        meter::charge(items.len())?;
        values::raise_all(items.iter(), level + 1)
    }

    fn admit(&self, value: &Value) -> Result<Value, Error> {
        values::admit(value.clone(), self.level(), || self.level())
    }

    pub fn append(&self, item: &Value) -> Result<Value, Error> {
        let item = self.admit(item)?;
        push(&mut self.items(), item)?;
        Ok(Value::from(()))
    }

    pub fn extend(&self, more: &Value) -> Result<Value, Error> {
        for item in values::items(more)? {
            let item = self.admit(&item)?;
            push(&mut self.items(), item)?;
        }
        Ok(Value::from(()))
    }

    pub fn insert(&self, at: i64, item: &Value) -> Result<Value, Error> {
        let item = self.admit(item)?;
        let mut items = self.items();
        meter::charge(items.len())?;
        let at = from_end(at, items.len()).min(items.len());
        items.insert(at, item);
        Ok(Value::from(()))
    }

    pub fn pop(&self, index: i64) -> Result<Value, Error> {
        let mut items = self.items();
        meter::charge(items.len())?;
        let is_there = i64::try_from(items.len()).is_ok_and(|len| -len <= index && index < len);
        if !is_there {
            return Err(invalid("pop from a list that has no such item"));
        }
        let at = from_end(index, items.len());
        Ok(items.remove(at))
    }

    pub fn remove(&self, unwanted: &Value) -> Result<Value, Error> {
        let items = self.items().clone();
        meter::charge(items.len())?;
        for (at, item) in items.iter().enumerate() {
            if order::equal(item, unwanted)? {
                self.items().remove(at);
                return Ok(Value::from(()));
            }
        }
        Err(invalid("list.remove(x): x not in list"))
    }

    pub fn reverse(&self) -> Result<Value, Error> {
        self.items().reverse();
        Ok(Value::from(()))
    }

    pub fn clear(&self) -> Result<Value, Error> {
        let cleared = std::mem::take(&mut *self.items());
        drop(cleared);
        Ok(Value::from(()))
    }

    pub fn sort(&self, reverse: bool) -> Result<Value, Error> {
        let mut items = self.items().clone();
        order::sort(&mut items, reverse, |item| Ok(item.clone()))?;
        *self.items() = items;
        Ok(Value::from(()))
    }
}

/// The items of a list that may change meanwhile, as in Python: the next one is the one at the next index.
struct Live {
    list: Arc<List>,
    at: usize,
}

impl Iterator for Live {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let item = self.list.items().get(self.at).cloned();
        self.at += 1;
        item
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.items().len().saturating_sub(self.at);
        (left, Some(left))
    }
}

fn push(items: &mut Vec<Value>, item: Value) -> Result<(), Error> {
    if items.len() >= ITEMS {
        return Err(Error::new(
            ErrorKind::WriteFailure,
            format!("a list of more than {ITEMS} items"),
        ));
    }
    meter::charge(size_of::<Value>())?;
    items.push(item);
    Ok(())
}

/// A negative index counts from the end.
fn from_end(index: i64, len: usize) -> usize {
    let magnitude = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    match index.cmp(&0) {
        Ordering::Less => len.saturating_sub(magnitude),
        Ordering::Equal | Ordering::Greater => magnitude,
    }
}

fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.items().get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let list = Arc::clone(self);
        Enumerator::Iter(Box::new(Live { list, at: 0 }))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.items().len())
    }
}
