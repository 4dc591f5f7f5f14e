//! `range(…)`, which prints as itself and makes its numbers when they are asked for.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use super::meter;

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
    fn at(self, index: u64) -> Option<Value> {
        let index = i64::try_from(index).ok().filter(|_| index < self.len)?;
        Some(Value::from(self.start + index * self.step))
    }

    fn position(&self, value: &Value) -> Option<u64> {
        let wanted = i128::from(value.as_i64()?) - i128::from(self.start);
        let step = i128::from(self.step);
        let index = u64::try_from(wanted / step).ok()?;
        (wanted % step == 0 && wanted / step >= 0 && index < self.len).then_some(index)
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
        Enumerator::Iter(Box::new(meter::ticking(numbers)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        usize::try_from(self.len).ok()
    }

    fn call_method(
        self: &Arc<Self>,
        _state: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let (value,): (&Value,) = match method {
            "index" | "count" => from_args(args)?,
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        };
        match (method, self.position(value)) {
            ("count", found) => Ok(Value::from(usize::from(found.is_some()))),
            (_, Some(index)) => Ok(Value::from(index)),
            (_, None) => Err(invalid(format!("{value} is not in range"))),
        }
    }
}
