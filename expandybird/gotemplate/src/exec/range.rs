//! `range`

use super::walk::{Flow, Jump};
use super::{Executor, Fallible};
use crate::format;
use crate::parse::Branch;
use crate::value::{Slot, UintKind, Value};

impl<'s> Executor<'s, '_> {
    pub fn range(&mut self, dot: &Slot, branch: &'s Branch) -> Fallible<Flow> {
        self.enter()?;
        let mark = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?.value;
        let mut flow = Flow::Continue(());
        if !self.iterations(branch, &value)?
            && let Some(otherwise) = &branch.otherwise
        {
            flow = self.walk(dot, otherwise)?;
        }
        self.variables.truncate(mark);
        self.session.budget.leave();
        Ok(flow)
    }

    /// Runs the body for each element. Returns whether there was one.
    fn iterations(&mut self, branch: &'s Branch, value: &Value) -> Fallible<bool> {
        match value {
            Value::Nil => Ok(false),
            Value::Int(kind, count) => {
                let element = |number: u64| Value::Int(*kind, number.cast_signed());
                let count = u64::try_from(*count).unwrap_or(0);
                self.numbers(branch, value, count, element)
            }
            Value::Uint(kind, count) => {
                self.numbers(branch, value, *count, |number| Value::Uint(*kind, number))
            }
            Value::Bytes(bytes) => {
                let byte = |&byte: &u8| Slot::new(Value::Uint(UintKind::Uint8, byte.into()));
                self.items(branch, bytes.iter().map(byte))
            }
            Value::List(list) => {
                let element = list.element();
                let items = list.items().iter();
                self.items(
                    branch,
                    items.map(|item| Slot::element(item.clone(), element)),
                )
            }
            Value::Map(map) => {
                let element = map.element();
                let entries = map.entries();
                self.spend(entries.len())?;
                let is_any = !entries.is_empty();
                for (key, value) in entries {
                    let key = Slot::new(key.into());
                    if self.iteration(branch, key, &Slot::element(value, element))? {
                        break;
                    }
                }
                Ok(is_any)
            }
            _ => self.fail(format!(
                "range can't iterate over {}",
                format::excerpt(value, 'v')
            )),
        }
    }

    fn numbers(
        &mut self,
        branch: &'s Branch,
        value: &Value,
        count: u64,
        element: impl Fn(u64) -> Value,
    ) -> Fallible<bool> {
        if branch.pipe.variables.len() > 1 {
            let value = format::excerpt(value, 'v');
            return self.fail(format!(
                "can't use {value} to iterate over more than one variable"
            ));
        }
        for number in 0..count {
            if self.iteration(branch, Slot::INVALID, &Slot::new(element(number)))? {
                break;
            }
        }
        Ok(count > 0)
    }

    fn items(&mut self, branch: &'s Branch, items: impl Iterator<Item = Slot>) -> Fallible<bool> {
        let mut is_any = false;
        for (index, item) in items.enumerate() {
            is_any = true;
            let index = Slot::new(Value::int(i64::try_from(index).unwrap_or(i64::MAX)));
            if self.iteration(branch, index, &item)? {
                break;
            }
        }
        Ok(is_any)
    }

    /// Runs the body once. Returns whether it was the last time.
    fn iteration(&mut self, branch: &'s Branch, index: Slot, element: &Slot) -> Fallible<bool> {
        self.spend(1)?;
        let mark = self.variables.len();
        match (&*branch.pipe.variables, branch.pipe.is_assignment) {
            ([], _) => {}
            ([value], true) => self.assign(value, element.clone())?,
            ([key, value, ..], true) => {
                self.assign(key, index)?;
                self.assign(value, element.clone())?;
            }
            ([_], false) => self.set_from_top(1, element.clone()),
            ([_, _, ..], false) => {
                self.set_from_top(1, element.clone());
                self.set_from_top(2, index);
            }
        }
        let flow = self.walk(element, &branch.body)?;
        self.variables.truncate(mark);
        Ok(matches!(flow, Flow::Break(Jump::Break)))
    }
}
