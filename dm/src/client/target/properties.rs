//! Parses `--properties a=1,b.c=x` into typed values.
//!
//! ```text
//! list  = item { "," item }
//! item  = path "=" value                         the last item of a path wins
//! path  = name { "." name }                      "\" escapes the next character; ":" for "=" as gcloud has it, if there is no "="
//! value = "text" | 'text' | {JSON} | [JSON] | "{" plain { "," plain } "}" | plain     the last but one is a list, as in Helm
//! ```
//!
//! A plain value is null, a boolean or a number if JSON reads it as one, otherwise a text, in which `\,` is a comma. Refuses to
//! know which properties a template takes: that is in the template's schema.

use serde_json::{Map, Number, Value};

use crate::error::{CommandError, ExitCode};

/// Enough for names that users write; the manager refuses a hundred levels.
const MAX_DEPTH: usize = 32;
/// The length of the quote in an error.
const QUOTED_CHARS: usize = 40;

/// What is wrong with a list of properties, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--properties: {problem}, at character {character}: {part:?}")]
pub struct PropertyError {
    problem: Problem,
    /// Counts from 1.
    character: usize,
    part: String,
}

impl CommandError for PropertyError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("a property needs a value; write NAME=VALUE")]
    NoValue,
    #[error("a name is empty; write NAME=VALUE")]
    EmptyName,
    #[error("a property is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("single items of a list cannot be set; give the whole list, like a=[1,2]")]
    Index,
    #[error("the quoted text has no closing quote; add one")]
    OpenQuote,
    #[error("this is not valid JSON ({0}); put quotes around a text that begins with [ or {{")]
    Json(String),
    #[error("a comma must follow this value")]
    Trailing,
    #[error("the number does not fit into 64 bits; put quotes around it to keep it as text")]
    NumberTooLarge,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// What JSON reads as one is null, a boolean or a number.
    Typed,
    /// Always text.
    Texts,
    /// Always JSON.
    Json,
}

/// Sets the properties of `text`. Others stay as they are.
pub fn merge(properties: &mut Map<String, Value>, text: &str) -> Result<(), PropertyError> {
    merge_as(Values::Typed, properties, text)
}

/// Sets the properties of `text`, with its values written in this way.
pub fn merge_as(
    values: Values,
    properties: &mut Map<String, Value>,
    text: &str,
) -> Result<(), PropertyError> {
    for (path, value) in items(values, text)? {
        insert(properties, &path, value);
    }
    Ok(())
}

/// The paths in `text` with their values.
pub fn items(values: Values, text: &str) -> Result<Vec<(Vec<String>, Value)>, PropertyError> {
    let (mut reader, mut items) = (Reader { text, at: 0 }, Vec::new());
    while reader.at < text.len() {
        let path = reader.path()?;
        let value = match values {
            Values::Typed => reader.value()?,
            Values::Texts => Value::String(reader.unquoted()),
            Values::Json => reader.json()?,
        };
        items.push((path, value));
    }
    Ok(items)
}

/// Sets the value at its path. A value on the path that is not a map is replaced: the later item wins.
pub fn insert(map: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        map.insert(first.clone(), value);
        return;
    }
    let slot = map.entry(first.as_str()).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    if let Value::Object(inner) = slot {
        insert(inner, rest, value);
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, problem: Problem, from: usize) -> PropertyError {
        PropertyError {
            problem,
            character: self.text[..from].chars().count() + 1,
            part: self.text[from..].chars().take(QUOTED_CHARS).collect(),
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads up to and including the `=`.
    fn path(&mut self) -> Result<Vec<String>, PropertyError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let start = self.at;
        let mut path = Vec::new();
        let mut name = String::new();
        loop {
            match self.next() {
                Some('\\') => name.extend(self.next()),
                Some('[') => return Err(self.error(Problem::Index, start)),
                Some(end @ ('.' | '=')) => {
                    self.finish_name(&mut path, &mut name, start)?;
                    if end == '=' {
                        return Ok(path);
                    }
                }
                Some(':') if !self.has_equals_sign() => {
                    self.finish_name(&mut path, &mut name, start)?;
                    return Ok(path);
                }
                Some(',') | None => return Err(self.error(Problem::NoValue, start)),
                Some(other) => name.push(other),
            }
        }
    }

    /// Whether the rest of this item has a `=`.
    fn has_equals_sign(&self) -> bool {
        let item = self.rest().split(',').next().unwrap_or_default();
        item.contains('=')
    }

    fn finish_name(
        &self,
        path: &mut Vec<String>,
        name: &mut String,
        start: usize,
    ) -> Result<(), PropertyError> {
        let name = std::mem::take(name);
        if name.trim().is_empty() {
            return Err(self.error(Problem::EmptyName, start));
        }
        if path.len() == MAX_DEPTH {
            return Err(self.error(Problem::TooDeep, start));
        }
        path.push(name.trim().to_owned());
        Ok(())
    }

    /// Reads up to and including the comma, or to the end.
    fn value(&mut self) -> Result<Value, PropertyError> {
        match self.rest().chars().next() {
            Some('"' | '{' | '[') => self.json(),
            Some('\'') => self.single_quoted(),
            _ => self.plain(),
        }
    }

    fn json(&mut self) -> Result<Value, PropertyError> {
        let start = self.at;
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                self.end_of_value(start)?;
                Ok(value)
            }
            Some(Err(error)) => match self.list() {
                Some(list) => self.end_of_value(start).map(|()| list),
                None => Err(self.error(Problem::Json(error.to_string()), start)),
            },
            None => Err(self.error(Problem::NoValue, start)),
        }
    }

    /// `{a,b}`, which is no JSON and a list in Helm.
    fn list(&mut self) -> Option<Value> {
        let inner = self.rest().strip_prefix('{')?.split_once('}')?.0;
        if inner.contains([':', '"', '{', '[', '\\']) {
            return None;
        }
        let values = inner.split(',').map(|item| typed(item.trim().to_owned()));
        let values = values.collect::<Result<Vec<_>, _>>().ok()?;
        self.at += inner.len() + 2;
        Some(Value::Array(values))
    }

    fn single_quoted(&mut self) -> Result<Value, PropertyError> {
        let start = self.at;
        let Some(length) = self.rest()[1..].find('\'') else {
            return Err(self.error(Problem::OpenQuote, start));
        };
        let text = self.rest()[1..=length].to_owned();
        self.at += length + 2;
        self.end_of_value(start)?;
        Ok(Value::String(text))
    }

    fn end_of_value(&mut self, start: usize) -> Result<(), PropertyError> {
        match self.next() {
            None | Some(',') => Ok(()),
            Some(_) => Err(self.error(Problem::Trailing, start)),
        }
    }

    fn plain(&mut self) -> Result<Value, PropertyError> {
        let start = self.at;
        typed(self.unquoted()).map_err(|problem| self.error(problem, start))
    }

    /// Reads up to and including the comma, or to the end. `\,` is a comma.
    fn unquoted(&mut self) -> String {
        let mut text = String::new();
        while let Some(next) = self.next() {
            match next {
                ',' => break,
                '\\' if self.rest().starts_with([',', '\\']) => text.extend(self.next()),
                other => text.push(other),
            }
        }
        text
    }
}

/// A value that JSON reads. `007`, `1.2.3` and `10m` are texts.
fn typed(text: String) -> Result<Value, Problem> {
    match text.as_str() {
        "null" => return Ok(Value::Null),
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return Ok(Value::String(text));
    }
    let number = match serde_json::from_str::<Number>(&text) {
        Ok(number) => number,
        Err(error) if error.to_string().starts_with("number out of range") => {
            return Err(Problem::NumberTooLarge);
        }
        Err(_) => return Ok(Value::String(text)),
    };
    let spelled_integer = !text.contains(['.', 'e', 'E']);
    if spelled_integer && number.is_f64() && text != "-0" {
        return Err(Problem::NumberTooLarge);
    }
    Ok(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<Value, PropertyError> {
        let mut properties = Map::new();
        merge(&mut properties, text).map(|()| Value::Object(properties))
    }

    #[test]
    fn values_are_typed_as_json_would_and_names_nest_at_dots() {
        for (text, expected) in [
            ("", json!({})),
            ("a=1", json!({"a": 1})),
            ("a=-5,b=1.5,c=1e3", json!({"a": -5, "b": 1.5, "c": 1000.0})),
            (
                "a=true,b=false,c=null",
                json!({"a": true, "b": false, "c": null}),
            ),
            ("a=text with blanks", json!({"a": "text with blanks"})),
            ("a=,b=1", json!({"a": "", "b": 1})),
            (
                "a=007,b=1.2.3,c=10m,d=-,e=yes",
                json!({"a": "007", "b": "1.2.3", "c": "10m", "d": "-", "e": "yes"}),
            ),
            ("b.c=x,b.d.e=2", json!({"b": {"c": "x", "d": {"e": 2}}})),
            (r"a\.b=1,c\=d=2", json!({"a.b": 1, "c=d": 2})),
            ("a=1,a=2", json!({"a": 2})),
            ("a=1,a.b=2", json!({"a": {"b": 2}})),
            ("a.b=2,a=1", json!({"a": 1})),
            (
                r#"a={"x":1,"y":[1,2]},a.z=3"#,
                json!({"a": {"x": 1, "y": [1, 2], "z": 3}}),
            ),
            ("a=[1,[2,3]],b=4", json!({"a": [1, [2, 3]], "b": 4})),
            (
                "a={80, x y,true},b={one},c={}",
                json!({"a": [80, "x y", true], "b": ["one"], "c": {}}),
            ),
            (
                r#"a="1",b='true',c="x,y""#,
                json!({"a": "1", "b": "true", "c": "x,y"}),
            ),
            (r"a=x\,y,b=C:\dir", json!({"a": "x,y", "b": r"C:\dir"})),
            ("a=b=c", json!({"a": "b=c"})),
            ("a:1,b:x", json!({"a": 1, "b": "x"})),
            (
                "zone:us-a,url:http://host:80/",
                json!({"zone": "us-a", "url": "http://host:80/"}),
            ),
            ("a:b=1", json!({"a:b": 1})),
            ("a=1, b=2,", json!({"a": 1, "b": 2})),
            ("url=http://host:80/", json!({"url": "http://host:80/"})),
            ("a=18446744073709551615", json!({"a": u64::MAX})),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_error_tells_what_is_wrong_and_where() {
        let table: Vec<_> = [
            "a",
            "a=1,b",
            "=1",
            "a..b=1",
            "a.=1",
            "x=1,a[0]=1",
            "a='x",
            "a=\"x",
            "a={x",
            "a={x}y",
            "a=[1]2",
            "a=\"1\"2",
            "a=123456789012345678901234567890",
            "a=1e999",
            "ä=1,ö",
        ]
        .into_iter()
        .map(|text| format!("{text}\n    {}", parse(text).unwrap_err()))
        .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn what_was_there_stays_unless_it_is_set_again() {
        let mut properties = Map::new();
        merge(&mut properties, "a.x=1,a.y=2").unwrap();
        merge(&mut properties, "a.y=3").unwrap();
        assert_eq!(Value::Object(properties), json!({"a": {"x": 1, "y": 3}}));
    }

    #[test]
    fn nesting_has_a_bound() {
        let deep = format!("{}=1", vec!["a"; MAX_DEPTH + 1].join("."));
        assert!(parse(&deep).is_err());
        let json = format!("a={}", "[".repeat(100_000));
        assert!(parse(&json).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in ".*") {
            let _ = parse(&text);
        }

        #[test]
        fn text_made_of_the_syntax_is_parsed_or_refused(text in r#"[ab.=,\\"'{}\[\]0-9e-]*"#) {
            let _ = parse(&text).map_err(|error| error.to_string());
        }

        #[test]
        fn a_quoted_text_is_that_text(text in ".*") {
            let item = format!("a={}", serde_json::to_string(&text).unwrap());
            prop_assert_eq!(parse(&item), Ok(json!({"a": text})));
        }
    }
}
