//! Lists. None of them changes its argument.

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::{Failure, Limit};
use expandybird_gotemplate::value::{Call, Function, GoString, List, Type, UintKind, Value};

use crate::convert::{to_int64, to_texts};
use crate::equal::deep_equal;
use crate::types::is_empty;

/// Go's text for a call on a nil type.
const NIL_TYPE: &str = "runtime error: invalid memory address or nil pointer dereference";

/// Functions that return lists of anything, or an item.
pub const FUNCTIONS: &[Function] = &[
    Function::variadic("list", &[], Type::Any, list),
    Function::variadic("tuple", &[], Type::Any, list),
    Function::new("append", &[Type::Any, Type::Any], append),
    Function::new("push", &[Type::Any, Type::Any], append),
    Function::new("mustAppend", &[Type::Any, Type::Any], append),
    Function::new("mustPush", &[Type::Any, Type::Any], append),
    Function::new("prepend", &[Type::Any, Type::Any], prepend),
    Function::new("mustPrepend", &[Type::Any, Type::Any], prepend),
    Function::new("first", &[Type::Any], first),
    Function::new("mustFirst", &[Type::Any], first),
    Function::new("last", &[Type::Any], last),
    Function::new("mustLast", &[Type::Any], last),
    Function::new("rest", &[Type::Any], rest),
    Function::new("mustRest", &[Type::Any], rest),
    Function::new("initial", &[Type::Any], initial),
    Function::new("mustInitial", &[Type::Any], initial),
    Function::new("reverse", &[Type::Any], reverse),
    Function::new("mustReverse", &[Type::Any], reverse),
    Function::new("compact", &[Type::Any], compact),
    Function::new("mustCompact", &[Type::Any], compact),
    Function::new("uniq", &[Type::Any], uniq),
    Function::new("mustUniq", &[Type::Any], uniq),
    Function::variadic("without", &[Type::Any], Type::Any, without),
    Function::variadic("mustWithout", &[Type::Any], Type::Any, without),
    Function::new("has", &[Type::Any, Type::Any], has),
    Function::new("mustHas", &[Type::Any, Type::Any], has),
    Function::variadic("slice", &[Type::Any], Type::Any, slice),
    Function::variadic("mustSlice", &[Type::Any], Type::Any, slice),
    Function::variadic("concat", &[], Type::Any, concat),
    Function::new("chunk", &[Type::INT, Type::Any], chunk),
    Function::new("mustChunk", &[Type::INT, Type::Any], chunk),
];

/// Functions that return texts.
pub const LISTS_OF_STRINGS: &[Function] = &[
    Function::new("toStrings", &[Type::Any], |call| {
        let value = call.argument(0)?;
        match value {
            Value::List(list) if list.element() == Type::String => Ok(value.clone()),
            _ => Ok(List::strings(to_texts(call.budget(), value)?).into()),
        }
    }),
    Function::new("sortAlpha", &[Type::Any], |call| {
        let mut texts = match call.argument(0)? {
            Value::List(list) if list.is_nil() && list.element() == Type::String => {
                return Ok(list.clone().into());
            }
            Value::Nil => vec!["<nil>".into()],
            value => to_texts(call.budget(), value)?,
        };
        texts.sort();
        Ok(List::strings(texts).into())
    }),
    Function::new("join", &[Type::String, Type::Any], |call| {
        let list = call.argument(1)?;
        let texts = to_texts(call.budget(), list)?;
        let separator = call.string(0)?;
        let bytes: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
        call.budget().spend_string(bytes)?;
        let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
        Ok(Value::string(texts.join(&**separator)))
    }),
];

/// A list of Sprig: its items, and the type of them.
struct Items {
    items: Vec<Value>,
    element: Type,
}

impl Items {
    /// The items of a list argument, or Sprig's `Cannot … type KIND`.
    fn read(call: &mut Call<'_>, index: usize, refusal: &str) -> Result<Self, Failure> {
        let found = Self::of(call.argument(index)?, refusal)?;
        call.budget().spend_list(found.items.len())?;
        Ok(found)
    }

    fn of(value: &Value, refusal: &str) -> Result<Self, Failure> {
        match value {
            Value::List(list) => Ok(Self {
                items: list.items().to_vec(),
                element: list.element(),
            }),
            Value::Bytes(bytes) => Ok(Self {
                items: bytes
                    .iter()
                    .map(|byte| Value::Uint(UintKind::Uint8, u64::from(*byte)))
                    .collect(),
                element: Type::Uint(UintKind::Uint8),
            }),
            Value::Nil => Err(Failure::new(NIL_TYPE)),
            other => Err(Failure::new(format!("{refusal}{}", other.kind_text()))),
        }
    }

    /// A list of some of the items, as the type that it had.
    fn retyped(&self, items: Vec<Value>) -> Value {
        if self.element == Type::Uint(UintKind::Uint8) {
            let bytes = items.iter().filter_map(|item| match item {
                Value::Uint(_, byte) => u8::try_from(*byte).ok(),
                _ => None,
            });
            return Value::Bytes(GoString::from(bytes.collect::<Vec<u8>>()));
        }
        List::new(self.element, items).into()
    }
}

fn any(items: Vec<Value>) -> Result<Value, Failure> {
    Ok(List::any(items).into())
}

/// What Sprig returns for a part of an empty list: a nil list.
fn nil_list() -> Result<Value, Failure> {
    Ok(List::nil(Type::Any).into())
}

fn list(call: &mut Call<'_>) -> Result<Value, Failure> {
    any(call.rest().to_vec())
}

fn append(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut found = Items::read(call, 0, "Cannot push on type ")?.items;
    found.push(call.argument(1)?.clone());
    any(found)
}

fn prepend(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut found = Items::read(call, 0, "Cannot prepend on type ")?.items;
    found.insert(0, call.argument(1)?.clone());
    any(found)
}

fn first(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::of(call.argument(0)?, "Cannot find first on type ")?;
    Ok(found.items.into_iter().next().unwrap_or_default())
}

fn last(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::of(call.argument(0)?, "Cannot find last on type ")?;
    Ok(found.items.into_iter().next_back().unwrap_or_default())
}

fn rest(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::read(call, 0, "Cannot find rest on type ")?.items;
    match found.split_first() {
        Some((_, rest)) => any(rest.to_vec()),
        None => nil_list(),
    }
}

fn initial(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::read(call, 0, "Cannot find initial on type ")?.items;
    match found.split_last() {
        Some((_, initial)) => any(initial.to_vec()),
        None => nil_list(),
    }
}

fn reverse(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut found = Items::read(call, 0, "Cannot find reverse on type ")?.items;
    found.reverse();
    any(found)
}

fn compact(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut found = Items::read(call, 0, "Cannot compact on type ")?.items;
    found.retain(|item| !is_empty(item));
    any(found)
}

fn uniq(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut kept: Vec<Value> = Vec::new();
    for item in Items::read(call, 0, "Cannot find uniq on type ")?.items {
        if !contains(call.budget(), &kept, &item)? {
            kept.push(item);
        }
    }
    any(kept)
}

fn without(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut kept = Vec::new();
    for item in Items::read(call, 0, "Cannot find without on type ")?.items {
        let omitted = call.rest();
        if !contains(call.budget(), omitted, &item)? {
            kept.push(item);
        }
    }
    any(kept)
}

fn has(call: &mut Call<'_>) -> Result<Value, Failure> {
    if matches!(call.argument(1)?, Value::Nil) {
        return Ok(false.into());
    }
    let found = Items::read(call, 1, "Cannot find has on type ")?.items;
    let needle = call.argument(0)?;
    Ok(contains(call.budget(), &found, needle)?.into())
}

/// Whether an item equals `needle`, type and all. The budget bounds the work, which grows with both.
fn contains(budget: &mut Budget, items: &[Value], needle: &Value) -> Result<bool, Limit> {
    for item in items {
        if deep_equal(budget, needle, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn slice(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::read(call, 0, "list should be type of slice or array but ")?;
    let length = found.items.len();
    if length == 0 {
        return Ok(Value::Nil);
    }
    let bounds = call.rest();
    let start = bounds.first().map_or(0, to_int64);
    let end = bounds.get(1).map_or(length as u64 as i64, to_int64);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(start, end)| found.items.get(start..end));
    match part {
        Some(part) => Ok(found.retyped(part.to_vec())),
        None => Err(Failure::new(
            "reflect.Value.Slice: slice index out of bounds",
        )),
    }
}

fn concat(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut all = Vec::new();
    for value in call.rest() {
        let items = match value {
            Value::List(_) | Value::Bytes(_) | Value::Nil => Items::of(value, "")?.items,
            other => {
                let kind = other.kind_text();
                return Err(Failure::new(format!("Cannot concat type {kind} as list")));
            }
        };
        call.budget().spend_list(all.len() + items.len())?;
        all.extend(items);
    }
    if all.is_empty() { nil_list() } else { any(all) }
}

/// Lists of `size` items, the last one shorter.
fn chunk(call: &mut Call<'_>) -> Result<Value, Failure> {
    let found = Items::read(call, 1, "Cannot chunk type ")?.items;
    let length = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let chunks = match call.int(0)? {
        0 => return Err(Failure::new(NO_CHUNKS)),
        size @ 1.. => found
            .chunks(usize::try_from(size).unwrap_or(usize::MAX))
            .collect(),
        // Sprig's arithmetic for a negative size.
        ..=-2 if length == 1 => vec![found.as_slice()],
        size if length > 1 && length - 1 <= size.saturating_neg() => Vec::new(),
        _ => return Err(Failure::new(NO_CHUNKS)),
    };
    let chunks = chunks
        .into_iter()
        .map(|part| List::any(part.to_vec()).into());
    Ok(List::new(Type::LIST, chunks.collect()).into())
}

/// Go's text for a number of items that no slice can have.
const NO_CHUNKS: &str = "runtime error: makeslice: len out of range";
