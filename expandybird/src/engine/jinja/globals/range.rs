//! `range(…)`, which prints as itself and makes its numbers on demand.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, Value};

use crate::engine::jinja::operators::slice;

/// Numbers of one range.
const NUMBERS: u64 = 100_000;

#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
    len: u64,
}

/// `range(stop)` or `range(start, stop, step)`.
pub fn range(first: i64, second: Option<i64>, step: Option<i64>) -> Result<Value, Error> {
    let (start, stop) = second.map_or((0, first), |stop| (first, stop));
    let step = step.unwrap_or(1);
    let way = match step {
        0 => return Err(invalid("range() arg 3 must not be zero".to_owned())),
        1.. => stop.saturating_sub(start),
        ..0 => start.saturating_sub(stop),
    };
    let len = u64::try_from(way)
        .unwrap_or(0)
        .div_ceil(step.unsigned_abs());
    if len > NUMBERS {
        return Err(Error::new(
            ErrorKind::WriteFailure,
            format!("a range of more than {NUMBERS} numbers"),
        ));
    }
    Ok(Value::from_object(Range {
        start,
        stop,
        step,
        len,
    }))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

impl Range {
    /// `range(…)[start:stop:step]`, which is also a range.
    pub fn slice(&self, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<Value, Error> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        let (start, stop) = slice::adjusted(len, start, stop, step);
        let at = |index: i64| {
            index
                .checked_mul(self.step)
                .and_then(|offset| self.start.checked_add(offset))
        };
        let step = step.checked_mul(self.step);
        match (at(start), at(stop), step) {
            (Some(start), Some(stop), Some(step)) => range(start, Some(stop), Some(step)),
            _ => Err(invalid("a range beyond 64 bits".to_owned())),
        }
    }

    fn at(self, index: u64) -> Option<Value> {
        let index = i64::try_from(index).ok().filter(|_| index < self.len)?;
        Some(Value::from(self.start + index * self.step))
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.at(u64::try_from(key.as_usize()?).ok()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let range = **self;
        let numbers: Vec<Value> = (0..range.len).filter_map(|index| range.at(index)).collect();
        Enumerator::Values(numbers)
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        usize::try_from(self.len).ok()
    }
}
