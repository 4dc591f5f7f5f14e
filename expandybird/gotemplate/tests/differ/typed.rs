//! Data with Go's types, for both sides.

use std::any::Any;
use std::rc::Rc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{
    BoundFunction, Function, GoString, List, Map, Object, Type, UintKind, Value,
};
use serde_json::json;

/// A value of Go, by its type.
#[derive(Clone, Debug)]
pub enum Typed {
    Nil,
    Object,
    Named,
    Function,
    Bool(bool),
    Int(i64),
    Int64(i64),
    Uint8(u8),
    Uint64(u64),
    Float(f64),
    String(Vec<u8>),
    Bytes(Vec<u8>),
    NilMap,
    NilList,
    Strings(Vec<&'static str>),
    StringMap(Vec<(&'static str, &'static str)>),
    List(Vec<Typed>),
    Map(Vec<(&'static str, Typed)>),
}

impl Typed {
    /// As the oracle reads it.
    pub fn json(&self) -> serde_json::Value {
        let (name, value) = match self {
            Self::Nil => ("nil", json!(null)),
            Self::Object => ("object", json!(null)),
            Self::Named => ("named", json!(null)),
            Self::Function => ("function", json!(null)),
            Self::Bool(truth) => ("bool", json!(truth)),
            Self::Int(number) => ("int", json!(number)),
            Self::Int64(number) => ("int64", json!(number)),
            Self::Uint8(number) => ("uint8", json!(number)),
            Self::Uint64(number) => ("uint64", json!(number)),
            Self::Float(number) => ("float64", json!(number.to_string())),
            Self::String(bytes) => ("string", json!(BASE64_STANDARD.encode(bytes))),
            Self::Bytes(bytes) => ("bytes", json!(BASE64_STANDARD.encode(bytes))),
            Self::NilMap => ("nilMap", json!(null)),
            Self::NilList => ("nilList", json!(null)),
            Self::Strings(texts) => ("strings", json!(texts)),
            Self::StringMap(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, text)| ((*key).to_owned(), json!(text)));
                ("stringMap", serde_json::Value::Object(entries.collect()))
            }
            Self::List(items) => ("list", items.iter().map(Self::json).collect()),
            Self::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), value.json()));
                ("map", serde_json::Value::Object(entries.collect()))
            }
        };
        json!({"type": name, "value": value})
    }

    /// As ours.
    pub fn value(&self) -> Value {
        match self {
            Self::Nil => Value::Nil,
            Self::Object => Value::Object(Rc::new(Struct)),
            Self::Named => Value::Object(Rc::new(Named)),
            Self::Function => Value::Function(BoundFunction {
                function: CONCAT,
                receiver: Rc::new(Value::Nil),
            }),
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Int(number) => Value::int(*number),
            Self::Int64(number) => Value::int64(*number),
            Self::Uint8(number) => Value::Uint(UintKind::Uint8, (*number).into()),
            Self::Uint64(number) => Value::uint64(*number),
            Self::Float(number) => Value::Float(*number),
            Self::String(bytes) => Value::string(bytes.clone()),
            Self::Bytes(bytes) => Value::Bytes(bytes.clone().into()),
            Self::NilMap => Map::nil(Type::Any).into(),
            Self::NilList => List::nil(Type::Any).into(),
            Self::Strings(texts) => List::strings(texts.iter().map(|text| (*text).into())).into(),
            Self::StringMap(entries) => {
                let map = Map::new(Type::String);
                for (key, text) in entries {
                    map.insert(*key, (*text).into());
                }
                map.into()
            }
            Self::List(items) => List::any(items.iter().map(Self::value).collect()).into(),
            Self::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (GoString::from(*key), value.value()));
                entries.collect::<Map>().into()
            }
        }
    }
}

const CONCAT: Function = Function::new("function", &[Type::String, Type::String], |call| {
    Ok(Value::string(
        [&**call.string(0)?, &**call.string(1)?].concat(),
    ))
});

/// The oracle's `object`.
#[derive(Debug)]
struct Struct;

const METHODS: &[Function] = &[
    Function::new("Greet", &[Type::String], |call| {
        let greeting: &[u8] = b"object greets ";
        Ok(Value::string([greeting, call.string(0)?].concat()))
    }),
    Function::variadic("Sum", &[], Type::INT, |call| {
        Ok(Value::int(
            3 + i64::try_from(call.rest().len()).unwrap_or(0),
        ))
    }),
    Function::new("Fail", &[], |_| Err(Failure::new("failed"))),
    Function::new("Self", &[], |call| Ok(call.receiver().clone())),
];

impl Object for Struct {
    fn type_name(&self) -> &str {
        "main.object"
    }

    fn field_names(&self) -> &'static [&'static str] {
        &["Name", "Count", "Any"]
    }

    fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "Name" => "object".into(),
            "Count" => Value::int(3),
            "Any" => Value::Nil,
            _ => return None,
        })
    }

    fn methods(&self) -> &'static [Function] {
        METHODS
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().is::<Self>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The oracle's `named`.
#[derive(Debug)]
struct Named;

const NAMED_METHODS: &[Function] = &[Function::new("String", &[], |_| Ok("<named>".into()))];

impl Object for Named {
    fn type_name(&self) -> &str {
        "main.named"
    }

    fn field_names(&self) -> &'static [&'static str] {
        &["Name"]
    }

    fn field(&self, name: &str) -> Option<Value> {
        (name == "Name").then(|| "named".into())
    }

    fn methods(&self) -> &'static [Function] {
        NAMED_METHODS
    }

    fn text(&self) -> Option<GoString> {
        Some("<named>".into())
    }

    fn is_equal(&self, other: &dyn Object) -> bool {
        other.as_any().is::<Self>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn text(text: &str) -> Typed {
    Typed::String(text.into())
}

fn scalars() -> Vec<(&'static str, Typed)> {
    vec![
        ("s", text("hello")),
        ("e", text("")),
        ("u", text("é日\u{1F600}\u{301}\u{a0}")),
        ("bad", Typed::String(b"a\xff\xc3b".to_vec())),
        ("h", text("<a href=\"x\">'&'</a>\n")),
        ("n", Typed::Int(3)),
        ("neg", Typed::Int(-255)),
        ("i", Typed::Int64(1_234_567_890_123)),
        ("u8", Typed::Uint8(65)),
        ("u64", Typed::Uint64(u64::MAX)),
        ("f", Typed::Float(2.5)),
        ("big", Typed::Float(1e21)),
        ("tiny", Typed::Float(-1.5e-7)),
        // Two texts with the fewest digits are equally close.
        ("tie", Typed::Float(600_479_950_316_064.0 + 0.25)),
        ("z", Typed::Float(0.0)),
        ("t", Typed::Bool(true)),
        ("nul", Typed::Nil),
    ]
}

/// The data of random cases: something of each type.
pub fn data() -> Typed {
    let mut entries = scalars();
    let map = |entries| Typed::Map(entries);
    entries.extend([
        (
            "l",
            Typed::List(vec![
                text("a"),
                Typed::Int(1),
                Typed::Float(1.0),
                Typed::Nil,
            ]),
        ),
        (
            "ll",
            Typed::List(vec![
                Typed::List(vec![text("x")]),
                map(vec![("k", text("v"))]),
            ]),
        ),
        ("le", Typed::List(Vec::new())),
        ("nl", Typed::NilList),
        ("ls", Typed::Strings(vec!["x", "y", "z"])),
        (
            "m",
            map(vec![
                ("b", Typed::Int(2)),
                ("a", map(vec![("x", text("y"))])),
                ("c", Typed::Nil),
            ]),
        ),
        ("me", map(Vec::new())),
        ("nm", Typed::NilMap),
        ("sm", Typed::StringMap(vec![("k", "v"), ("e", "")])),
        ("b", Typed::Bytes(b"hi\xfe".to_vec())),
        ("o", Typed::Object),
        ("p", Typed::Named),
    ]);
    Typed::Map(entries)
}

/// [`data`] with a function, whose address Go prints.
pub fn data_with_function() -> Typed {
    match data() {
        Typed::Map(mut entries) => {
            entries.push(("fn", Typed::Function));
            Typed::Map(entries)
        }
        other => other,
    }
}
