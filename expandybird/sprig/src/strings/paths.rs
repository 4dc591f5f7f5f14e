//! Slash-separated paths, by Go's rules. `os…` are the same, as on Linux.

use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::{Call, Function, GoString, Value};

use super::{TEXT, part};

/// Functions of paths.
pub const PATHS: &[Function] = &[
    Function::new("base", TEXT, base),
    Function::new("osBase", TEXT, base),
    Function::new("dir", TEXT, dir),
    Function::new("osDir", TEXT, dir),
    Function::new("clean", TEXT, |call| {
        Ok(Value::string(clean(call.string(0)?)))
    }),
    Function::new("osClean", TEXT, |call| {
        Ok(Value::string(clean(call.string(0)?)))
    }),
    Function::new("ext", TEXT, ext),
    Function::new("osExt", TEXT, ext),
    Function::new("isAbs", TEXT, is_absolute),
    Function::new("osIsAbs", TEXT, is_absolute),
];

/// The last element; `.` for an empty path, `/` for one of slashes only.
fn base(call: &mut Call<'_>) -> Result<Value, Failure> {
    let path = call.string(0)?;
    if path.is_empty() {
        return Ok(".".into());
    }
    let end = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |last| last + 1);
    let path = path.get(..end).unwrap_or_default();
    match path.rsplit(|byte| *byte == b'/').next() {
        Some(name) if !name.is_empty() => Ok(Value::String(name.into())),
        _ => Ok("/".into()),
    }
}

/// All but the last element, cleaned.
fn dir(call: &mut Call<'_>) -> Result<Value, Failure> {
    let path = call.string(0)?;
    let end = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    Ok(Value::string(clean(path.get(..end).unwrap_or_default())))
}

/// The ending of the last element, with its dot.
fn ext(call: &mut Call<'_>) -> Result<Value, Failure> {
    let path = call.string(0)?;
    let name = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    let dot = path
        .get(name..)
        .and_then(|name| memchr::memrchr(b'.', name));
    let ending = dot.and_then(|dot| path.get(name + dot..));
    Ok(part(path, ending.unwrap_or_default()))
}

fn is_absolute(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(call.string(0)?.starts_with(b"/").into())
}

/// The shortest path that means the same: no double slashes, no `.`, no `..` that can be resolved.
fn clean(path: &[u8]) -> GoString {
    let rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => {
                kept.pop();
            }
            b".." if rooted => {}
            _ => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", &*joined].concat().into(),
        (false, true) => ".".into(),
        (false, false) => joined.into(),
    }
}
