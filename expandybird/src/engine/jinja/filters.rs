//! Filters and tests of Jinja 3.1 that minijinja lacks, does differently, or does without bounds.

use minijinja::value::{Kwargs, Rest, Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use serde_json::Value as Json;

use super::dict::Dict;
use super::{meter, operators, range, repr};

pub fn register(environment: &mut Environment<'_>) {
    environment.add_filter("string", string);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_filter("tojson", tojson);
    environment.add_filter("center", |text: &Value, width: Option<usize>| {
        center(text, width.unwrap_or(80), " ")
    });
    environment.add_filter("indent", indent);
    environment.add_filter("format", format);
    environment.add_filter("round", round);
    environment.add_filter("wordcount", |text: &Value| {
        string(text).map(|text| words(&text))
    });
    environment.add_filter("truncate", truncate);
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    environment.add_filter("filesizeformat", minijinja_contrib::filters::filesizeformat);
    environment.add_filter("forceescape", |state: &mut State<'_, '_>, value: Value| {
        state.apply_filter("escape", &[value])
    });
    environment.add_function("range", range::range);
    environment.add_function("dict", Dict::construct);
    environment.add_function("cycler", |items: Rest<Value>| {
        minijinja_contrib::globals::cycler(items.0)
    });
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
    environment.add_filter("pprint", |value: &Value| {
        meter::text(|out| repr::write_repr(out, value, 0))
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Iterable | ValueKind::String | ValueKind::Map
        )
    });
    environment.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
    // Not in Jinja: names that a template would find undefined there.
    for filter in ["lines", "split", "chain", "zip", "bool"] {
        environment.remove_filter(filter);
    }
    environment.remove_global("debug");
}

fn string(value: &Value) -> Result<String, Error> {
    meter::text(|out| repr::write_str(out, value))
}

fn words(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c))
        .filter(|word| !word.is_empty())
        .count()
}

fn join(value: &Value, separator: Option<&Value>, rest: Kwargs) -> Result<String, Error> {
    let given: Option<Value> = rest.get("d")?;
    let attribute: Option<Value> = rest.get("attribute")?;
    rest.assert_all_used()?;
    let separator = separator
        .cloned()
        .or(given)
        .map(|separator| string(&separator))
        .transpose()?;
    let separator = separator.unwrap_or_default();
    let items = value.try_iter()?.map(|item| match &attribute {
        Some(attribute) => by_path(&item, attribute),
        None => Ok(item),
    });
    let items: Vec<Value> = items.collect::<Result<_, _>>()?;
    meter::text(|out| {
        items.iter().enumerate().try_for_each(|(index, item)| {
            if index > 0 {
                out.write_str(&separator)?;
            }
            repr::write_str(out, item)
        })
    })
}

/// `a.b.0` of an item.
fn by_path(item: &Value, path: &Value) -> Result<Value, Error> {
    let Some(path) = path.as_str() else {
        return item.get_item(path);
    };
    path.split('.')
        .try_fold(item.clone(), |value, step| match step.parse::<usize>() {
            Ok(index) => value.get_item_by_index(index),
            Err(_) => value.get_attr(step),
        })
}

pub fn replace(
    text: &Value,
    old: &Value,
    new: &Value,
    count: Option<i64>,
) -> Result<String, Error> {
    let (text, old, new) = (string(text)?, string(old)?, string(new)?);
    let found = text.matches(old.as_str()).count();
    let times = count
        .and_then(|count| usize::try_from(count).ok())
        .map_or(found, |count| count.min(found));
    meter::check(text.len() + times.saturating_mul(new.len()))?;
    Ok(text.replacen(&old, &new, times))
}

/// As `json.dumps` writes it, with what HTML would misread escaped.
fn tojson(value: &Value, indent: Option<usize>, rest: Kwargs) -> Result<Value, Error> {
    let indent = indent.or(rest.get("indent")?);
    rest.assert_all_used()?;
    // Also bounds it: the value may be far larger than the memory it takes.
    string(value)?;
    let json = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    let mut text = String::new();
    write_json(&json, indent, 0, &mut text);
    for (from, to) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\'', "\\u0027"),
    ] {
        text = text.replace(from, to);
    }
    meter::check(text.len())?;
    Ok(Value::from_safe_string(text))
}

/// Keys are sorted, as Jinja's policy has it.
fn write_json(value: &Json, indent: Option<usize>, depth: usize, out: &mut String) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(|item| (None, item)).collect();
            write_items(&items, ('[', ']'), indent, depth, out);
        }
        Json::Object(map) if !map.is_empty() => {
            let mut entries: Vec<_> = map.iter().map(|(key, value)| (Some(key), value)).collect();
            entries.sort_by_key(|(key, _)| *key);
            write_items(&entries, ('{', '}'), indent, depth, out);
        }
        Json::String(text) => write_ascii(text, out),
        Json::Number(number) if number.is_f64() => {
            out.push_str(&repr::float(number.as_f64().unwrap_or_default()))
        }
        other => out.push_str(&other.to_string()),
    }
}

fn write_items(
    items: &[(Option<&String>, &Json)],
    (open, close): (char, char),
    indent: Option<usize>,
    depth: usize,
    out: &mut String,
) {
    let line = |depth: usize, out: &mut String| {
        if let Some(indent) = indent {
            out.push('\n');
            out.push_str(&" ".repeat(indent.min(64) * depth));
        }
    };
    out.push(open);
    for (index, (key, value)) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(if indent.is_some() { "," } else { ", " });
        }
        line(depth + 1, out);
        if let Some(key) = key {
            write_ascii(key, out);
            out.push_str(": ");
        }
        write_json(value, indent, depth + 1, out);
    }
    line(depth, out);
    out.push(close);
}

fn write_ascii(text: &str, out: &mut String) {
    let quoted = Json::from(text).to_string();
    let mut units = [0; 2];
    for character in quoted.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}

pub fn center(text: &Value, width: usize, fill: &str) -> Result<String, Error> {
    let text = string(text)?;
    let length = text.chars().count();
    let missing = width.saturating_sub(length);
    meter::check(text.len() + missing)?;
    // Python puts the odd one left if the width is odd.
    let left = missing / 2 + (missing & width & 1);
    Ok(format!(
        "{}{text}{}",
        fill.repeat(left),
        fill.repeat(missing - left)
    ))
}

fn indent(
    text: &Value,
    width: Option<&Value>,
    first: Option<bool>,
    blank: Option<bool>,
    rest: Kwargs,
) -> Result<String, Error> {
    let given: Option<Value> = rest.get("width")?;
    let first = first.or(rest.get("first")?).unwrap_or(false);
    let blank = blank.or(rest.get("blank")?).unwrap_or(false);
    rest.assert_all_used()?;
    let text = string(text)?;
    let prefix = match width.cloned().or(given) {
        None => " ".repeat(4),
        Some(width) => match width.as_str() {
            Some(prefix) => prefix.to_owned(),
            None => {
                let width = width.as_usize().ok_or_else(|| {
                    Error::new(
                        ErrorKind::InvalidOperation,
                        "the width of indent is a number or text",
                    )
                })?;
                meter::check(width)?;
                " ".repeat(width)
            }
        },
    };
    let lines: Vec<_> = text.split('\n').collect();
    meter::check(
        text.len()
            .saturating_add(lines.len().saturating_mul(prefix.len())),
    )?;
    let indented = lines.iter().enumerate().map(|(index, line)| {
        let skip = if index == 0 {
            !first
        } else {
            line.is_empty() && !blank
        };
        if skip {
            (*line).to_owned()
        } else {
            format!("{prefix}{line}")
        }
    });
    Ok(indented.collect::<Vec<_>>().join("\n"))
}

/// `'%s, %s'|format(a, b)`, or by name.
fn format(text: &Value, arguments: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let text = string(text)?;
    let names: Vec<String> = named.args().map(str::to_owned).collect();
    if names.is_empty() {
        return operators::percent(&text, &Value::from(Tuple::new(arguments.0)));
    }
    let values = names
        .into_iter()
        .map(|name| Ok((name.clone(), named.get::<Value>(&name)?)));
    let values: Vec<(String, Value)> = values.collect::<Result<_, Error>>()?;
    operators::percent(&text, &Value::from_pairs(values))
}

/// As Python's `int()`, with a default where that would fail.
fn int(
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    rest: Kwargs,
) -> Result<Value, Error> {
    let default = default.or(rest.get("default")?).unwrap_or(Value::from(0));
    let base = base.or(rest.get("base")?).unwrap_or(10);
    rest.assert_all_used()?;
    if let Some(text) = value.as_str() {
        let text = text.trim().replace('_', "");
        return Ok(parsed(&text, base).map_or(default, Value::from));
    }
    match value.kind() {
        ValueKind::Bool => Ok(Value::from(i64::from(value.is_true()))),
        ValueKind::Number if value.is_integer() => Ok(value.clone()),
        ValueKind::Number => {
            Ok(truncated(f64::try_from(value.clone())?).map_or(default, Value::from))
        }
        _ => Ok(default),
    }
}

fn parsed(text: &str, base: u32) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = |prefix: &str, its: u32| match base {
        base if base == its || base == 0 => lower
            .strip_prefix(prefix)
            .map(|digits| (digits.to_owned(), its)),
        _ => None,
    };
    let found = prefixed("0x", 16)
        .or_else(|| prefixed("0o", 8))
        .or_else(|| prefixed("0b", 2));
    let (digits, base) = found.unwrap_or((lower.clone(), if base == 0 { 10 } else { base }));
    let is_base = (2..=36).contains(&base);
    let whole = is_base
        .then(|| i64::from_str_radix(&format!("{sign}{digits}"), base).ok())
        .flatten();
    whole.or_else(|| text.parse().ok().and_then(truncated))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be within the range before"
)]
fn truncated(number: f64) -> Option<i64> {
    (number.abs() < 9.2e18).then_some(number as i64)
}

/// As Python's `float()`, with a default where that would fail.
fn float(value: &Value, default: Option<Value>) -> Value {
    let default = default.unwrap_or(Value::from(0.0));
    match (value.as_str(), value.kind()) {
        (Some(text), _) => text.trim().parse::<f64>().map_or(default, Value::from),
        (None, ValueKind::Bool) => Value::from(if value.is_true() { 1.0 } else { 0.0 }),
        (None, ValueKind::Number) => f64::try_from(value.clone()).map_or(default, Value::from),
        _ => default,
    }
}

fn truncate(
    text: &Value,
    length: Option<usize>,
    kill_words: Option<bool>,
    end: Option<String>,
    rest: Kwargs,
) -> Result<String, Error> {
    let length = length.or(rest.get("length")?).unwrap_or(255);
    let kill_words = kill_words.or(rest.get("killwords")?).unwrap_or(false);
    let end = end.or(rest.get("end")?).unwrap_or_else(|| "...".to_owned());
    let leeway = rest.get::<Option<usize>>("leeway")?.unwrap_or(5);
    rest.assert_all_used()?;
    let text = string(text)?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text);
    }
    let kept: String = text
        .chars()
        .take(length.saturating_sub(end.chars().count()))
        .collect();
    let kept = if kill_words {
        kept.as_str()
    } else {
        kept.rsplit_once(' ')
            .map_or(kept.as_str(), |(kept, _)| kept)
    };
    Ok(format!("{kept}{end}"))
}

/// Half to even and by the exact value, as in Python; an integer stays one.
fn round(
    value: &Value,
    precision: Option<i32>,
    method: Option<&str>,
    rest: Kwargs,
) -> Result<Value, Error> {
    let precision = precision.or(rest.get("precision")?).unwrap_or(0);
    let given: Option<String> = rest.get("method")?;
    rest.assert_all_used()?;
    let number = f64::try_from(value.clone())?;
    let scale = 10f64.powi(precision);
    match method
        .map(str::to_owned)
        .or(given)
        .as_deref()
        .unwrap_or("common")
    {
        "common" if value.is_integer() && precision >= 0 => Ok(value.clone()),
        "common" => Ok(Value::from(round_half_even(number, precision))),
        "ceil" => Ok(Value::from((number * scale).ceil() / scale)),
        "floor" => Ok(Value::from((number * scale).floor() / scale)),
        _ => Err(Error::new(
            ErrorKind::InvalidOperation,
            "method must be common, ceil or floor",
        )),
    }
}

/// Rust's formatting rounds the exact decimal value half to even, which is what Python does.
fn round_half_even(number: f64, precision: i32) -> f64 {
    match usize::try_from(precision) {
        Ok(digits) => format!("{number:.*}", digits.min(400))
            .parse()
            .unwrap_or(number),
        Err(_) => {
            let scale = 10f64.powi(-precision);
            (number / scale).round_ties_even() * scale
        }
    }
}
