//! TOML, as Helm's functions write and read it: with the layout of the Go package `BurntSushi/toml`.
//!
//! Not the crate `toml` for writing: it lays tables out in another way, and charts depend on each byte.

use std::fmt::Write as _;

use expandybird_gotemplate::budget::Budget;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::format::{MAX_VALUE_DEPTH, format_float};
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, Type, Value};
use toml::Value as Toml;

use crate::json::{fields, plain};

/// Spaces of a level.
const INDENT: usize = 2;
/// Go's error for an argument that is nil.
const NO_VALUE: &str = "reflect: call of reflect.Value.Type on zero Value";

/// Functions of TOML, which only Helm has.
pub const FUNCTIONS: &[Function] = &[
    Function::new("toToml", &[Type::Any], |call| match written(call)? {
        Ok(text) => Ok(text.into()),
        Err(error) => Ok(error.into()),
    }),
    Function::new("mustToToml", &[Type::Any], |call| match written(call)? {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Failure::new(error)),
    }),
    Function::new("fromToml", &[Type::String], |call| {
        let text = call.string(0)?.to_str();
        call.budget().spend_string(text.len())?;
        Ok(match text.parse::<toml::Table>() {
            Ok(table) => from_table(table).into(),
            Err(error) => {
                let map = Map::default();
                map.insert("Error", format!("toml: {}", error.message()).into());
                map.into()
            }
        })
    }),
];

fn written(call: &mut Call<'_>) -> Result<Result<String, String>, Failure> {
    let value = call.argument(0)?;
    if matches!(value, Value::Nil) {
        return Err(Failure::new(NO_VALUE));
    }
    let mut writer = Writer {
        budget: call.budget(),
        out: String::new(),
    };
    match writer.entry(&mut Vec::new(), value) {
        Ok(()) => Ok(Ok(writer.out)),
        Err(Fault::Toml(text)) => Ok(Err(text)),
        Err(Fault::Failure(failure)) => Err(failure),
    }
}

/// Why there is no TOML.
enum Fault {
    /// In the words of Go's package.
    Toml(String),
    Failure(Failure),
}

impl From<expandybird_gotemplate::error::Limit> for Fault {
    fn from(limit: expandybird_gotemplate::error::Limit) -> Self {
        Self::Failure(limit.into())
    }
}

/// The sort of a value that decides where it is written.
#[derive(PartialEq)]
enum Sort {
    Nothing,
    Value,
    Table,
    Tables,
}

struct Writer<'b> {
    budget: &'b mut Budget,
    out: String,
}

impl Writer<'_> {
    /// A key with its value, or a table. The document itself has no key.
    fn entry(&mut self, key: &mut Vec<GoString>, value: &Value) -> Result<(), Fault> {
        self.spend(key.len())?;
        match sort(value, key.len())? {
            Sort::Nothing if key.is_empty() && matches!(value, Value::List(_)) => {
                self.out.push_str("[]");
            }
            Sort::Nothing => {}
            Sort::Value => self.key_and_value(key, value)?,
            Sort::Tables if key.is_empty() => {
                let error = "toml: top-level values must be Go maps or structs";
                return Err(Fault::Toml(error.to_owned()));
            }
            Sort::Tables => {
                let Value::List(tables) = value else {
                    return Ok(());
                };
                for table in tables.items() {
                    if sort(table, key.len())? == Sort::Nothing {
                        continue;
                    }
                    self.new_line();
                    self.header(key, ("[[", "]]"));
                    self.table(key, table)?;
                }
            }
            Sort::Table => {
                if key.len() == 1 {
                    self.new_line();
                }
                if !key.is_empty() {
                    self.header(key, ("[", "]"));
                }
                self.table(key, value)?;
            }
        }
        Ok(())
    }

    fn spend(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::Toml("the value is nested too deeply".to_owned()));
        }
        let most = self.budget.limits().string_bytes;
        if self.out.len() > most {
            self.budget.spend_string(self.out.len())?;
        }
        Ok(self.budget.spend(1)?)
    }

    fn new_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn indent(&mut self, key: &[GoString]) {
        let spaces = key.len().saturating_sub(1) * INDENT;
        self.out.extend(std::iter::repeat_n(' ', spaces));
    }

    fn header(&mut self, key: &[GoString], (open, close): (&str, &str)) {
        self.indent(key);
        let path: Vec<_> = key.iter().map(written_key).collect();
        self.out.push_str(open);
        self.out.push_str(&path.join("."));
        self.out.push_str(close);
        self.new_line();
    }

    /// Values come before tables: what follows a table's header belongs to it.
    fn table(&mut self, key: &mut Vec<GoString>, value: &Value) -> Result<(), Fault> {
        let (direct, tables) = divided(value, key.len())?;
        for (name, value) in direct.into_iter().chain(tables) {
            key.push(name);
            self.entry(key, &value)?;
            key.pop();
        }
        Ok(())
    }

    fn key_and_value(&mut self, key: &[GoString], value: &Value) -> Result<(), Fault> {
        if let Some(last) = key.last() {
            self.indent(key);
            self.out.push_str(&written_key(last));
            self.out.push_str(" = ");
        }
        self.element(value, key.len())?;
        if !key.is_empty() {
            self.new_line();
        }
        Ok(())
    }

    fn element(&mut self, value: &Value, depth: usize) -> Result<(), Fault> {
        self.spend(depth)?;
        // Writing to a text cannot fail.
        let _ = match value {
            Value::Bool(truth) => write!(self.out, "{truth}"),
            Value::Int(_, number) => write!(self.out, "{number}"),
            Value::Uint(_, number) => write!(self.out, "{number}"),
            Value::Float(number) => write!(self.out, "{}", float(*number)),
            Value::String(text) => {
                self.out.push_str(&quoted(&text.to_str()));
                Ok(())
            }
            Value::Bytes(bytes) => {
                let numbers: Vec<_> = bytes.iter().map(u8::to_string).collect();
                write!(self.out, "[{}]", numbers.join(", "))
            }
            Value::List(list) => return self.list(list, depth),
            Value::Object(object) => match plain(&**object) {
                Some(Value::String(time)) if object.type_name() == "time.Time" => {
                    write!(self.out, "{}", time.to_str())
                }
                Some(_) => {
                    let text = object.text().unwrap_or_default();
                    write!(self.out, "{}", quoted(&text.to_str()))
                }
                None => return self.inline(value, depth),
            },
            Value::Map(_) => return self.inline(value, depth),
            Value::Nil | Value::Function(_) => {
                let found = value.type_text();
                return Err(Fault::Toml(format!("unexpected type: {found}")));
            }
        };
        Ok(())
    }

    fn list(&mut self, list: &List, depth: usize) -> Result<(), Fault> {
        self.out.push('[');
        for (index, item) in list.items().iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.element(item, depth + 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    /// A table in one line. Where Go leaves a comma after the last entry, so do we.
    fn inline(&mut self, value: &Value, depth: usize) -> Result<(), Fault> {
        let (direct, tables) = divided(value, depth)?;
        self.out.push('{');
        let all = direct.len() + tables.len();
        for (index, (name, value)) in direct.into_iter().chain(tables).enumerate() {
            if sort(&value, depth)? == Sort::Nothing {
                continue;
            }
            self.out.push_str(&written_key(&name));
            self.out.push_str(" = ");
            self.element(&value, depth + 1)?;
            if index + 1 != all {
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        Ok(())
    }
}

type Entries = Vec<(GoString, Value)>;

/// The entries of a table: those that are values, and those that are tables, each sorted by their keys.
fn divided(value: &Value, depth: usize) -> Result<(Entries, Entries), Fault> {
    let entries = match value {
        Value::Map(map) => map.entries(),
        Value::Object(object) => fields(&**object),
        _ => Vec::new(),
    };
    let (mut direct, mut tables) = (Vec::new(), Vec::new());
    for entry in entries {
        let of = match sort(&entry.1, depth + 1)? {
            Sort::Table | Sort::Tables => &mut tables,
            Sort::Nothing | Sort::Value => &mut direct,
        };
        of.push(entry);
    }
    Ok((direct, tables))
}

fn sort(value: &Value, depth: usize) -> Result<Sort, Fault> {
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::Toml("the value is nested too deeply".to_owned()));
    }
    Ok(match value {
        value if value.is_nil() => Sort::Nothing,
        Value::Map(_) => Sort::Table,
        Value::Object(object) if plain(&**object).is_none() => Sort::Table,
        Value::List(list) => {
            let mut are_tables = !list.items().is_empty();
            for item in list.items() {
                match sort(item, depth + 1)? {
                    Sort::Nothing => {
                        let error = "toml: cannot encode array with nil element";
                        return Err(Fault::Toml(error.to_owned()));
                    }
                    found => are_tables &= found == Sort::Table,
                }
            }
            if are_tables {
                Sort::Tables
            } else {
                Sort::Value
            }
        }
        _ => Sort::Value,
    })
}

/// A float has a point or an exponent.
fn float(number: f64) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format_float(number, 'g', None);
    match text.contains(['e', '.']) {
        true => text,
        false => text + ".0",
    }
}

fn written_key(key: &GoString) -> String {
    let key = key.to_str();
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.into_owned(),
        false => quoted(&key),
    }
}

fn quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' || c == '\u{7f}' => {
                // Writing to a text cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn from_table(table: toml::Table) -> Map {
    let map = Map::default();
    for (key, value) in table {
        map.insert(key.as_str(), from_toml(value));
    }
    map
}

fn from_toml(value: Toml) -> Value {
    match value {
        Toml::String(text) => text.into(),
        Toml::Integer(number) => Value::int64(number),
        Toml::Float(number) => number.into(),
        Toml::Boolean(truth) => truth.into(),
        Toml::Datetime(time) => crate::time::of_toml(&time.to_string()),
        Toml::Table(table) => from_table(table).into(),
        Toml::Array(items) => {
            let are_tables = !items.is_empty() && items.iter().all(Toml::is_table);
            let items = items.into_iter().map(from_toml).collect();
            match are_tables {
                true => List::new(Type::MAP, items).into(),
                false => List::any(items).into(),
            }
        }
    }
}
