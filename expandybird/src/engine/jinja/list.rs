//! A list that templates can change.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering as Memory};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use super::{meter, order, values};

/// Items of one list.
const ITEMS: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct List {
    items: Mutex<Vec<Value>>,
    level: AtomicUsize,
}

impl List {
    /// Of values that are bounded already.
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

    fn append(&self, args: &[Value]) -> Result<Value, Error> {
        let (item,): (&Value,) = from_args(args)?;
        let item = self.admit(item)?;
        push(&mut self.items(), item)?;
        Ok(Value::from(()))
    }

    fn extend(&self, args: &[Value]) -> Result<Value, Error> {
        let (more,): (&Value,) = from_args(args)?;
        for item in values::items(more)? {
            let item = self.admit(&item)?;
            push(&mut self.items(), item)?;
        }
        Ok(Value::from(()))
    }

    fn insert(&self, args: &[Value]) -> Result<Value, Error> {
        let (at, item): (i64, &Value) = from_args(args)?;
        let item = self.admit(item)?;
        let mut items = self.items();
        meter::charge(items.len())?;
        let at = from_end(at, items.len()).min(items.len());
        items.insert(at, item);
        Ok(Value::from(()))
    }

    fn pop(&self, args: &[Value]) -> Result<Value, Error> {
        let (at,): (Option<i64>,) = from_args(args)?;
        let mut items = self.items();
        meter::charge(items.len())?;
        let index = at.unwrap_or(-1);
        let is_there = i64::try_from(items.len()).is_ok_and(|len| -len <= index && index < len);
        if !is_there {
            return Err(invalid("pop from a list that has no such item"));
        }
        let at = from_end(index, items.len());
        Ok(items.remove(at))
    }

    fn remove(&self, args: &[Value]) -> Result<Value, Error> {
        let (unwanted,): (&Value,) = from_args(args)?;
        let items = self.items().clone();
        meter::charge(items.len())?;
        let at = items.iter().position(|item| item == unwanted);
        let at = at.ok_or_else(|| invalid("list.remove(x): x not in list"))?;
        self.items().remove(at);
        Ok(Value::from(()))
    }

    fn sort(&self, args: &[Value]) -> Result<Value, Error> {
        let (options,): (Kwargs,) = from_args(args)?;
        let reverse = options.get::<Option<bool>>("reverse")?.unwrap_or(false);
        options.assert_all_used()?;
        let mut items = self.items().clone();
        order::sort(&mut items, reverse, |item| Ok(item.clone()))?;
        *self.items() = items;
        Ok(Value::from(()))
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
        let items = self.items().clone();
        Enumerator::Iter(Box::new(meter::ticking(items)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.items().len())
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "append" => self.append(args),
            "extend" => self.extend(args),
            "insert" => self.insert(args),
            "pop" => self.pop(args),
            "remove" => self.remove(args),
            "sort" => self.sort(args),
            "reverse" => from_args::<()>(args).map(|()| {
                self.items().reverse();
                Value::from(())
            }),
            "clear" => from_args::<()>(args).map(|()| {
                self.items().clear();
                Value::from(())
            }),
            "copy" => {
                from_args::<()>(args).and_then(|()| Self::make(self.items().clone().into_iter()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}
