//! `cycler('odd', 'even')`: returns its items in turn, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::value::{Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

#[derive(Debug)]
pub struct Cycler {
    items: Vec<Value>,
    position: AtomicUsize,
}

impl Cycler {
    pub fn of(items: Vec<Value>) -> Result<Value, Error> {
        if items.is_empty() {
            let message = "at least one item has to be provided";
            return Err(Error::new(ErrorKind::MissingArgument, message));
        }
        Ok(Value::from_object(Self {
            items,
            position: AtomicUsize::new(0),
        }))
    }

    fn current(&self) -> Option<Value> {
        self.items
            .get(self.position.load(Ordering::Relaxed))
            .cloned()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match key.as_str()? {
            "current" => self.current(),
            "pos" => Some(Value::from(self.position.load(Ordering::Relaxed))),
            _ => None,
        }
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let () = from_args(args)?;
        let current = self.current().unwrap_or_default();
        let next = match method {
            "next" => (self.position.load(Ordering::Relaxed) + 1) % self.items.len(),
            "reset" => 0,
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        };
        self.position.store(next, Ordering::Relaxed);
        Ok(if method == "next" {
            current
        } else {
            Value::from(())
        })
    }
}
