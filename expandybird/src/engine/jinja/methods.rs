//! Methods that Python's texts, lists and maps have, beyond those that minijinja-contrib knows.

use minijinja::value::{Kwargs, Rest, Tuple, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use super::filters::given::given;
use super::{filters, meter, operators};

pub fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => text(state, value, method, args),
        ValueKind::Map if method == "copy" => from_args::<()>(args).map(|()| Some(value.clone())),
        ValueKind::Seq if method == "index" => index(value, args).map(Some),
        ValueKind::Seq if method == "copy" => from_args::<()>(args).map(|()| Some(value.clone())),
        _ => Ok(None),
    };
    match own? {
        Some(result) => Ok(result),
        None => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn text(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Option<Value>, Error> {
    let text = value.as_str().unwrap_or_default();
    Ok(Some(match method {
        "replace" => {
            let (old, new, count): (&Value, &Value, Option<i64>) = from_args(args)?;
            Value::from(filters::replace(value, old, new, count)?)
        }
        "format" => {
            operators::check_widths(text)?;
            return Ok(None);
        }
        "join" => {
            let (items,): (&Value,) = from_args(args)?;
            return joined(text, items).map(Some);
        }
        "ljust" | "rjust" | "center" => pad(value, text, method, args)?,
        "zfill" => zero_filled(text, args)?,
        "rsplit" => rsplit(text, &separated(args)?)?,
        "split" if args.last().is_some_and(Value::is_kwargs) => {
            return split(state, value, args).map(Some);
        }
        "istitle" => from_args(args).map(|()| Value::from(is_title(text)))?,
        "isdecimal" => from_args(args)
            .map(|()| Value::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())))?,
        "isidentifier" => from_args(args).map(|()| Value::from(is_identifier(text)))?,
        "expandtabs" => expanded(text, args)?,
        "partition" | "rpartition" => partition(text, method, args)?,
        "removeprefix" => Value::from(
            text.strip_prefix(from_args::<(&str,)>(args)?.0)
                .unwrap_or(text),
        ),
        "removesuffix" => Value::from(
            text.strip_suffix(from_args::<(&str,)>(args)?.0)
                .unwrap_or(text),
        ),
        "swapcase" => {
            let () = from_args(args)?;
            let swap = |c: char| {
                if c.is_uppercase() {
                    c.to_lowercase().to_string()
                } else {
                    c.to_uppercase().to_string()
                }
            };
            Value::from(text.chars().map(swap).collect::<String>())
        }
        "casefold" => {
            let () = from_args(args)?;
            Value::from(text.to_lowercase())
        }
        "index" | "rindex" => position(text, method, args)?,
        _ => return Ok(None),
    }))
}

fn joined(separator: &str, items: &Value) -> Result<Value, Error> {
    let items: Vec<Value> = items.try_iter()?.collect();
    if let Some(odd) = items.iter().find(|item| item.as_str().is_none()) {
        let message = format!("join takes texts, and one of them is a {}", odd.kind());
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    let bytes = texts.iter().map(|text| text.len() + separator.len()).sum();
    meter::check(bytes)?;
    Ok(Value::from(texts.join(separator)))
}

fn pad(value: &Value, text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (width, fill): (usize, Option<&str>) = from_args(args)?;
    let fill = fill.unwrap_or(" ");
    meter::check(width)?;
    let missing = || fill.repeat(width.saturating_sub(text.chars().count()));
    Ok(Value::from(match method {
        "ljust" => format!("{text}{}", missing()),
        "rjust" => format!("{}{text}", missing()),
        _ => filters::center(value, width, fill)?,
    }))
}

fn zero_filled(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (width,): (usize,) = from_args(args)?;
    meter::check(width)?;
    let zeros = "0".repeat(width.saturating_sub(text.chars().count()));
    let digits = text.trim_start_matches(['+', '-']);
    let sign = if text.len() - digits.len() <= 1 {
        &text[..text.len() - digits.len()]
    } else {
        ""
    };
    Ok(Value::from(format!("{sign}{zeros}{}", &text[sign.len()..])))
}

/// `sep` and `maxsplit`, by place or by name, as they are by place.
fn separated(args: &[Value]) -> Result<Vec<Value>, Error> {
    let (by_place, by_name): (Rest<Value>, Kwargs) = from_args(args)?;
    let [separator, count] = given(["sep", "maxsplit"], by_place, &by_name)?;
    Ok(vec![separator.or(()), count.or(-1)])
}

fn split(state: &mut State<'_, '_>, value: &Value, args: &[Value]) -> Result<Value, Error> {
    minijinja_contrib::pycompat::unknown_method_callback(state, value, "split", &separated(args)?)
}

/// Whether capitals begin the words, and only they do.
fn is_title(text: &str) -> bool {
    let mut in_word = false;
    let mut has_words = false;
    text.chars().all(|c| {
        let fits = match (c.is_uppercase(), c.is_lowercase()) {
            (true, _) => !in_word,
            (_, true) => in_word,
            _ => true,
        };
        in_word = c.is_uppercase() || c.is_lowercase();
        has_words |= in_word;
        fits
    }) && has_words
}

fn is_identifier(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(is_name) && text.starts_with(|c: char| is_name(c) && !c.is_numeric())
}

fn expanded(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (args, named): (Rest<Value>, Kwargs) = from_args(args)?;
    let [size] = given(["tabsize"], args, &named)?;
    let size = size.whole()?.unwrap_or(8);
    meter::check(text.matches('\t').count().saturating_mul(size))?;
    let mut expanded = String::new();
    let mut column = 0;
    for character in text.chars() {
        if character == '\t' {
            let blanks = if size == 0 { 0 } else { size - column % size };
            expanded.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            expanded.push(character);
            column = if matches!(character, '\n' | '\r') {
                0
            } else {
                column + 1
            };
        }
    }
    Ok(Value::from(expanded))
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, count): (Option<&str>, Option<i64>) = from_args(args)?;
    let times = count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX - 1);
    let mut parts: Vec<&str> = match separator {
        Some(separator) => text.rsplitn(times + 1, separator).collect(),
        None => rsplit_whitespace(text, times),
    };
    parts.reverse();
    Ok(parts.into_iter().map(Value::from).collect())
}

fn rsplit_whitespace(text: &str, times: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end();
    while !rest.trim_start().is_empty() && parts.len() < times {
        let start = rest.rfind(char::is_whitespace).map_or(0, |at| {
            at + rest[at..].chars().next().map_or(1, char::len_utf8)
        });
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end();
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn partition(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator,): (&str,) = from_args(args)?;
    let (split, is_first) = match method {
        "partition" => (text.split_once(separator), true),
        _ => (text.rsplit_once(separator), false),
    };
    let parts = match split {
        Some((before, after)) => [before, separator, after],
        None if is_first => [text, "", ""],
        None => ["", "", text],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}

fn position(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (what,): (&str,) = from_args(args)?;
    let found = if method == "index" {
        text.find(what)
    } else {
        text.rfind(what)
    };
    let found =
        found.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "substring not found"))?;
    Ok(Value::from(text[..found].chars().count()))
}

fn index(value: &Value, args: &[Value]) -> Result<Value, Error> {
    let (what,): (&Value,) = from_args(args)?;
    let found = value.try_iter()?.position(|item| item == *what);
    found.map(Value::from).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidOperation,
            format!("{what} is not in the list"),
        )
    })
}
