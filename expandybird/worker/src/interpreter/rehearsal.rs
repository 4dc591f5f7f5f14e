//! Sessions of our own, before there are others: Python fills its caches, and the memory that a session needs is known.

use expandybird_protocol::frame;
use expandybird_protocol::session::{Call, FromWorker, Import, Limits, Open, ToWorker};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use super::{Interpreter, Templates};
use crate::error::WorkerError;

/// A typical template, another one with a helper module, and how often they run before the first fork: enough for Python to
/// have specialised the code of ours and of its library.
const PLAIN: &str = "\
def GenerateConfig(context):
    name = context.env['name'] + '-%s' % context.properties.get('a', 1)
    items = [{'key': key, 'value': value} for key, value in sorted(context.properties.items())]
    resource = {'name': name, 'type': 'T', 'properties': {'items': items}}
    return {'resources': [resource], 'outputs': [{'name': 'o', 'value': '{}!'.format(len(items))}]}
";
const WITH_HELPER: &str = "\
import rehearsed_helper
def GenerateConfig(context):
    return {'resources': [{'name': rehearsed_helper.named(context.env['name']), 'type': 'T'}]}
";
const HELPER: &str = "def named(name): return ''.join([name, 'x'])\n";
const REHEARSED_MODULES: [&str; 2] = ["rehearsed", "rehearsed_helper"];
const REHEARSALS: usize = 20;

/// A file's name and its content.
type File = (&'static str, &'static str);

/// As often as it takes.
pub fn enough(interpreter: &Interpreter<'_>) -> Result<(), WorkerError> {
    for _ in 0..REHEARSALS {
        session(
            interpreter,
            &[
                ("rehearsed.py", WITH_HELPER),
                ("rehearsed_helper.py", HELPER),
            ],
        )?;
        once(interpreter)?;
    }
    Ok(())
}

/// Without a helper module, because most templates have none.
pub fn once(interpreter: &Interpreter<'_>) -> Result<(), WorkerError> {
    session(interpreter, &[("rehearsed.py", PLAIN)])
}

/// Leaves nothing behind.
fn session(interpreter: &Interpreter<'_>, files: &[File]) -> Result<(), WorkerError> {
    let rehearsal = interpreter.rehearsal()?;
    converse(interpreter, files)?;
    rehearsal
        .call_method1("end", (REHEARSED_MODULES,))
        .map(drop)
        .map_err(WorkerError::python("rehearse a session"))
}

/// By messages, as in a session: what a processor can do is looked up when the first of them is read.
fn converse(interpreter: &Interpreter<'_>, files: &[File]) -> Result<(), WorkerError> {
    let mut messages = frame::encode(&ToWorker::Open(rehearsed(files)))?;
    messages.extend(frame::encode(&ToWorker::Call(rehearsed_call()))?);
    let mut messages = messages.as_slice();
    let mut templates = None;
    while let Some(message) = frame::read(&mut messages)? {
        match (message, &templates) {
            (ToWorker::Open(open), _) => templates = Some(interpreter.open(open)?),
            (ToWorker::Call(call), Some(templates)) => answer(templates, &call)?,
            (ToWorker::Call(_), None) => {
                return Err(WorkerError::Unexpected("a call before the session is open"));
            }
        }
    }
    Ok(())
}

fn answer(templates: &Templates<'_>, call: &Call) -> Result<(), WorkerError> {
    let returned = templates.run(call).map_err(|error| WorkerError::Python {
        action: "rehearse a session",
        reason: error.to_string(),
    })?;
    frame::encode(&FromWorker::Returned(returned))?;
    Ok(())
}

fn rehearsed(files: &[File]) -> Open {
    let import = |&(name, content): &File| Import {
        name: name.to_owned(),
        path: name.to_owned(),
        content: content.to_owned(),
    };
    Open {
        imports: files.iter().map(import).collect(),
        limits: Limits {
            memory_bytes: 2 << 20,
            cpu_seconds: 0,
            output_bytes: 1 << 20,
        },
        current_time: 0,
        seed: 0,
    }
}

fn rehearsed_call() -> Call {
    let map = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
    Call {
        template: "rehearsed.py".to_owned(),
        env: map("name", Value::from("n")),
        properties: Some(Value::Object(map("a", Value::from(1)))),
    }
}
