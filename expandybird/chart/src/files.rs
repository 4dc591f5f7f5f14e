//! `.Files`: the files of a chart that are neither templates nor about the chart itself.

use data_encoding::BASE64;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, List, Map, MapClass, Type, Value};
use expandybird_sprig::yaml::{self, Layout};

use crate::glob::Glob;
use common_chart::File;

/// The map that templates see.
pub fn value(files: &[File]) -> Value {
    let map = Map::new(Type::BYTES);
    for file in files {
        map.insert(
            file.name.as_str(),
            Value::Bytes(file.data.as_slice().into()),
        );
    }
    map.with_class(&CLASS).into()
}

static CLASS: MapClass = MapClass {
    type_name: "engine.files",
    methods: &[
        Function::new("Get", &[Type::String], |call| {
            Ok(Value::String(bytes(call, call.string(0)?)))
        }),
        Function::new("GetBytes", &[Type::String], |call| {
            Ok(Value::Bytes(bytes(call, call.string(0)?)))
        }),
        Function::new("Lines", &[Type::String], |call| {
            let text = bytes(call, call.string(0)?);
            let text = text.strip_suffix(b"\n").unwrap_or(&text).to_vec();
            let count = text.split(|&byte| byte == b'\n').count();
            call.budget().spend_list(count)?;
            let lines = text.split(|&byte| byte == b'\n').map(GoString::from);
            match bytes(call, call.string(0)?).is_empty() {
                true => Ok(List::strings([]).into()),
                false => Ok(List::strings(lines).into()),
            }
        }),
        Function::new("Glob", &[Type::String], glob),
        Function::new("AsConfig", &[], |call| {
            as_yaml(call, |bytes| Value::String(bytes.clone()))
        }),
        Function::new("AsSecrets", &[], |call| {
            as_yaml(call, |bytes| BASE64.encode(bytes).into())
        }),
    ],
};

fn files(receiver: &Value) -> Option<&Map> {
    match receiver {
        Value::Map(files) => Some(files),
        _ => None,
    }
}

/// A file's bytes; none if there is no such file.
fn bytes(call: &Call<'_>, name: &GoString) -> GoString {
    match files(call.receiver()).and_then(|files| files.get(name)) {
        Some(Value::Bytes(bytes)) => bytes,
        _ => GoString::default(),
    }
}

fn glob(call: &mut Call<'_>) -> Result<Value, Failure> {
    let pattern = call.string(0)?;
    let entries = files(call.receiver()).map(Map::entries).unwrap_or_default();
    let cost = entries
        .iter()
        .map(|(name, _)| name.len() * (pattern.len() + 1));
    call.budget().spend(cost.sum())?;
    let glob = Glob::new(&pattern.to_str());
    let found = Map::new(Type::BYTES);
    for (name, bytes) in entries {
        if glob.matches(&name.to_str()) {
            found.insert(name, bytes);
        }
    }
    Ok(found.with_class(&CLASS).into())
}

/// The files by their names without folders. Of two of one name, the later one counts.
fn as_yaml(call: &mut Call<'_>, text: impl Fn(&GoString) -> Value) -> Result<Value, Failure> {
    let named = Map::new(Type::String);
    for (name, bytes) in files(call.receiver()).map(Map::entries).unwrap_or_default() {
        let base = name.rsplit(|&byte| byte == b'/').next().unwrap_or(&name);
        if let Value::Bytes(bytes) = &bytes {
            named.insert(base, text(bytes));
        }
    }
    Ok(Value::string(yaml::to_yaml(
        call.budget(),
        &named.into(),
        Layout::Compact,
    )?))
}
