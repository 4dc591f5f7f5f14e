//! `x[start:stop:step]` of texts, lists and tuples, like Python.

use minijinja::value::Tuple;
use minijinja::{Error, Value};

use crate::engine::jinja::globals::range::Range;
use crate::engine::jinja::values::list::List;
use crate::engine::jinja::values::{python, repr};
use crate::engine::jinja::{meter, values};

/// The part of a value.
pub fn slice(value: &Value, start: &Value, stop: &Value, step: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(python::undefined(value, "has no parts"));
    }
    if value.as_str().is_none() && !python::is_list(value) {
        let kind = repr::type_name(value);
        return Err(python::invalid(format!(
            "a {kind} has no parts; slices are of texts and lists"
        )));
    }
    let step = bound(step)?.unwrap_or(1);
    let (start, stop) = (bound(start)?, bound(stop)?);
    if step == 0 {
        return Err(python::invalid("slice step cannot be zero"));
    }
    if let Some(text) = value.as_str() {
        let characters: Vec<char> = text.chars().collect();
        meter::check(text.len())?;
        let cut = indices(characters.len(), start, stop, step);
        return Ok(Value::from(
            cut.map(|index| characters[index]).collect::<String>(),
        ));
    }
    if let Some(range) = value.downcast_object_ref::<Range>() {
        return range.slice(start, stop, step);
    }
    let items = values::items(value)?;
    let cut = indices(items.len(), start, stop, step).map(|index| items[index].clone());
    match python::is_tuple(value) {
        true => Ok(Value::from(Tuple::new(cut.collect()))),
        false => List::make(cut),
    }
}

fn bound(value: &Value) -> Result<Option<i64>, Error> {
    (!value.is_none())
        .then(|| python::integer(value))
        .transpose()
}

/// The start and the end in Python: `slice.indices`, CPython's `PySlice_AdjustIndices`.
pub fn adjusted(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> (i64, i64) {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let (least, most) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let within = |bound: i64| match bound < 0 {
        true => bound.saturating_add(len).max(least),
        false => bound.min(most),
    };
    let (first, last) = if step < 0 {
        (most, least)
    } else {
        (least, most)
    };
    (start.map_or(first, within), stop.map_or(last, within))
}

fn indices(
    len: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
) -> impl Iterator<Item = usize> {
    let (start, stop) = adjusted(len, start, stop, step);
    let is_before = move |at: &i64| if step > 0 { *at < stop } else { *at > stop };
    let all = std::iter::successors(Some(start), move |at| at.checked_add(step));
    all.take_while(is_before)
        .filter_map(|at| usize::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_python() {
        for (len, start, stop, step, expected) in [
            (0, None, None, -1, vec![]),
            (3, None, None, -1, vec![2, 1, 0]),
            (3, Some(-1), Some(-3), -1, vec![2, 1]),
            (4, Some(3), Some(0), -1, vec![3, 2, 1]),
            (3, Some(-9), Some(9), 2, vec![0, 2]),
            (3, Some(9), None, -2, vec![2, 0]),
            (3, None, Some(-9), i64::MIN, vec![2]),
            (3, Some(1), None, i64::MAX, vec![1]),
        ] {
            let found: Vec<usize> = indices(len, start, stop, step).collect();
            assert_eq!(found, expected, "{len} [{start:?}:{stop:?}:{step}]");
        }
    }
}
